"""Runs external hooks: lanes side by side, the hooks of one lane in order."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.answer import report_failure
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply
from amplifier_hooks.coding_agents.shell_hooks.command import run_hook
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.http import post
from amplifier_hooks.coding_agents.shell_hooks.scripts.names import find_changed
from amplifier_hooks.coding_agents.shell_hooks.selector import Job
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.machine.background import BackgroundTasks

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

    def take_late(self) -> list[Verdict]:
        """What hooks in the background have said since the last time."""
        late, self._late = self._late, []
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
