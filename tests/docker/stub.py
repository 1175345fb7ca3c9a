"""An engine that creates containers on paper: enough of its HTTP for `docker create`, on a Unix socket.

The real CLI turns flags into the JSON of one request; what that says is what an engine would do.
"""
import http.server
import json
import os
import socketserver
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Api-Version", "1.41")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.answer(200, b"OK" if self.path.endswith("/_ping") else b"{}")

    do_HEAD = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "/containers/create" not in self.path:
            self.answer(204)
            return
        self.server.requests.append((self.path, json.loads(body)))
        self.answer(201, json.dumps({"Id": "0" * 64, "Warnings": []}).encode())

    def address_string(self):
        return "client"

    def log_message(self, *args):
        pass


class Stub(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def __init__(self, path):
        super().__init__(path, Handler)
        os.chmod(path, 0o666)
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def last(self):
        """Path and JSON of the last container asked for; takes all that were."""
        request = self.requests[-1] if self.requests else ("", None)
        self.requests.clear()
        return request
