"""The arguments and options of the audit commands, and what becomes of their errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import add_options

F = TypeVar("F", bound=Callable[..., Any])

_BUNDLE_KEY = "amplifier.audit.bundle"


class Unreadable(click.ClickException):
    """The log, or a file that belongs to it, cannot be read."""

    exit_code = exit_codes.USAGE


def find_log(context: click.Context, _parameter: click.Parameter, given: str | None) -> Path:
    """The directory that was named, the trail of the session that was named, or the newest one
    of this folder's bundle."""
    from amplifier_hooks.cli.commands.audit.trails import find_named, find_own

    if given is not None:
        return _look_into(Path(given)) if Path(given).exists() else find_named(given)
    if context.resilient_parsing:
        return Path()
    trail, origin = find_own(context.meta.get(_BUNDLE_KEY))
    age = _format_age(trail.updated)
    which = Path(origin.file).name if origin.file else "the packaged bundle"
    _tell(f"The newest trail of {which} in this folder: {_shorten(trail.path)}, {age}")
    return trail.path


def _look_into(path: Path) -> Path:
    """A log, or the newest one in a folder of them."""
    from amplifier_hooks.cli.commands.audit.trails import find_inside

    trail = find_inside(path)
    if trail is None:
        return path
    _tell(f"The newest trail in {path}: {_shorten(trail.path)}, {_format_age(trail.updated)}")
    return trail.path


def _shorten(path: Path) -> str:
    from amplifier_hooks.agent.session.inspection.trails import shorten_trails

    return shorten_trails([path])[path]


def _tell(text: str) -> None:
    """Say which trail was taken, on standard error: the output stays clean."""
    import sys
    from textwrap import fill

    from amplifier_hooks.cli.text.output import get_width

    click.echo(fill(text, get_width() - 1) if sys.stderr.isatty() else text, err=True)


def _format_age(updated: float) -> str:
    from datetime import UTC, datetime

    from amplifier_hooks.cli.text.output import format_age

    return format_age(datetime.fromtimestamp(updated, UTC).isoformat())


def _note_bundle(context: click.Context, _parameter: click.Parameter, given: Path | None) -> None:
    context.meta[_BUNDLE_KEY] = given


def find_owner(log: Path) -> str | None:
    """Whose trail a folder must hold, if it is one of those that sessions write to."""
    from amplifier_hooks.agent.session.inspection.trails import list_roots

    roots = [root.resolve() for root in list_roots(untrusted=True)]
    return log.resolve().name if log.resolve().parent in roots else None


def parse_time(
    _context: click.Context, _parameter: click.Parameter, given: str | None
) -> str | None:
    """A time as the records have it, from one on the clock of whoever writes it."""
    from amplifier_hooks.text.times import InvalidTime, parse_time

    try:
        return None if given is None else parse_time(given)
    except InvalidTime as error:
        raise click.BadParameter(str(error)) from error


EVIDENCE = [
    click.option("--key", help="Public key, as text or as a file."),
    click.option(
        "--anchor", "anchors", multiple=True, help="File with checkpoints that was kept elsewhere."
    ),
    click.option(
        "--witness",
        "witnesses",
        multiple=True,
        metavar="URL",
        help="Server that keeps checkpoints of the trail; its token is AMPLIFIER_TOKEN.",
    ),
]


SINCE = click.option(
    "--since",
    callback=parse_time,
    help="From this time on: yesterday, 24h, 7d, 2026-11-15, 2026-11-15T09:30.",
)
UNTIL = click.option("--until", callback=parse_time, help="Before this time, written like --since.")
LOG = click.argument("log", callback=find_log)
_BUNDLE = click.option(
    "--bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    is_eager=True,
    expose_value=False,
    callback=_note_bundle,
    help="Use the newest trail of this bundle, not of ./amplifier.yaml.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
ALL = click.option("--all", "everything", is_flag=True, help="Every record, one line each.")

_FILTERS = [
    click.option("--session", help="Only this session, by its id or the start of it."),
    click.option("--hook", help="Only records that name this hook."),
    click.option("--event", help="Only this event, such as tool:pre."),
    click.option("--action", help="Only this action, such as deny."),
    click.option("--type", help="Only this type, such as approval_decided."),
    click.option(
        "--after",
        "--since",
        "after",
        callback=parse_time,
        help="From this time on: 09:30 (today), yesterday, 24h, 7d, 2026-11-15, 2026-11-15T09:30.",
    ),
    click.option(
        "--before",
        "--until",
        "before",
        callback=parse_time,
        help="Before this time, written like --after.",
    ),
]


def add_log(command: F) -> F:
    """Let a command work on the trail that is named, or on the newest one of this folder."""
    return add_options(command, [click.argument("log", required=False, callback=find_log), _BUNDLE])


def add_evidence(command: F) -> F:
    """Let a command verify with what a person names; without, with what the trail's bundle does."""
    return add_options(command, EVIDENCE)


def add_filters(command: F) -> F:
    """Give a command the options that select records."""
    return add_options(command, _FILTERS)


def report_errors(command: F) -> F:
    """Make of every error of the trail one sentence and exit code 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from amplifier_audit import AuditError
        from amplifier_audit.streams import is_output_failure

        try:
            return command(*args, **kwargs)
        except AuditError as error:
            raise Unreadable(str(error)) from error
        except OSError as error:
            if is_output_failure(error):  # the log was read
                raise
            raise Unreadable(f"{error.strerror or error}: {error.filename}") from error

    return wrapped  # type: ignore[return-value]
