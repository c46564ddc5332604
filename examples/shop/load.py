#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The customers of the shop: each asks for one kind of page, and waits a little between two.

load.py PORT SECONDS: prints what they saw.
"""
import http.client
import random
import sys
import threading
import time

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])
CUSTOMERS = (("cart", 4, 0.02), ("items", 2, 0.02), ("report", 2, 0.1))  # page, how many, pause in seconds


def customer(page, pause, end, waits):
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    while time.monotonic() < end:
        begin = time.monotonic()
        connection.request("GET", "/%s/%d" % (page, random.randint(1, 1000)))
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        waits.append(time.monotonic() - begin)
        time.sleep(random.uniform(0, 2 * pause))


seen = {page: [] for page, _, _ in CUSTOMERS}
end = time.monotonic() + SECONDS
threads = [
    threading.Thread(target=customer, args=(page, pause, end, seen[page]))
    for page, count, pause in CUSTOMERS
    for _ in range(count)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for page, waits in seen.items():
    waits.sort()
    print("GET /%-7s %6d requests, median %7.2f ms, slowest %7.2f ms" % (
        page, len(waits), 1000 * waits[len(waits) // 2], 1000 * waits[-1]))
