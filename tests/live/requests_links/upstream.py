# SPDX-License-Identifier: Apache-2.0
"""upstream.py LOG PORT [DELAY_US]: an HTTP server of one thread. It answers each request after a random delay of up to
DELAY_US, so that answers overtake each other. A request's path ends with its id, and ?call=K says which of the id's calls
it is. When the server gets SIGTERM, it writes one line per request to LOG:

  peer_port number_on_connection id call received_ns answered_ns received_bytes sent_bytes

The clock is CLOCK_MONOTONIC."""
import heapq
import random
import selectors
import signal
import socket
import sys
import time

log, port = sys.argv[1], int(sys.argv[2])
delay_us = int(sys.argv[3]) if len(sys.argv) > 3 else 0
REQUESTS_MAX = 2000000
random.seed(1)


class Connection:
    def __init__(self, there, peer_port):
        self.there, self.port, self.count, self.seen, self.request = there, peer_port, 0, b"", None


def stop(*_):
    global is_running
    is_running = False


def begin(own, now):
    """The request that own.seen holds. Its answer is due at the returned time."""
    target = own.seen.split(b" ", 2)[1].decode()
    path, _, query = target.partition("?")
    call = query.partition("call=")[2].partition("&")[0] or "0"
    own.count += 1
    own.request = [own.port, own.count, int(path.rsplit("/", 1)[1]), int(call), now, 0, len(own.seen), 0]
    return now + int(random.random() * delay_us) * 1000


def close(own):
    selector.unregister(own.there)
    own.there.close()
    own.there = None


def answer(own):
    if not own.there:
        return
    does_close = b"\r\nconnection: close" in own.seen.lower()
    text = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n%s\r\nhello\n" % (b"Connection: close\r\n" if does_close else b"")
    own.request[5], own.request[7] = time.monotonic_ns(), len(text)
    rows.append(own.request)
    own.seen, own.request = b"", None
    own.there.send(text)
    if does_close:
        close(own)


def receive(own):
    try:
        more = own.there.recv(4096)
    except ConnectionError:
        more = b""
    now = time.monotonic_ns()
    if not more:
        close(own)
        return
    own.seen += more
    if own.seen.endswith(b"\r\n\r\n") and not own.request:
        heapq.heappush(due, (begin(own, now), id(own), own))


def accept():
    there, (_, peer_port) = listener.accept()
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    selector.register(there, selectors.EVENT_READ, Connection(there, peer_port))


is_running, rows, due = True, [], []
signal.signal(signal.SIGTERM, stop)
listener = socket.create_server(("127.0.0.1", port), backlog=256)
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
while is_running and len(rows) < REQUESTS_MAX:
    for key, _ in selector.select(max(0, (due[0][0] - time.monotonic_ns()) / 1e9) if due else 0.2):
        if key.data:
            receive(key.data)
        else:
            accept()
    while due and due[0][0] <= time.monotonic_ns():
        answer(heapq.heappop(due)[2])
with open(log, "w") as file:
    for row in rows:
        print(*row, file=file)
