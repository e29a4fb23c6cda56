"""amplifier demo: a scripted model, everything else real, in about a minute or a few seconds."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.demo.session import Answer

SECONDS = 30.0
PAGE_SECONDS = 600.0

EPILOG = """\b
Examples:
  amplifier demo            asks you, if there is a terminal
  amplifier demo --web      asks you in the browser
  amplifier demo --yes      answers yes
  amplifier demo --keep     leaves the folder, with its audit trail, for you to look at
"""


@click.command(epilog=EPILOG)
@click.option("--yes", "answer", flag_value="yes", help="Allow the production write.")
@click.option("--no", "answer", flag_value="no", help="Refuse it.")
@click.option("--keep", is_flag=True, help="Keep the folder it works in.")
@click.option("--web", is_flag=True, help="Ask on a page in the browser, not in the terminal.")
@click.option("--port", default=8411, show_default=True, help="The port of the page; 0: any.")
@click.option(
    "--timeout",
    type=float,
    help=f"Seconds to decide; by default {SECONDS:g}, with --web {PAGE_SECONDS:g}.",
)
def demo(answer: Answer | None, keep: bool, web: bool, port: int, timeout: float | None) -> int:
    """See what hooks do: a real linter, real files, a real question, a real audit trail.

    Only the model is scripted. Without a terminal the question is refused, the safe default.
    """
    if web and answer is not None:
        raise click.UsageError(f"--web asks you in the browser; leave out --{answer}")
    seconds = timeout or (PAGE_SECONDS if web else SECONDS)
    with _make_folder(keep) as folder:
        try:
            if web:
                return asyncio.run(_demo_in_browser(folder, port, seconds, keep))
            return asyncio.run(_demo(folder, answer, keep, seconds))
        except asyncio.CancelledError:  # Ctrl-C at the question, which keeps the key for itself
            raise KeyboardInterrupt from None


@contextmanager
def _make_folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="amplifier-demo-")).resolve()
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
            _forget(folder)


def _forget(folder: Path) -> None:
    from amplifier_hooks.sandbox.seal_keeper import forget_journal

    forget_journal(folder / "project")


async def _demo(folder: Path, answer: Answer | None, keep: bool, timeout: float) -> int:
    """In CI the demonstration is a test: what it shows must have happened."""
    from amplifier_hooks.cli.commands.demo.session import choose_approval, run_session

    await _write_files(folder)
    asks = answer is None and _can_ask()
    _introduce(warn=answer is None and not asks)
    approval = choose_approval(answer, folder / "project", asks=asks)
    return await _report(folder, await run_session(folder, timeout, approval), keep)


async def _demo_in_browser(folder: Path, port: int, timeout: float, keep: bool) -> int:
    """The same, decided on the page, which shows the session as well."""
    from amplifier_hooks.cli.commands.demo.session import Decider, run_session
    from amplifier_hooks.cli.commands.serve import require_server

    require_server()
    from amplifier_hooks.cli.commands.demo.session import linger, offer_page

    await _write_files(folder)
    (folder / "outside").mkdir()
    _introduce(warn=False)
    async with offer_page(folder, folder / "project", port) as people:
        session_id = await run_session(folder, timeout, Decider(elsewhere=people))
        code = await _report(folder, session_id, keep)
        await linger()
    return code


async def _write_files(folder: Path) -> None:
    from amplifier_hooks.cli.commands.demo.session import write_files

    await asyncio.to_thread(write_files, folder / "project")


async def _report(folder: Path, session_id: str, keep: bool) -> int:
    from amplifier_hooks.cli.commands.demo.session import check_results, print_report

    results = await asyncio.to_thread(check_results, folder, session_id)
    print_report(results, folder if keep else None)
    return exit_codes.DONE if results.all_hold else exit_codes.FAILED


def _introduce(*, warn: bool) -> None:
    from amplifier_hooks.cli.commands.demo.session import PROMPT, find_ruff
    from amplifier_hooks.cli.text.output import print_line

    print_line(("title", "amplifier demo"), ("dim", "  the model is scripted, the rest is real"))
    if warn:
        print_line(
            ("warn", "There is no terminal to ask on, so the answer to every question is no.")
        )
    if find_ruff() is None:
        print_line(("warn", "ruff is not installed, so the linter has nothing to do in this run."))
    print_line("")
    print_line(("tool", "› "), ("title", PROMPT))
    print_line("")
    sys.stdout.flush()


def _can_ask() -> bool:
    from amplifier_hooks.cli.terminal import NoTerminal, open_terminal

    try:
        with open_terminal():
            return True
    except NoTerminal:
        return False
