"""The session of the demonstration: its bundle, its approvals, its display, its page."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from amplifier_audit import AuditError, create_key
from amplifier_core.approval import AnyApprovalSystem, ApprovalAnswer, ApprovalQuestion, read_option
from amplifier_hooks.agent.bundles import Bundle, load_bundle
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.remote_approval import Elsewhere
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval
from amplifier_hooks.cli.commands.demo.report import PROMPT, find_ruff, make_bundle
from amplifier_hooks.cli.display.display import Display, choose_mode, make_display
from amplifier_hooks.cli.display.observer import observe
from amplifier_hooks.cli.text.output import print_line
from amplifier_hooks.machine.locations import get_user_name


@asynccontextmanager
async def offer_page(folder: Path, project: Path, port: int) -> AsyncIterator[Elsewhere]:
    """Serve the page and say how to open it; whoever does decides what the demonstration asks."""
    # Only here, because the demonstration in the terminal does without the server's packages.
    from amplifier_hooks.server.server import serve_beside
    from amplifier_hooks.server.settings import ServerSettings, name_address

    settings = ServerSettings(port=port, folder=project)
    store = await open_store(folder / "outside" / "store.db")
    async with store, serve_beside(store, settings) as listening:
        code = await store.access.add_code(get_user_name(), ("read", "decide"))
        address = f"{name_address(listening)}/#code={code}"
        print_line(("title", "Open this in your browser; the question will appear there:"))
        print_line(("tool", f"  {address}"))
        print_line("")
        sys.stdout.flush()
        yield Elsewhere({"via": "store"}, [store.as_link()], project)


async def linger() -> None:
    """Leave the page up for a person who looks at it, until they press Ctrl-C.

    Without a terminal, as in CI, nobody could; what is printed may go to a file all the same.
    """
    if not (sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())):
        return
    print_line("")
    print_line(("title", "The page stays up: look at Sessions, Statistics and Trail there."))
    print_line(("dim", "Ctrl-C here ends it."))
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:  # Ctrl-C: the demonstration is over, and nothing is wrong
        print_line("")
        print_line(("dim", "The page has ended."))


Answer = Literal["yes", "no"]


class FixedApproval:
    """Gives every question the same answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        """The first option that means what the flag says."""
        return self._choose(options)

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The same, with the flag as the one who decided."""
        return ApprovalAnswer(self._choose(question.options), by=f"--{self._answer}")

    def _choose(self, options: Sequence[str]) -> str:
        wanted = self._answer == "yes"
        return next((one for one in options if read_option(one).allows == wanted), "Deny")


LIVE_PAUSE = 0.03
"""Seconds between two words where a person looks on."""


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides: an approval system at the terminal, or people elsewhere. Neither: nobody."""

    make_system: Callable[[Display], AnyApprovalSystem] | None = None
    elsewhere: Elsewhere | None = None


async def run_session(folder: Path, timeout: float, decider: Decider) -> str:
    """Run it to its end; returns its id."""
    mode = choose_mode(as_json=False)
    display = make_display(mode)
    project = folder / "project"
    pause = LIVE_PAUSE if mode == "live" else 0.0
    bundle = await asyncio.to_thread(_write_bundle, folder, pause, timeout)
    session = await open_session(
        bundle,
        approval_system=decider.make_system(display) if decider.make_system else None,
        elsewhere=decider.elsewhere,
        display_system=display,
        working_dir=project,
        hot_reload=False,
    )
    async with session:
        observe(session.coordinator.hooks, display, session.coordinator.scrub)
        display.start()
        try:
            await session.execute(PROMPT)
        finally:
            display.stop()
        await asyncio.to_thread(_write_transcript, folder, await session.state())
    return session.session_id


def choose_approval(answer: Answer | None, project: Path, *, asks: bool) -> Decider:
    """The answer that was given on the command line, or the person at the terminal."""
    if answer is not None:
        return Decider(lambda display: FixedApproval(answer))
    if not asks:
        return Decider()
    running = asyncio.current_task()

    def stop() -> None:
        if running is not None:
            running.cancel()

    return Decider(
        lambda display: TerminalApproval(base=project, display=display, on_interrupt=stop)
    )


def _write_bundle(folder: Path, pause: float, timeout: float) -> Bundle:
    """Written to a file and loaded, as any bundle is."""
    (folder / "outside").mkdir(exist_ok=True)
    document = make_bundle(
        folder, pause=pause, key=_make_key(folder), seconds=timeout, lint=find_ruff() is not None
    )
    path = folder / "amplifier.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return load_bundle(path, user=False, defaults=False)


def _make_key(folder: Path) -> Path | None:
    """A signing key of its own; without the extra the trail is unsigned, and the report says so."""
    path = folder / "outside" / "audit.key"
    try:
        create_key(path)
    except AuditError:
        return None
    return path


def _write_transcript(folder: Path, state: dict[str, Any]) -> None:
    (folder / "transcript.json").write_text(json.dumps(state, default=str), encoding="utf-8")
