"""A real HTTP server on loopback that keeps what it is sent and answers as told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """What arrived, and the statuses still to answer with (the last one stays)."""

    def __init__(self, statuses: list[int], body: bytes, headers: Mapping[str, str]) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses = statuses
        self.body = body
        self.headers = {"Content-Length": str(len(body)), **headers}
        self.url = ""

    def next_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def receiver(
    *statuses: int, delay: float = 0.0, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Iterator[Receiver]:
    """A server that lives as long as the block."""
    kept = Receiver(list(statuses) or [200], body, headers or {})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kept.requests.append((self.path, dict(self.headers.items()), sent))
            time.sleep(delay)
            with suppress(OSError):  # the client need not wait
                self._answer()

        def _answer(self) -> None:
            self.send_response(kept.next_status())
            for name, value in kept.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(kept.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
