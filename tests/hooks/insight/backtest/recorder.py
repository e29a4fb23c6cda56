"""Records sessions for backtests: hooks that answer by a table, events that carry a number."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from amplifier_audit import AuditLog, AuditSettings
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.models import HookResult
from amplifier_core.mounting import Mounting
from amplifier_core.records import Other, SessionStarted
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks import AssembledSession, load_bundle, open_session
from amplifier_hooks.agent.session.inspection.trails import select_trails
from amplifier_hooks.agent.session.origin import digest_hooks
from amplifier_hooks.insight.backtest import (
    Policy,
    PolicySource,
    Tally,
    Window,
    backtest_trails,
    load_policy,
)

Events = Sequence[tuple[str, dict[str, Any]]]
Row = dict[str, Any]
"""A hook: its name, event, priority and on_error, and by number what it answers."""

FILE = '''"""Hooks that answer by a table."""

from tests.hooks.insight.backtest.recorder import register_rows


async def mount(coordinator, config):
    register_rows(coordinator.hooks, config["rows"])
'''


def register_rows(registry: HookRegistry, rows: Sequence[Row]) -> None:
    """Register one hook for each row."""
    for row in rows:
        registry.register(
            row.get("event", "tool:pre"),
            _make_hook(row),
            row.get("priority", 0),
            row["name"],
            on_error=row.get("on_error", "continue"),
        )


def _make_hook(row: Row) -> Any:
    async def answer(event: str, data: dict[str, Any]) -> HookResult:
        action = row["answers"].get(str(_read_number(data)), "continue")
        if action == "fail":
            raise RuntimeError(f"{row['name']} is broken")
        return _make_answer(action, row["name"], data)

    return answer


def _read_number(data: dict[str, Any]) -> int:
    return int(data["tool_input"]["n"] if "tool_input" in data else data["prompt"])


def _make_answer(action: str, name: str, data: dict[str, Any]) -> HookResult:
    if action == "deny":
        return HookResult(action="deny", reason=f"{name} says no")
    if action == "ask_user":
        return HookResult(
            action="ask_user",
            approval_prompt=f"{name}: really?",
            approval_options=["Allow once", "Allow always", "Deny"],
        )
    if action == "inject_context":
        return HookResult(action="inject_context", context_injection=f"from {name}")
    if action == "modify":
        given = data.get("tool_input", {})
        trace = f"{given.get('trace', '')}+{name}"
        return HookResult(action="modify", data={**data, "tool_input": {**given, "trace": trace}})
    return HookResult(action="continue")


class Recorder:
    """A folder with a bundle whose hooks answer by a table; its sessions are recorded there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trails = folder / "audit"
        (folder / "table.py").write_text(FILE)
        self._loader = ModuleLoader(base=folder)
        self.save()

    def save(self, *rows: Row, modules: Sequence[Any] = (), **sections: Any) -> Path:
        """Write the bundle with these hooks."""
        table = {"module": "table", "source": "./table.py", "config": {"rows": list(rows)}}
        self.plan: dict[str, Any] = {
            "inherit": False,
            "session": {"orchestrator": "loop-basic", "context": "context-simple"},
            "providers": [{"module": "provider-scripted", "config": {"script": []}}],
            "hooks": [table, *modules],
            "audit": {"enabled": True, "path": str(self.trails)},
            **sections,
        }
        self._digest = ""
        path = self.folder / "amplifier.yaml"
        path.write_text(yaml.safe_dump(self.plan))
        return path

    @contextlib.asynccontextmanager
    async def open(
        self, *answers: Any, own: Sequence[Row] = (), **options: Any
    ) -> AsyncIterator[AssembledSession]:
        """A session whose person gives these answers; `own` are hooks that no bundle asks for."""
        session = await open_session(
            load_bundle(project_dir=self.folder),
            working_dir=self.folder,
            approval_system=ScriptedApproval(*(answers or ("Allow once",))),
            prepare=lambda session: register_rows(session.coordinator.hooks, own),
            hot_reload=False,
            **options,
        )
        try:
            yield session
        finally:
            await session.cleanup()

    async def record(
        self, numbers: Sequence[int], *answers: Any, own: Sequence[Row] = (), events: Events = ()
    ) -> None:
        """A session without an agent, in which one tool call after another is judged.

        `events` come first; `own` has hooks that no bundle asks for.
        """
        async with self.host(*answers, own=own) as host:
            for event, data in events:
                await host.execute_with_hooks(event, data)
            for place, number in enumerate(numbers):
                await host.execute_with_hooks("tool:pre", make_call(number, f"call-{place}"))

    @contextlib.asynccontextmanager
    async def host(
        self, *answers: Any, own: Sequence[Row] = (), **fields: Any
    ) -> AsyncIterator[SessionCoordinator]:
        """What records such a session: the hooks of the bundle are mounted, and nothing else."""
        session = str(uuid.uuid4())
        log = await AuditLog.open(self.trails / session, AuditSettings(**fields), name=session)
        host = SessionCoordinator(
            approval_system=ScriptedApproval(*(answers or ("Allow once",))),
            config=self.plan,
            audit=log,
            session_id=session,
        )
        digest = self._digest = self._digest or digest_hooks(load_bundle(project_dir=self.folder))
        loaded = {"folder": str(self.folder), "hooks_digest": digest}
        host.trail.write(Other(type="bundle_loaded", members=loaded))
        register_rows(host.hooks, own)
        host.register_capability("session.working_dir", str(self.folder))
        mounting = Mounting(host, self._loader)
        for entry in self.plan["hooks"]:
            await mounting.mount("hooks", {**entry, "required": True})
        host.trail.write(SessionStarted(resumed=False, parent=None, shadow=False))
        try:
            yield host
        finally:
            await mounting.unmount_all()
            await host.cleanup()
            await log.close()

    def load(self, **source: Any) -> Policy:
        """The policy of the bundle as it is now."""
        return load_policy(PolicySource(**source), self.folder)

    async def backtest(
        self,
        policy: Policy | None = None,
        baseline: Policy | None = None,
        window: Window | None = None,
        examples: int = 3,
    ) -> Tally:
        """Put all sessions before a policy, or before the bundle as it is now."""
        total = Tally(most_examples=examples)
        trails = select_trails([str(self.trails)])
        tried = policy or self.load()
        options: dict[str, Any] = {"window": window, "examples": examples}
        async for _, tally in backtest_trails(trails, tried, baseline, **options):
            total.add(tally)
        return total


def make_call(number: int, call_id: str = "", **fields: Any) -> dict[str, Any]:
    """The data of a tool call that carries a number."""
    given = {"n": number, **fields}
    return {"tool_name": "Bash", "tool_input": given, "tool_call_id": call_id}


def row(name: str, priority: int = 0, on_error: str = "continue", **answers: Any) -> Row:
    """A hook of `tool:pre`: `row("a", n3="deny")` denies the call with the number 3."""
    table = {number.removeprefix("n"): action for number, action in answers.items()}
    return {"name": name, "priority": priority, "on_error": on_error, "answers": table}
