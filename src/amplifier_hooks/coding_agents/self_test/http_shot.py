"""One event on its way to the resident process by HTTP, as Claude Code sends it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.dialects.reply import Reply


class HttpShot:
    """A request under way."""

    def __init__(self, url: str, payload: bytes, headers: Mapping[str, str]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[Reply] = self._pool.submit(_post, url, payload, dict(headers))
        self._pool.shutdown(wait=False)

    def wait(self, seconds: float) -> Reply:
        """The body of the answer, or why there is none."""
        try:
            return self._answer.result(seconds)
        except StillRunning:
            return Reply(failure=f"no answer within {seconds:g} seconds", timed_out=True)

    def kill_client(self) -> None:
        """There is no command."""


def _post(url: str, payload: bytes, headers: dict[str, str]) -> Reply:
    place = urlsplit(url)
    line = HTTPConnection(str(place.hostname), place.port, timeout=60)
    try:
        line.request("POST", place.path, payload, {**headers, "Content-Type": "application/json"})
        answer = line.getresponse()
        body = answer.read().decode(errors="replace")
    except (OSError, HTTPException) as error:
        return Reply(failure=f"{url}: {describe_error(error)}")
    finally:
        line.close()
    if answer.status != 200:
        return Reply(failure=f"{url} answered with status {answer.status}: {body[:200]}")
    return Reply(stdout=body)
