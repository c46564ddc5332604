# SPDX-License-Identifier: Apache-2.0
"""server.py thread|pool|loop UPSTREAM_PORT PORT: asks its upstream, then answers.

  thread  a thread for each connection, and two calls, one after the other
  pool    one thread reads, 8 workers make a call and answer: each worker keeps a connection to the upstream
  loop    asyncio, and two calls, one after the other, on any free connection of 16"""
import asyncio
import selectors
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

model, upstream, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"
local = threading.local()


def dial():
    there = socket.create_connection(("127.0.0.1", upstream))
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return there


def call(path, number):
    """On the connection of this thread."""
    if not hasattr(local, "there"):
        local.there = dial()
    local.there.sendall(b"GET %s?call=%d HTTP/1.1\r\nHost: up\r\n\r\n" % (path, number))
    seen = b""
    while not seen.endswith(b"hello\n"):
        more = local.there.recv(4096)
        assert more, "the upstream closed the connection"
        seen += more


def read_path(there):
    """None: the client closed the connection."""
    seen = there.recv(4096)
    while seen and not seen.endswith(b"\r\n\r\n"):
        seen += there.recv(4096)
    return seen.split(b" ", 2)[1] if seen else None


def serve(there):
    with there:
        while path := read_path(there):
            call(path, 0)
            call(path, 1)
            there.sendall(ANSWER)


def work(there, path):
    call(path, 0)
    there.sendall(ANSWER)


def serve_threads(listener):
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def serve_pool(listener):
    """Each connection has one request at a time."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    with ThreadPoolExecutor(8) as workers:
        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                elif path := read_path(key.fileobj):
                    workers.submit(work, key.fileobj, path)
                else:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()


async def call_free(free, path, number):
    reader, writer = await free.get()
    writer.write(b"GET %s?call=%d HTTP/1.1\r\nHost: up\r\n\r\n" % (path, number))
    await reader.readuntil(b"hello\n")
    free.put_nowait((reader, writer))


async def serve_loop():
    free = asyncio.Queue()

    async def serve_one(reader, writer):
        while head := await reader.read(4096):
            path = head.split(b" ", 2)[1]
            await call_free(free, path, 0)
            await call_free(free, path, 1)
            writer.write(ANSWER)
        writer.close()

    for _ in range(16):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", upstream))
    await (await asyncio.start_server(serve_one, "127.0.0.1", port, backlog=256)).serve_forever()


if model == "loop":
    asyncio.run(serve_loop())
own = socket.create_server(("127.0.0.1", port), backlog=256)
serve_pool(own) if model == "pool" else serve_threads(own)
