"""Servers that misbehave: one before a real server, which can stop answering, and one that has a single answer."""

from __future__ import annotations

import base64
import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Guard:
    """Passes requests with the right credentials on to a port of this machine; `silent` makes it answer nothing more.

    Attributes:
        uri: where it listens, with the credentials.
        refused: how many requests came without them.
        pause: seconds between the bytes of an answer; 0 sends it at once.
    """

    def __init__(self, port: int, user: str, password: str) -> None:
        self.silent = threading.Event()
        self.refused = 0
        self.pause = 0.0
        self._target = port
        self._expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.uri = f"http://{user}:{password}@127.0.0.1:{self.server.server_port}"

    @contextmanager
    def listening(self) -> Iterator[Guard]:
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        guard = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                guard.answer(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
                """Says nothing."""

        return Handler

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if self.silent.is_set():
            threading.Event().wait(15)
            return
        if request.headers.get("Authorization") != self._expected:
            self.refused += 1
            request.send_response(401)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        forward = http.client.HTTPConnection("127.0.0.1", self._target, timeout=30)
        headers = {name: request.headers[name] for name in ("Content-Type", "Accept") if name in request.headers}
        forward.request(request.command, request.path, body, headers)
        answered = forward.getresponse()
        content = answered.read()
        forward.close()
        request.send_response(answered.status)
        request.send_header("Content-Type", answered.getheader("Content-Type") or "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        _send(request, content, self.pause)


@contextmanager
def answering(content: bytes, pause: float = 0, status: int = 200) -> Iterator[str]:
    """URI of a server that answers everything with the same content, `pause` seconds between its bytes."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            _send(self, content, pause)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _send(request: BaseHTTPRequestHandler, content: bytes, pause: float) -> None:
    if not pause:
        request.wfile.write(content)
        return
    with suppress(OSError):
        for position in range(len(content)):
            request.wfile.write(content[position : position + 1])
            time.sleep(pause)
