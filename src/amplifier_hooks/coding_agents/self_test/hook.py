"""The hook of a check: one more in its session, that does what the event's own words say."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import (
    APPROVAL_DENIED,
    APPROVAL_GRANTED,
    PROMPT_SUBMIT,
    TOOL_POST,
    TOOL_PRE,
)
from amplifier_core.models import HookResult
from amplifier_hooks.agent.session.origin import record_self_test
from amplifier_hooks.trails.bodies import SELF_TEST_HOOK, SELF_TEST_PREFIX

_MARK = re.compile(r"amplifier-check:([a-z-]+)")


def write_mark(case: str) -> str:
    """The word for one case."""
    return f"amplifier-check:{case}"


def write_command(case: str, number: int = 0) -> str:
    """A harmless command with that word in it; with another number it is not the same again."""
    return f"echo {write_mark(case)} {number}"


def find_case(event: str, data: Mapping[str, Any]) -> str | None:
    """The case that an event is about, if it is one of a check."""
    told = data.get("prompt") if event == PROMPT_SUBMIT else data.get("tool_input")
    found = _MARK.search(json.dumps(told, default=str))
    return found.group(1) if found else None


_FOLDER = "checks"
_ID = re.compile(rf"[a-z-]+-{SELF_TEST_PREFIX}([0-9a-f]{{16}})")
_PAUSE = 0.02


class Ticket:
    """One check under way, as both sides see it: who fires the events, and the hook."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def session_id(self) -> str:
        """What the agent would call its session."""
        return SELF_TEST_PREFIX + self._path.name

    @property
    def is_valid(self) -> bool:
        """Whether the check is still under way."""
        return self._path.exists()

    def report(self, case: str, **facts: Any) -> None:
        """Note that the hook was reached; a check that is over hears nothing."""
        line = json.dumps({"case": case, **facts}) + "\n"
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)

    def list_reports(self, case: str) -> list[dict[str, Any]]:
        """What the hook has noted about one case."""
        return [one for one in self._read()[1:] if one.get("case") == case]

    def wait_for_report(self, case: str, seconds: float) -> bool:
        """Whether the hook is reached within that time."""
        limit = time.monotonic() + seconds
        while not self.list_reports(case):
            if time.monotonic() > limit:
                return False
            time.sleep(_PAUSE)
        return True

    def read_seconds(self) -> float:
        """How long the check waits for what does not come."""
        return float((self._read() or [{"seconds": 0}])[0]["seconds"])

    def remove(self) -> None:
        """The check is over."""
        self._path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._path.parent.rmdir()

    def _read(self) -> list[dict[str, Any]]:
        try:
            lines = self._path.read_text().splitlines(keepends=True)
        except OSError:
            return []
        return [json.loads(line) for line in lines if line.endswith("\n")]


def make_ticket(folder: Path, seconds: float) -> Ticket:
    """Begin a check. Where the folder is not as it must be, the ticket is not valid."""
    place = folder / _FOLDER
    path = place / secrets.token_hex(8)
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w") as file:  # noqa: PTH123 - a descriptor
            file.write(json.dumps({"seconds": seconds}) + "\n")
    return Ticket(path)


def find_ticket(folder: Path, session_id: str) -> Ticket | None:
    """The check that a session of ours belongs to; None for all that agents really have."""
    named = _ID.fullmatch(session_id)
    if named is None:
        return None
    path = folder / _FOLDER / named.group(1)
    try:
        facts = path.lstat()
    except OSError:
        return None
    private = stat.S_ISREG(facts.st_mode) and not facts.st_mode & 0o077
    return Ticket(path) if private and facts.st_uid == os.geteuid() else None


REASON = "amplifier-check: denied, as the check wants it"
INJECTED = "amplifier-check: a text for the model"
QUESTION = "amplifier guard check: may this go on? No answer is needed."
REPLACED = "amplifier-check: what stands in the place of the result"
AGAIN = "amplifier-check: judged by the next process"
_HANGING = ("hang-", "crash-", "die")
_FIRST = -10_000
_STEP = 0.05
_MEETING = 5

Data = dict[str, Any]


