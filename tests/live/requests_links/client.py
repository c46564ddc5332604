# SPDX-License-Identifier: Apache-2.0
"""client.py LOG PORT CONNECTIONS REQUESTS [PER_SECOND [WORDS]]: asks a server for REQUESTS paths, each with an id of its own, on
CONNECTIONS connections that stay open; PER_SECOND of them in a second, or as many as the server answers. The client writes
one line per request to LOG:

  local_port number_on_connection id sent_ns answered_ns

The clock is CLOCK_MONOTONIC. The paths have WORDS first words (16), so that the server has as many endpoints: dwell keeps
some requests of each endpoint and window."""
import heapq
import random
import selectors
import socket
import sys
import time

log, port, connections, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
per_second = float(sys.argv[5]) if len(sys.argv) > 5 else 0
SECONDS_MAX = 60
WORDS = [a + b for a in ("cart", "item", "list", "page") for b in ("one", "two", "few", "all")]
WORDS = WORDS[:int(sys.argv[6]) if len(sys.argv) > 6 else 16]
random.seed(2)


class Connection:
    def __init__(self):
        self.there = socket.create_connection(("127.0.0.1", port))
        self.there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self.there.getsockname()[1]
        self.count, self.seen, self.request = 0, b"", None


def pause():
    return 2 * random.random() * connections / per_second if per_second else 0


def ask(own):
    """False: all requests are under way already."""
    global asked
    if asked >= requests:
        return False
    asked += 1
    own.count += 1
    text = b"GET /%s/%d HTTP/1.1\r\nHost: here\r\n\r\n" % (random.choice(WORDS).encode(), asked)
    own.request = [own.port, own.count, asked, time.monotonic_ns(), 0]
    own.there.send(text)
    return True


def receive(own):
    """True: it has the whole answer."""
    more = own.there.recv(4096)
    assert more, "the server closed connection %d after %d requests" % (own.port, own.count)
    own.seen += more
    head, end, body = own.seen.partition(b"\r\n\r\n")
    if not end or len(body) < 6:
        return False
    assert own.seen.startswith(b"HTTP/1.1 200 ") and body == b"hello\n", own.seen
    own.request[4] = time.monotonic_ns()
    rows.append(own.request)
    own.seen, own.request = b"", None
    return True


asked, rows, due = 0, [], []
selector = selectors.DefaultSelector()
for _ in range(connections):
    own = Connection()
    selector.register(own.there, selectors.EVENT_READ, own)
    heapq.heappush(due, (time.monotonic() + pause(), own.port, own))
end = time.monotonic() + SECONDS_MAX
while len(rows) < requests and time.monotonic() < end:
    while due and due[0][0] <= time.monotonic():
        ask(heapq.heappop(due)[2])
    for key, _ in selector.select(max(0, due[0][0] - time.monotonic()) if due else 0.2):
        if receive(key.data):
            heapq.heappush(due, (time.monotonic() + pause(), key.data.port, key.data))
with open(log, "w") as file:
    for row in rows:
        print(*row, file=file)
sys.exit(len(rows) < requests)
