# SPDX-License-Identifier: Apache-2.0
"""client.py PORT CONNECTIONS REQUESTS [wait]: asks a server over TLS, on connections that stay open. First each asks for /warm,
once; wait: before that they ask for /before, and it waits for a line on stdin. After a pause each asks for so many of each:
GET /users/:id, GET /missing/:id, which is not there, and POST /orders/:id. It counts for itself: "warm users missing orders
latency_ns" on stdout. Each second connection is closed in the way of TLS, the others are just closed."""
import contextlib
import socket
import ssl
import sys
import threading
import time

port, connections, requests = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
does_wait = "wait" in sys.argv
SECRET = "hunter2secret"
HEAD = f"HTTP/1.1\r\nHost: here\r\nCookie: {SECRET}\r\n"
BODY = f"password={SECRET}&fill={'x' * 300}"
PAUSE = 2
context = ssl._create_unverified_context()
lock = threading.Lock()
gate = threading.Barrier(connections + 1)
count = {"warm": 0, "users": 0, "missing": 0, "orders": 0}
waited = 0


def read_answer(there):
    seen = b""
    while b"\r\n\r\n" not in seen:
        more = there.recv(65536)
        assert more, "no whole head"
        seen += more
    head, _, body = seen.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        more = there.recv(65536)
        assert more, "no whole answer"
        body += more
    return head.split(b" ")[1]


def ask(there, method, kind, number):
    global waited
    body = BODY if method == "POST" else ""
    head = f"{method} /{kind}/{number}?token={SECRET} {HEAD}Content-Length: {len(body)}\r\n\r\n"
    began = time.monotonic_ns()
    there.sendall((head + body).encode())
    status = read_answer(there)
    took = time.monotonic_ns() - began
    assert status == (b"404" if kind == "missing" else b"200"), status
    with lock:
        waited += took
        if kind in count:
            count[kind] += 1


def run(place):
    plain = socket.create_connection(("127.0.0.1", port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    there = context.wrap_socket(plain)
    if does_wait:
        ask(there, "GET", "before", 1)
        gate.wait()
        gate.wait()
    ask(there, "GET", "warm", 1)
    time.sleep(PAUSE)
    for number in range(requests):
        ask(there, "GET", "users", number)
        ask(there, "GET", "missing", number)
        ask(there, "POST", "orders", number)
    if place % 2:
        with contextlib.suppress(OSError):  # the server does not wait for the last word
            there = there.unwrap()
    there.close()


threads = [threading.Thread(target=run, args=(place,)) for place in range(connections)]
for thread in threads:
    thread.start()
if does_wait:
    gate.wait()
    waited = 0
    print("ready", flush=True)
    sys.stdin.readline()
    gate.wait()
for thread in threads:
    thread.join()
print(*count.values(), waited)
