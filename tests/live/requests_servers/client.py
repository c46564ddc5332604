# SPDX-License-Identifier: Apache-2.0
"""client.py PORT PATH CONNECTIONS REQUESTS [fresh|expect]: asks a server for PATH, and posts to it on each fourth connection.
It counts for itself: "gets posts sent received latency_ns" on stdout. fresh: a connection for each request; expect: what it
posts has "Expect: 100-continue", and the body follows when the server says so."""
import socket
import sys
import threading
import time

port, path, connections, requests = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
is_fresh, does_expect = "fresh" in sys.argv, "expect" in sys.argv
SECRET = "hunter2secret"
HEAD = f"HTTP/1.1\r\nHost: here\r\nCookie: {SECRET}\r\n" + ("Connection: close\r\n" if is_fresh else "")
BODY = f"password={SECRET}&fill={'x' * 300}"
GET = f"GET {path}?token={SECRET} {HEAD}\r\n".encode()
EXPECT = "Expect: 100-continue\r\n" if does_expect else ""
POST = f"POST {path} {HEAD}{EXPECT}Content-Length: {len(BODY)}\r\n\r\n{BODY}".encode()


def dial():
    there = socket.create_connection(("127.0.0.1", port))
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return there


def read_answer(there):
    """Its bytes: the head says how long the body is, or that it is chunked."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        more = there.recv(65536)
        assert more, "no whole head"
        seen += more
    head, _, body = seen.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    is_chunked = b"content-length" not in fields
    length = len(head) + 4 + int(fields.get(b"content-length", 0))
    while not seen.endswith(b"0\r\n\r\n") if is_chunked else len(seen) < length:
        more = there.recv(65536)
        assert more, "no whole answer"
        seen += more
    assert is_chunked or len(seen) == length
    return len(seen)


def read_interim(there):
    seen = b""
    while not seen.endswith(b"\r\n\r\n"):
        seen += there.recv(1)
    assert seen.startswith(b"HTTP/1.1 100 "), seen
    return len(seen)


def ask(own, count, does_post):
    there = None
    message = POST if does_post else GET
    for _ in range(count):
        began = time.monotonic_ns()
        if not there:
            there = dial()
        if does_post and does_expect:
            there.sendall(message[:-len(BODY)])
            own[3] += read_interim(there)
            there.sendall(message[-len(BODY):])
        else:
            there.sendall(message)
        own[3] += read_answer(there)
        own[4] += time.monotonic_ns() - began
        own[does_post] += 1
        own[2] += len(message)
        if is_fresh:
            there.close()
            there = None
    if there:
        there.close()


sums = [[0] * 5 for _ in range(connections)]
threads = [threading.Thread(target=ask, args=(own, requests // connections, i % 4 == 3))
           for i, own in enumerate(sums)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*map(sum, zip(*sums)))
