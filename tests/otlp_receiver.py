#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""otlp_receiver.py FOLDER STATUS[:BODY] COMMAND...: runs COMMAND with the address of a receiver of OTLP on loopback in the
place of the word URL; what is posted is put into FOLDER, unzipped, named by the end of its path, and answered with STATUS
and BODY, which is in hexadecimal; STATUS 0: with nothing. Prints a line per request; exits as COMMAND did."""
import gzip
import http.server
import subprocess
import sys
import threading


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        print(self.path, self.headers["Content-Type"], self.headers["Content-Encoding"], flush=True)
        with open(f"{sys.argv[1]}/{self.path.rpartition('/')[2]}", "wb") as file:
            file.write(gzip.decompress(body))
        status, _, answer = sys.argv[2].partition(":")
        if status == "0":
            return
        self.send_response(int(status))
        self.send_header("Content-Length", str(len(answer) // 2))
        self.end_headers()
        self.wfile.write(bytes.fromhex(answer))

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
sys.exit(subprocess.run([word.replace("URL", url) for word in sys.argv[3:]], timeout=60).returncode)
