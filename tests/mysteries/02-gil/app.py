#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# app.py PORT PGPORT ROUNDS: a web server with a thread per connection. A request asks PostgreSQL for the orders of a
# customer and renders them in Python, under the interpreter's lock. gilclock.c times the waits for that lock.
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2

PORT, PGPORT, ROUNDS = (int(argument) for argument in sys.argv[1:4])
local = threading.local()


def connection():
    if not hasattr(local, "connection"):
        local.connection = psycopg2.connect(host="127.0.0.1", port=PGPORT, user="postgres", dbname="shop")
        local.connection.autocommit = True
    return local.connection


def fetch_orders(customer):
    cursor = connection().cursor()
    cursor.execute("select id, total from orders where customer = %s", (customer,))
    return cursor.fetchall()


def render(rows):
    total = 0
    for i in range(ROUNDS):
        total = (total * 31 + i) % 1000003
    return json.dumps({"rows": len(rows), "sum": total})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # head and body go out together

    def do_GET(self):
        body = render(fetch_orders(int(self.path.rpartition("=")[2]))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
