"""Run the agent of this folder with a stand-in for Slack, and print what reaches the channel."""

import asyncio
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

from amplifier_hooks import load_bundle, open_session

RECEIVED: Queue[str] = Queue()
EXPECTED = 4


class Slack(BaseHTTPRequestHandler):
    """Answers as Slack's incoming webhooks do."""

    def do_POST(self) -> None:
        """Keep the text of the message."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        RECEIVED.put(message["text"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing about requests."""


async def main() -> None:
    """One turn; the messages arrive beside it."""
    folder = Path(__file__).parent
    with ThreadingHTTPServer(("127.0.0.1", 0), Slack) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["SLACK_WEBHOOK_URL"] = f"http://127.0.0.1:{server.server_port}/services/T0/B0/x"
        session = await open_session(load_bundle(project_dir=folder), working_dir=folder)
        print("The agent:", await session.execute("apply the change and push it"))
        for _ in range(EXPECTED):
            text = await asyncio.to_thread(RECEIVED.get, timeout=30)
            print("#agents:", text.replace("\n", " "))
        await session.cleanup()
        server.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
