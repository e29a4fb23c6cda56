"""A witness on loopback for tests of the trail alone; the server's own is tested in tests/hooks."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from amplifier_audit.checkpoint import Note, parse_note
from amplifier_audit.merkle import verify_consistency

PATH = "/api/v1/witness"


class WitnessServer:
    """Keeps checkpoints by log, and refuses those that are not proven to continue the last.

    `answer` is given instead of all that, if it is set: a status and a body.
    """

    def __init__(self, token: str = "") -> None:
        self.token = token
        self.notes: dict[str, list[Note]] = {}
        self.answer: tuple[int, bytes] | None = None
        self.seen: list[str] = []
        self.url = ""

    def put(self, told: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        note = parse_note(told["note"])
        known = self.notes.setdefault(note.checkpoint.log, [])
        proof = [base64.b64decode(one) for one in told["proof"]]
        if known:
            old, new = known[-1].checkpoint, note.checkpoint
            if not verify_consistency(old.size, old.root, new.size, new.root, proof):
                return 409, {"error": {"message": "it contradicts the one before"}}
        known.append(note)
        return 201, {"head": {"note": note.text}}

    def get(self, path: str, query: str) -> tuple[int, dict[str, Any]]:
        if path == PATH:
            name = parse_qs(query)["name"][0]
            newest = [notes[-1] for notes in self.notes.values() if notes]
            named = [one for one in newest if one.checkpoint.name == name]
            heads = [{"log": one.checkpoint.log, "note": one.text} for one in named]
            return 200, {"heads": heads}
        found = self.notes.get(unquote(path.removeprefix(f"{PATH}/")))
        if not found:
            return 404, {"error": {"message": "no such log"}}
        return 200, {"head": {"note": found[-1].text}, "history": [one.text for one in found]}


@contextmanager
def run_witness(witness: WitnessServer, port: int = 0) -> Iterator[WitnessServer]:
    """Serve it on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._reply(*witness.get(parts.path, parts.query))

        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._reply(*witness.put(told))

        def _reply(self, status: int, told: dict[str, Any]) -> None:
            witness.seen.append(self.path)
            content = json.dumps(told).encode()
            if witness.token and self.headers["Authorization"] != f"Bearer {witness.token}":
                status, content = 401, b'{"error": {"message": "no token"}}'
            if witness.answer is not None:
                status, content = witness.answer
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    witness.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield witness
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
