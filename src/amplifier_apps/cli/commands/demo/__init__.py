"""amplifier demo: a scripted model, everything else real, in about a minute or a few seconds."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amplifier_apps.cli.commands.demo.report import Checked
    from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion

SECONDS = 30.0

EPILOG = """\b
Examples:
  amplifier demo            asks you, if there is a terminal
  amplifier demo --yes      answers yes
  amplifier demo --keep     leaves the folder, with its audit trail, for you to look at
"""


@click.command(epilog=EPILOG)
@click.option("--yes", "answer", flag_value="yes", help="Allow the production write.")
@click.option("--no", "answer", flag_value="no", help="Refuse it.")
@click.option("--keep", is_flag=True, help="Keep the folder it works in.")
@click.option("--timeout", default=SECONDS, show_default=True, help="Seconds to decide.")
def demo(answer: str | None, keep: bool, timeout: float) -> int:
    """See what hooks do: a real linter, real files, a real question, a real audit trail.

    Only the model is scripted. Without a terminal the question is refused, the safe default.
    """
    with _folder(keep) as folder:
        return asyncio.run(_demo(folder, answer, keep, timeout))


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="amplifier-demo-")).resolve()
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


async def _demo(folder: Path, answer: str | None, keep: bool, timeout: float) -> int:
    from amplifier_apps.cli.commands.demo import report as demo_report
    from amplifier_apps.cli.commands.demo.story import PROMPT, furnish

    await asyncio.to_thread(furnish, folder / "project")
    _introduce(PROMPT, answer)
    session_id = await _play(folder, answer, timeout)
    facts = await asyncio.to_thread(demo_report.check, folder, session_id)
    demo_report.tell(facts, folder if keep else None)
    return _exit_code(facts)


def _exit_code(facts: Checked) -> int:
    """In CI the demonstration is a test: what it shows must have happened."""
    return 0 if all(fact.holds for fact in facts.facts) else 1


def _introduce(prompt: str, answer: str | None) -> None:
    from amplifier_apps.cli.commands.demo.report import ruff
    from amplifier_apps.cli.text import paper

    paper.say(("title", "amplifier demo"), ("dim", "  the model is scripted, the rest is real"))
    if answer is None and not _can_ask():
        paper.say(("warn", "No terminal here: nobody can be asked, so what asks is refused."))
    if ruff() is None:
        paper.say(("warn", "ruff is not installed, so the linter has nothing to do in this run."))
    paper.say("")
    paper.say(("tool", "› "), ("title", prompt))
    paper.say("")
    sys.stdout.flush()


def _can_ask() -> bool:
    from amplifier_apps.cli.terminal import NoTerminal, controlling_terminal

    try:
        with controlling_terminal():
            return True
    except NoTerminal:
        return False


async def _play(folder: Path, answer: str | None, timeout: float) -> str:
    """The session itself; returns its id."""
    from amplifier_apps.cli.approval.terminal_approval import TerminalApproval
    from amplifier_apps.cli.commands.demo.story import PROMPT
    from amplifier_apps.cli.display.display import make_display, mode_for, observe
    from amplifier_foundation.session.assembly import open_session

    mode = mode_for(as_json=False)
    display = make_display(mode)
    project = folder / "project"
    bundle = await asyncio.to_thread(_bundle, folder, 0.03 if mode == "live" else 0.0, timeout)
    asking = TerminalApproval(base=project, display=display)
    session = await open_session(
        bundle,
        approval_system=FixedApproval(answer) if answer else asking if _can_ask() else None,
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
        await asyncio.to_thread(_keep_transcript, folder, await session.state())
    return session.session_id


def _bundle(folder: Path, pause: float, timeout: float) -> Any:
    """Written to a file and loaded, as any bundle is."""
    import yaml

    from amplifier_apps.cli.commands.demo.report import ruff
    from amplifier_apps.cli.commands.demo.story import bundle_of
    from amplifier_foundation.bundles import load_bundle

    (folder / "outside").mkdir()
    document = bundle_of(
        folder, pause=pause, key=_key(folder), seconds=timeout, lint=ruff() is not None
    )
    path = folder / "amplifier.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return load_bundle(path, user=False, defaults=False)


def _key(folder: Path) -> Path | None:
    """A signing key of its own; without the extra the trail is unsigned, and the report says so."""
    from amplifier_audit import create_key
    from amplifier_core.errors import AmplifierError

    path = folder / "outside" / "audit.key"
    try:
        create_key(path)
    except AmplifierError:
        return None
    return path


def _keep_transcript(folder: Path, state: dict[str, Any]) -> None:
    import json

    (folder / "transcript.json").write_text(json.dumps(state, default=str), encoding="utf-8")


class FixedApproval:
    """Answers for the person who passed --yes or --no."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        """The first option that means what the flag says."""
        from amplifier_core.approval import allows

        wanted = self._answer == "yes"
        return next((one for one in options if allows(one) == wanted), "Deny")

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The same, with a name on it."""
        from amplifier_core.approval import ApprovalAnswer

        options = list(question.options)
        option = await self.request_approval(question.prompt, options, 0, question.default)
        return ApprovalAnswer(option, by=f"--{self._answer}")
