# SPDX-License-Identifier: Apache-2.0
"""client.py PORT CONNECTIONS ROUNDS: asks the server for each of its endpoints, in ROUNDS orders, on each connection one after
the other. It prints "local_port number_on_connection sent_ns answered_ns" for each request; the clock is CLOCK_MONOTONIC."""
import random
import socket
import sys
import threading
import time

port, connections, rounds = map(int, sys.argv[1:])
ENDPOINTS = ["/sleep", "/burn", "/lock", "/file", "/ask", "/all", "/checkout"]
rows = []


def dial():
    for _ in range(100):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit("nobody listens at %d" % port)


def ask(there, path):
    sent = time.monotonic_ns()
    there.sendall(b"GET %s HTTP/1.1\r\nHost: here\r\n\r\n" % path.encode())
    seen = b""
    while not seen.endswith(b"ok\n"):
        more = there.recv(4096)
        assert more, "the server closed the connection"
        seen += more
    return sent, time.monotonic_ns()


def run(index):
    order = random.Random(index)
    number = 0
    with dial() as there:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        own = there.getsockname()[1]
        for _ in range(rounds):
            for path in order.sample(ENDPOINTS, len(ENDPOINTS)):
                number += 1
                rows.append((own, number) + ask(there, path))


threads = [threading.Thread(target=run, args=(index,)) for index in range(connections)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for row in rows:
    print(*row)
