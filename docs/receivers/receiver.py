"""A receiver of Carteira's webhooks. Run it behind a proxy that ends HTTPS:

    PORT=9000 WEBHOOK_SECRET=whsec_… python3 receiver.py
"""

import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()
if not SECRET:  # everybody can sign with an empty key
    sys.exit("set WEBHOOK_SECRET to the webhook's secret")

LONGEST = 1 << 20

# Remembers ids until the program ends. In earnest: a table with a unique key,
# written in the transaction that does the work.
seen = set()
lock = Lock()


def parse(body):
    """The event's name and id, or None for what is not an event."""
    try:
        message = json.loads(body)
        name, id = message["event"], message["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    sound = all(isinstance(text, str) and text and text.isascii() for text in (name, id))
    return (name, id) if sound else None


def receive(headers, body):
    timestamp = headers.get("X-Service-Timestamp", "")
    want = "sha256=" + hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(want.encode(), headers.get("X-Service-Signature", "").encode()):
        return 401
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return 408
    event = parse(body)
    if event is None:
        return 400
    with lock:
        repeated = event[1] in seen
        seen.add(event[1])
    if not repeated:
        print(*event, flush=True)  # here goes your work; longer work goes into a queue
    return 204


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("Content-Length", "0")
        if not re.fullmatch("[0-9]{1,12}", length):
            length = "0"
        # The raw bytes: decoded and encoded again they differ.
        body = self.rfile.read(min(int(length), LONGEST + 1))
        self.send_response(receive(self.headers, body) if len(body) <= LONGEST else 400)
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
