"""A correct receiver of webhooks with the standard library alone: python3 receiver.py PORT."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ["WORKSPACE_WEBHOOK_SECRET"].removeprefix("whsec_"))
handled = set()


class Receiver(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, json.dumps({"count": len(handled)}).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        given_id = self.headers.get("webhook-id", "")
        sent_at = self.headers.get("webhook-timestamp", "0")
        content = f"{given_id}.{sent_at}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        given = self.headers.get("webhook-signature", "").split(" ")
        is_signed = any(hmac.compare_digest(each, expected) for each in given)
        if not is_signed or abs(time.time() - int(sent_at)) > 300:
            return self.answer(401, b"")
        handled.add(given_id)
        return self.answer(204, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
