"""A real HTTP server on loopback that keeps what it is sent and answers as told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """What arrived, and the statuses still to answer with (the last one stays)."""

    def __init__(self, statuses: list[int], delay: float) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses = statuses
        self.delay = delay
        self.url = ""

    def next_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def receiver(*statuses: int, delay: float = 0.0) -> Iterator[Receiver]:
    """A server that lives as long as the block."""
    kept = Receiver(list(statuses) or [200], delay)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kept.requests.append((self.path, dict(self.headers.items()), body))
            time.sleep(kept.delay)
            self.send_response(kept.next_status())
            self.send_header("Content-Length", "0")
            self.end_headers()

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
