"""The arguments and options of the audit commands, and what becomes of their errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.options import add_options

F = TypeVar("F", bound=Callable[..., Any])


class Unreadable(click.ClickException):
    """The log, or a file that belongs to it, cannot be read."""

    exit_code = exit_codes.USAGE


def find_log(_context: click.Context, _parameter: click.Parameter, given: str | None) -> Path:
    """The directory that was named, the trail of the session that was named, or the newest."""
    if given is not None and Path(given).exists():
        return Path(given)
    home = _find_home()
    trails = sorted(home.glob("*/"), key=lambda trail: trail.stat().st_mtime)
    if given is not None:
        return next((one for one in trails if one.name.startswith(given)), Path(given))
    if not trails:
        raise click.UsageError(f"There is no trail in {home} yet; name the directory of a log.")
    click.echo(f"The newest trail: {trails[-1]}", err=True)
    return trails[-1]


def find_owner(log: Path) -> str | None:
    """Whose trail a folder must hold, if it is one of those that sessions write to."""
    return log.resolve().name if log.resolve().parent == _find_home().resolve() else None


def _find_home() -> Path:
    from amplifier_foundation.machine.user_folders import find_data_home

    return find_data_home() / "amplifier" / "audit"


def parse_time(
    _context: click.Context, _parameter: click.Parameter, given: str | None
) -> str | None:
    """A time as the records have it."""
    from amplifier_audit import AuditError
    from amplifier_audit.reader import queries

    try:
        return None if given is None else queries.parse_time(given)
    except AuditError as error:
        raise click.BadParameter(str(error)) from error


LOG = click.argument("log", callback=find_log)
LOG_OR_NEWEST = click.argument("log", required=False, callback=find_log)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")

_FILTERS = [
    click.option("--session", help="Only this session."),
    click.option("--hook", help="Only records that name this hook."),
    click.option("--event", help="Only this event, such as tool:pre."),
    click.option("--action", help="Only this action, such as deny."),
    click.option("--type", help="Only this type, such as approval_decided."),
    click.option(
        "--after", callback=parse_time, help="From this time on, such as 2026-11-15T09:00."
    ),
    click.option("--before", callback=parse_time, help="Before this time."),
]


def add_filters(command: F) -> F:
    """Give a command the options that select records."""
    return add_options(command, _FILTERS)


def report_errors(command: F) -> F:
    """Make of every error of the trail one sentence and exit code 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from amplifier_audit import AuditError

        try:
            return command(*args, **kwargs)
        except AuditError as error:
            raise Unreadable(str(error)) from error
        except OSError as error:
            raise Unreadable(f"{error.strerror or error}: {error.filename}") from error

    return wrapped  # type: ignore[return-value]
