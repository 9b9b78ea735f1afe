# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""An HTTP server that takes the messages of a sink, fails now and then, and remembers all that it took."""
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAMES = ("ce-type", "ce-source", "ce-sequence", "ce-time", "idempotency-key")


class Receiver:
    """`taken` has (time, id, subject, the message whole) in the order of arrival. Any thread may read it."""

    def __init__(self, seed, failing=0.02):
        self.taken, self.lock, self.dice = [], threading.Lock(), random.Random(f"{seed} receiver")
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                code = receiver.take(self.headers, body)
                if code is None:
                    self.close_connection = True
                    return
                self.send_response(code)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass  # a killed instance hangs up

        self.failing = failing
        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/receipts"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, headers, body):
        with self.lock:
            fate = self.dice.random()
            if fate < self.failing / 2:
                return 503  # not taken
            whole = tuple(headers.get(name) for name in NAMES) + (body,)
            self.taken.append((time.monotonic(), headers.get("ce-id"), headers.get("ce-subject"), whole))
            return None if fate < self.failing else 200  # taken, and not said

    def close(self):
        self.server.shutdown()
        self.server.server_close()