def add_check_hook(folder: Path, coordinator: SessionCoordinator) -> None:
    """Put the hook into a session, if the session is one of a check that is under way."""
    ticket = find_ticket(folder, str(coordinator.session_id))
    if ticket is None:
        return
    record_self_test(coordinator, "amplifier guard check")
    hook = CheckHook(ticket, coordinator)
    for event in (TOOL_PRE, TOOL_POST, PROMPT_SUBMIT):
        remove = coordinator.hooks.register(
            event, hook.answer, _FIRST, SELF_TEST_HOOK, on_error="deny"
        )
        coordinator.register_cleanup(remove)
    for decided in (APPROVAL_GRANTED, APPROVAL_DENIED):
        remove = coordinator.hooks.register(decided, hook.note_decision, _FIRST, SELF_TEST_HOOK)
        coordinator.register_cleanup(remove)


class CheckHook:
    """Notes what it hears, and answers."""

    def __init__(self, ticket: Ticket, coordinator: SessionCoordinator) -> None:
        self._ticket = ticket
        self._coordinator = coordinator
        self._met: set[str] = set()
        self._all_met = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._answers: dict[tuple[str, str], Callable[[str, Data], Awaitable[HookResult]]] = {
            (TOOL_PRE, "deny"): self._deny,
            (PROMPT_SUBMIT, "prompt"): self._deny,
            (TOOL_PRE, "rewrite"): self._rewrite,
            (TOOL_PRE, "inject"): self._inject,
            (TOOL_PRE, "ask"): self._ask,
            (TOOL_PRE, "one"): self._meet,
            (TOOL_PRE, "other"): self._meet,
            (TOOL_POST, "replace"): self._replace,
        }

    async def answer(self, event: str, data: Data) -> HookResult:
        """Whatever is not one of the events of the check goes on untouched."""
        case = find_case(event, data)
        if case is None:
            return HookResult()
        before = self._ticket.list_reports(case)
        self._ticket.report(case, event=event, pid=os.getpid())
        if case == "die" and before:
            return HookResult(action="deny", reason=AGAIN)
        if case.startswith(_HANGING):
            return await self._hang(case)
        take = self._answers.get((event, case))
        return HookResult() if take is None else await take(case, data)

    async def note_decision(self, event: str, data: Data) -> HookResult:
        """Note how the question of the check was decided."""
        if data.get("hook") == SELF_TEST_HOOK:
            self._ticket.report("decided", how=data.get("how"), by=data.get("by"))
        return HookResult()

    async def _deny(self, case: str, data: Data) -> HookResult:
        return HookResult(action="deny", reason=REASON)

    async def _rewrite(self, case: str, data: Data) -> HookResult:
        changed = {**data["tool_input"], "command": write_command("rewritten")}
        return HookResult(action="modify", data={**data, "tool_input": changed})

    async def _inject(self, case: str, data: Data) -> HookResult:
        return HookResult(action="inject_context", context_injection=INJECTED)

    async def _replace(self, case: str, data: Data) -> HookResult:
        changed = {**data["tool_result"], "output": REPLACED}
        return HookResult(action="modify", data={**data, "tool_result": changed})

    async def _ask(self, case: str, data: Data) -> HookResult:
        find = self._coordinator.get_capability("approval.find")
        seconds = self._ticket.read_seconds()
        if self._coordinator.handovers.list_calls():  # judged again, after it was asked
            self._ticket.report("handed-over")
        if find is not None:
            self._looking = asyncio.create_task(self._look_for_question(find, seconds))
        return HookResult(
            action="ask_user", approval_prompt=QUESTION, approval_timeout=seconds, reason=REASON
        )

    async def _look_for_question(self, find: Any, seconds: float) -> None:
        """Note when the question waits where people elsewhere see it."""
        if await find(SELF_TEST_HOOK, QUESTION, seconds) is not None:
            self._ticket.report("ask-elsewhere")

    async def _hang(self, case: str) -> HookResult:
        """Wait until the check lets go, or is over: no process stays busy because of it."""
        # What is waited for is a line in a file.
        while self._ticket.is_valid and not self._ticket.list_reports(f"free-{case}"):  # noqa: ASYNC110
            await asyncio.sleep(_STEP)
        self._ticket.report(f"freed-{case}")
        return HookResult(action="deny", reason="The check is over.")

    async def _meet(self, case: str, data: Data) -> HookResult:
        """Wait for the other call: both are answered only if both are here at once."""
        self._met.add(case)
        if len(self._met) == 2:
            self._all_met.set()
        async with asyncio.timeout(_MEETING * self._ticket.read_seconds()):
            await self._all_met.wait()
        return HookResult(action="deny", reason=f"{REASON}: {case}")
