#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The application of the shop: a thread for each connection, PostgreSQL behind it.

shop.py PORT DATABASE_PORT FOLDER
"""
import http.server
import os
import sys
import threading
import time

import psycopg2

PORT, DATABASE_PORT, FOLDER = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
EXPORT_EVERY, EXPORT_PARTS, PART_BYTES = 1, 300, 1 << 16  # seconds; parts, each synced

database = threading.local()
reports = threading.Lock()  # the numbers of a report and of an export have to agree


def ask(statement, *values):
    if not hasattr(database, "cursor"):
        connection = psycopg2.connect(host="127.0.0.1", port=DATABASE_PORT, dbname="postgres", user="postgres")
        connection.autocommit = True
        database.cursor = connection.cursor()
    database.cursor.execute(statement, values)
    return database.cursor.fetchone()[0]


def cart(number):
    return ask("SELECT items FROM carts WHERE id = %s", number)


def item(number):
    return "item %d" % number


def report(number):
    with reports:
        return ask("SELECT sum(amount) FROM orders WHERE customer = %s", number)


def export():
    """Writes what accounting wants. It keeps the lock until all of it is on the disk."""
    with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as comm:
        comm.write("exporter")
    with open(os.path.join(FOLDER, "export"), "wb", buffering=0) as file:
        while True:
            with reports:
                file.seek(0)
                for _ in range(EXPORT_PARTS):
                    file.write(bytes(PART_BYTES))
                    os.fsync(file)
            time.sleep(EXPORT_EVERY)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body in one send
    pages = {"cart": cart, "items": item, "report": report}

    def do_GET(self):
        _, name, number = (self.path.split("/") + ["", ""])[:3]
        page = self.pages.get(name) if number.isdigit() else None
        body = ("%s\n" % page(int(number)) if page else "not found\n").encode()
        self.send_response(200 if page else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


threading.Thread(target=export, name="exporter", daemon=True).start()
Server(("127.0.0.1", PORT), Handler).serve_forever()
