"""Hooks that are asked over HTTP: the document of a command's stdin, posted."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import Any

from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.machine.http import HttpError, check_private_url, post_json

_LIMIT = 1_000_000
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
# How the document is sent is not a hook's to say.
_OURS = frozenset({"host", "content-type", "content-length", "transfer-encoding", "connection"})


def explain_refusal(url: str, allowed: Any = None) -> str | None:
    """Why a URL may not be asked, or None."""
    try:
        check_private_url(url)
    except ValueError as error:
        return f"url {url!r} {error}"
    if isinstance(allowed, list) and not any(fnmatchcase(url, str(rule)) for rule in allowed):
        return f"url {url!r} is not among 'allowedHttpHookUrls'"
    return None


async def post(handler: Handler, body: bytes) -> Reply:
    """The reply of the server, read as if a command had printed it."""
    assert handler.url is not None
    headers = _build_headers(handler)
    try:
        text = await post_json(
            handler.url, body, timeout=handler.timeout, headers=headers, limit=_LIMIT
        )
    except HttpError as error:
        return _explain(handler, error)
    return Reply(stdout=text)


def _explain(handler: Handler, error: HttpError) -> Reply:
    label = f"Hook {handler.url!r}"
    if error.timed_out:
        sentence = f"{label} did not answer within {handler.timeout:g} s"
        return Reply(failure=sentence, timed_out=True)
    if error.status is not None:
        return Reply(failure=f"{label} answered with status {error.status}")
    return Reply(failure=f"{label} cannot be reached: {error}")


def _build_headers(handler: Handler) -> dict[str, str]:
    """Variables are filled in, but only those that the settings allow."""

    def fill(match: re.Match[str]) -> str:
        return os.environ.get(match[1], "") if match[1] in handler.header_vars else ""

    return {
        name: re.sub(r"[\r\n]", "", _VARIABLE.sub(fill, text))
        for name, text in handler.headers.items()
        if re.fullmatch(r"[A-Za-z0-9-]+", name) and name.casefold() not in _OURS
    }
