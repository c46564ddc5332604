#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scrape.py FILE: serves an OpenMetrics file on loopback, lets a real Prometheus scrape it, and prints the sum of
dwell_ledger_seconds_total as Prometheus has it, in ns; exits 1 if it does not get there within SECONDS."""
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

SECONDS = 25
QUERY = "sum(dwell_ledger_seconds_total)"


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "rb") as file:
            body = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return json.load(answer)["data"]


def wait_for_sum(port, prometheus):
    state = {}
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and prometheus.poll() is None:
        time.sleep(0.3)
        try:
            state = ask(port, "/api/v1/targets")["activeTargets"][0]
            if state["health"] == "down":
                break
            result = ask(port, "/api/v1/query?query=" + urllib.parse.quote(QUERY))["result"]
        except (OSError, IndexError, KeyError):
            continue
        if result:
            print(round(float(result[0]["value"][1]) * 1e9))
            return 0
    print("Prometheus has nothing:", state.get("health"), state.get("lastError"))
    return 1


server = http.server.HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/prometheus.yml", "w") as config:
        config.write(f"""global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs: [{{job_name: dwell, static_configs: [{{targets: ["127.0.0.1:{server.server_port}"]}}]}}]
""")
    port = free_port()
    prometheus = subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"], stdout=subprocess.DEVNULL, cwd=folder,
        env={**os.environ, "GOMAXPROCS": "1"})
    try:
        status = wait_for_sum(port, prometheus)
    finally:
        prometheus.terminate()
        try:
            prometheus.wait(10)
        except subprocess.TimeoutExpired:
            prometheus.kill()
            prometheus.wait()
sys.exit(status)
