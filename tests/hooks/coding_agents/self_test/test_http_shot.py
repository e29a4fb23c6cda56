"""An event on its way by HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from amplifier_hooks.coding_agents.self_test.http_shot import HttpShot


class Answering(BaseHTTPRequestHandler):
    """Answers by its path: /500 with that, /hang never, others with what they were given."""

    release = threading.Event()

    def do_POST(self) -> None:
        """Obey the path."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/hang":
            self.release.wait(60)
        self.send_response(500 if self.path == "/500" else 200)
        self.end_headers()
        self.wfile.write(self.headers.get("x-token", "").encode() + body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Of a server that answers."""
    Answering.release.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        Answering.release.set()
        server.shutdown()
        thread.join()


def test_the_body_of_the_answer_is_the_answer(url: str) -> None:
    """Sent with the headers of the entry."""
    reply = HttpShot(f"{url}/claude/Stop", b"{}", {"x-token": "t"}).wait(30)
    assert (reply.failure, reply.stdout) == (None, "t{}")


def test_another_status_is_a_failure(url: str) -> None:
    """As the agent takes it."""
    assert "status 500" in str(HttpShot(f"{url}/500", b"{}", {}).wait(30).failure)


def test_no_server_is_a_failure(url: str) -> None:
    """It is said where none was."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as free:
        port = free.server_port
    shot = HttpShot(f"http://127.0.0.1:{port}/", b"", {})
    shot.kill_client()  # there is none: nothing happens
    assert f":{port}/" in str(shot.wait(30).failure)


def test_silence_is_a_time_out(url: str) -> None:
    """The agent does not wait for ever."""
    reply = HttpShot(f"{url}/hang", b"{}", {}).wait(0.05)
    Answering.release.set()
    assert reply.timed_out
