"""Runs external hooks: lanes side by side, the hooks of one lane in order."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.answer import report_failure
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.scripts import find_changed
from amplifier_hooks.coding_agents.shell_hooks.selector import Job
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.machine.background import BackgroundTasks
from amplifier_hooks.machine.http import HttpError, check_private_url, post_json
from amplifier_hooks.sandbox.process import run_command


async def run_hook(
    handler: Handler, body: bytes, env: Mapping[str, str], cwd: str, limit: int
) -> Reply:
    """Run the command and wait for it, no longer than the hook's own limit.

    `limit` is how many bytes of each stream are kept.
    """
    written = handler.args if handler.args is not None else handler.command or ""
    outcome = await run_command(
        written if handler.run is None else handler.run,
        cwd=str(Path(cwd) / handler.cwd) if handler.cwd else cwd,
        timeout=handler.timeout,
        stdin=body,
        env={**os.environ, **env, **handler.env},
        output_limit=limit,
    )
    if outcome.timed_out:
        sentence = f"Hook {handler.label!r} ran longer than {handler.timeout:g} s and was ended"
        return Reply(failure=sentence, timed_out=True)
    return Reply(outcome.returncode, outcome.stdout, outcome.stderr)


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


logger = logging.getLogger(__name__)


class Runner:
    """Runs what was selected, and keeps what hooks in the background had to say."""

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        self._config = config
        self._env = dict(env)
        self._late: list[Verdict] = []
        self._background = BackgroundTasks(NAME)

    def fails_closed(self, handler: Handler) -> bool:
        """Whether the failure of a hook blocks."""
        return self._config.fail_closed or DIALECTS[handler.dialect].fails_closed(handler)

    async def run(self, jobs: Iterable[Job]) -> list[Verdict]:
        """All lanes at once; the verdicts in the order in which they came in."""
        verdicts: list[Verdict] = []
        lanes: dict[str, list[Job]] = {}
        for handler, call in jobs:
            if handler.background:
                self._background.start(self._run_late(handler, call))
            else:
                lanes.setdefault(handler.lane or handler.where, []).append((handler, call))
        await asyncio.gather(*(self._run_lane(lane, verdicts) for lane in lanes.values()))
        return verdicts

    def pop_late(self) -> list[Verdict]:
        """What hooks in the background have said since the last time."""
        late = self._late
        self._late = []
        return late

    async def close(self) -> None:
        """End what still runs in the background."""
        await self._background.close(grace=0.5)

    async def _run_lane(self, lane: list[Job], verdicts: list[Verdict]) -> None:
        changed: dict[str, Any] | None = None
        for handler, call in lane:
            verdict = await self._run_one(handler, replace(call, tool_input=changed))
            verdicts.append(verdict)
            if DIALECTS[handler.dialect].passes_input_on and verdict.tool_input is not None:
                changed = verdict.tool_input
            if verdict.decision == "deny":
                return

    async def _run_late(self, handler: Handler, call: Call) -> None:
        """An asynchronous hook decides nothing any more; what it has to say waits its turn."""
        verdict = await self._run_one(handler, call)
        told = replace(verdict, decision=None, tool_input=None, stop=None)
        if verdict.decision == "deny" and verdict.reason:
            told = replace(told, context=(*told.context, verdict.reason))
        self._late.append(told)

    async def _run_one(self, handler: Handler, call: Call) -> Verdict:
        handler = self._apply_limits(handler)
        changed = await asyncio.to_thread(find_changed, handler.expects)
        if changed is not None:
            return _refuse(handler, changed)
        try:
            reply = await self._ask(handler, call)
            return DIALECTS[handler.dialect].read_reply(handler, call, reply)
        except Exception as error:
            # One broken hook must not silence the others.
            logger.warning("%s: %s failed", NAME, handler.where, exc_info=True)
            sentence = f"Hook {handler.label!r} failed: {describe_error(error)}"
            return report_failure(sentence, fail_closed=self.fails_closed(handler))

    async def _ask(self, handler: Handler, call: Call) -> Reply:
        dialect = DIALECTS[handler.dialect]
        body = encode_payload(dialect.build_payload(call))
        if handler.url is not None:
            return await post(handler, body)
        env = {**self._env, **dialect.build_environment(call)}
        return await run_hook(handler, body, env, call.cwd, self._config.output_limit)

    def _apply_limits(self, handler: Handler) -> Handler:
        most = self._config.timeout
        timeout = handler.timeout if most is None else min(most, handler.timeout)
        closed = handler.fail_closed or self._config.fail_closed
        return replace(handler, timeout=timeout, fail_closed=closed)


def _refuse(handler: Handler, changed: Path) -> Verdict:
    """Whatever a hook means when it fails: one that was tampered with must not let things pass."""
    reason = (
        f"Hook {handler.label!r} is not run: {changed} is not what it was when a person allowed "
        "the hook. Look at it, then use /reload in a chat, or: amplifier trust"
    )
    return Verdict(decision="deny", reason=reason)


def encode_payload(payload: Mapping[str, Any]) -> bytes:
    """JSON in ASCII: lone surrogates and odd objects must not keep a guard from being asked."""
    return json.dumps(payload, default=str, skipkeys=True).encode() + b"\n"
