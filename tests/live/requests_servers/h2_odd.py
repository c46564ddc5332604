# SPDX-License-Identifier: Apache-2.0
# h2_odd.py serve PORT: answers the frames of each message that it gets, and what is no frame, too.
# h2_odd.py ask PORT STREAMS TURNS: begins as HTTP/2, with its headers and blocks cut into two messages, and then asks what is
# none: something else.
import socket
import sys
import threading

what, port = sys.argv[1], int(sys.argv[2])
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def take(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise SystemExit
        data += more
    return data


def answer(connection):
    connection.sendall(frame(4, 0, 0))
    take(connection, len(PREFACE))
    while True:
        head = take(connection, 9)
        if head[3] > 9:
            connection.sendall(b"?")
            continue
        take(connection, int.from_bytes(head[:3], "big"))
        if head[3] == 1:
            stream = int.from_bytes(head[5:], "big")
            whole = frame(1, 4, stream, b"\x88") + frame(0, 1, stream, b"hello")
            connection.sendall(whole[:5])  # a header that ends in the next message
            connection.sendall(whole[5:])


if what == "serve":
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
streams, turns = int(sys.argv[3]), int(sys.argv[4])
connection = socket.create_connection(("127.0.0.1", port))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
connection.sendall(PREFACE)
take(connection, 9)
for i in range(streams):
    asked = frame(1, 5, 2 * i + 1, b"\x82\x86\x04\x05/odd?")
    connection.sendall(asked[:12])
    connection.sendall(asked[12:])
    take(connection, 24)
for i in range(turns):
    connection.sendall(b"\xff" * 9)
    take(connection, 1)
connection.close()
