"""A receiver of Carteira's webhooks. Run it behind a proxy that ends HTTPS:

    PORT=9000 WEBHOOK_SECRET=whsec_… python3 receiver.py
"""

import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

SECRET = os.environ["WEBHOOK_SECRET"].encode()

# Remembers ids until the program ends. In earnest: a table with a unique key,
# written in the transaction that does the work.
seen = set()
lock = Lock()


def receive(headers, body):
    timestamp = headers.get("X-Service-Timestamp", "")
    want = "sha256=" + hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(want.encode(), headers.get("X-Service-Signature", "").encode()):
        return 401
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return 408
    event = json.loads(body)
    with lock:
        repeated = event["id"] in seen
        seen.add(event["id"])
    if not repeated:
        print(event["event"], event["id"], flush=True)  # here goes your work; longer work goes into a queue
    return 204


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The raw bytes: decoded and encoded again they differ.
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(receive(self.headers, body))
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
