# SPDX-License-Identifier: Apache-2.0
"""server.py threading|pool|dispatch PORT: a thread for each connection (http.server); workers that serve a connection
each; one thread that reads, and workers that answer."""
import http.server
import selectors
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

model, port = sys.argv[1], int(sys.argv[2])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    do_POST = do_GET

    def log_message(self, *_):
        pass


def read_request(there):
    """False: there is no more. Its length is that of the head and of what that says."""
    seen = there.recv(4096)
    while seen and b"\r\n\r\n" not in seen:
        seen += there.recv(4096)
    if not seen:
        return False
    head, _, body = seen.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            left = int(line.split(b":")[1]) - len(body)
            while left > 0:
                left -= len(there.recv(left))
    return True


def serve(there):
    with there:
        while read_request(there):
            sum(range(1000))
            there.sendall(ANSWER)


def serve_pool(listener):
    with ThreadPoolExecutor(8) as workers:
        while True:
            workers.submit(serve, listener.accept()[0])


def serve_dispatch(listener):
    """A connection has one request at a time."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    with ThreadPoolExecutor(4) as workers:
        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                elif read_request(key.fileobj):
                    workers.submit(key.fileobj.sendall, ANSWER)
                else:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()


if model == "threading":
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
own = socket.create_server(("127.0.0.1", port), backlog=64)
serve_pool(own) if model == "pool" else serve_dispatch(own)
