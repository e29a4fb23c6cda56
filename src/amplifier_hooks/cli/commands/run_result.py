"""The last line of `run --json` when a run did not come to its end: how it ended, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.cli.display.display import Display

_BY_CODE = {
    exit_codes.USAGE: "usage",
    exit_codes.CONFIGURATION: "unusable",
    exit_codes.NO_MODEL: "no_model",
    exit_codes.DENIED: "denied",
    exit_codes.TERMINATED: "terminated",
}


UNKNOWN = {
    "response": "",
    "session_id": None,
    "working_dir": None,
    "finish_reason": None,
    "truncated": False,
}
"""The facts of a result, as long as nothing is known."""


class RunCommand(click.Command):
    """A command whose `--json` ends with a result, wrong usage included."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if "--json" not in args:
            return super().make_context(info_name, args, parent, **extra)
        with report_failure(_open_display(), {}):
            return super().make_context(info_name, args, parent, **extra)


@contextmanager
def report_failure(display: Display, facts: dict[str, Any]) -> Iterator[None]:
    """Show the result of a run that raises, with the facts known by then, and raise it again."""
    try:
        yield
    except click.exceptions.Exit:  # --help has no result
        raise
    except BaseException as error:
        ending = {"status": name_status(error), "error": describe_failure(error)}
        display.show_result(**{**UNKNOWN, **facts, **ending})
        raise


def name_status(error: BaseException) -> str:
    """One word for the way in which a run failed."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted"
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, click.ClickException):
        return _BY_CODE.get(error.exit_code, "failed")
    return _BY_CODE.get(exit_codes.find_exit_code(error), "failed")


def describe_failure(error: BaseException) -> str:
    """What went wrong, in a sentence."""
    if name_status(error) == "interrupted":
        return "Interrupted."
    text = error.format_message() if isinstance(error, click.ClickException) else str(error)
    return escape(text.strip(), lines=True) or type(error).__name__


def _open_display() -> Display:
    from amplifier_hooks.cli.display.display import make_display

    return make_display("json")
