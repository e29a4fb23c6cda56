"""The options of the audit commands, the trails that they mean, and how far reading one is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import add_options

if TYPE_CHECKING:
    from amplifier_hooks.agent.bundles import Bundle
    from amplifier_hooks.agent.session.inspection.trails import Root, Trail
    from amplifier_hooks.agent.session.origin import Origin

F = TypeVar("F", bound=Callable[..., Any])

_BUNDLE_KEY = "amplifier.audit.bundle"


class Unreadable(click.ClickException):
    """The log, or a file that belongs to it, cannot be read."""

    exit_code = exit_codes.USAGE


def find_log(context: click.Context, _parameter: click.Parameter, given: str | None) -> Path:
    """The directory that was named, the trail of the session that was named, or the newest one
    of this folder's bundle."""

    if given is not None:
        return _look_into(Path(given)) if Path(given).exists() else find_named(given)
    if context.resilient_parsing:
        return Path()
    trail, origin = find_own(context.meta.get(_BUNDLE_KEY))
    age = _format_age(trail.updated)
    which = Path(origin.file).name if origin.file else "the packaged bundle"
    _print_choice(f"The newest trail of {which} in this folder: {_shorten(trail.path)}, {age}")
    return trail.path


def _look_into(path: Path) -> Path:
    """A log, or the newest one in a folder of them."""

    trail = find_inside(path)
    if trail is None:
        return path
    _print_choice(
        f"The newest trail in {path}: {_shorten(trail.path)}, {_format_age(trail.updated)}"
    )
    return trail.path


def _shorten(path: Path) -> str:
    from amplifier_hooks.agent.session.inspection.trails import shorten_trails

    return shorten_trails([path])[path]


def _print_choice(text: str) -> None:
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


LIST = "amplifier audit list"


def find_inside(folder: Path) -> Trail | None:
    """The newest trail in a folder that is not one itself, or in the folders below it."""
    from amplifier_hooks.agent.session.inspection.trails import holds_log, list_logs_below
    from amplifier_hooks.agent.session.origin import is_self_test

    if not folder.is_dir() or holds_log(folder):
        return None
    newest_first = reversed(list_logs_below(folder))
    return next((one for one in newest_first if not is_self_test(one.path)), None)


def report_unused_path(root: Root | None = None) -> None:
    """Say on standard error that a bundle that is not trusted does not say where trails lie."""
    from amplifier_hooks.agent.bundles import BundleError
    from amplifier_hooks.agent.session.inspection.trails import find_root

    try:
        root = root or find_root()
    except (BundleError, OSError):
        return  # whoever looks for a trail is not stopped by the bundle
    if root.note:
        click.echo(f"Note: {root.note}", err=True)


def find_named(name: str) -> Path:
    """The trail of a session, by the start of its id or by its name."""
    from amplifier_hooks.agent.session.inspection.trails import TrailNotFound, find_named_trail

    report_unused_path()
    try:
        return find_named_trail(name)
    except TrailNotFound as error:
        raise click.UsageError(str(error)) from error


def select(
    names: Sequence[str] = (), *, everywhere: bool = False, self_tests: bool = False
) -> list[Path]:
    """The trails that are named, or all of this folder, or of this machine; there may be none."""
    from amplifier_hooks.agent.session.inspection.trails import TrailNotFound, select_trails

    if not names or not all(Path(name).exists() for name in names):
        report_unused_path()
    try:
        return select_trails(names, everywhere=everywhere, self_tests=self_tests)
    except TrailNotFound as error:
        raise click.UsageError(str(error)) from error


def select_recorded(
    names: Sequence[str], everywhere: bool, *, self_tests: bool = False
) -> list[Path]:
    """The same, where there must be one."""
    found = select(names, everywhere=everywhere, self_tests=self_tests)
    if not found:
        where = "on this machine" if everywhere else "of this folder"
        raise click.UsageError(
            f"There is no recorded session {where}; name a trail, the start of a session's id "
            "or a session's name" + ("" if everywhere else ", or use --everywhere")
        )
    return found


def find_own(bundle_file: Path | None = None) -> tuple[Trail, Origin]:
    """The newest trail of this folder's bundle, and where that bundle comes from."""
    from amplifier_hooks.agent.bundles import BundleError, load_bundle
    from amplifier_hooks.agent.session.inspection.trails import (
        find_home,
        find_root,
        find_trail_origin,
        list_trails,
    )
    from amplifier_hooks.agent.session.origin import find_origin, is_self_test

    try:
        bundle = load_bundle(bundle_file)
    except BundleError as error:
        raise click.UsageError(
            f"The trail cannot be found, because the bundle cannot be read: {error}\n"
            f"Name a trail; {LIST} shows them."
        ) from error
    wanted = find_origin(bundle, Path.cwd())
    place = find_root(bundle_file, bundle=bundle)
    report_unused_path(place)
    root = place.path
    others: set[str] = set()
    for trail in list_trails(root):
        origin = find_trail_origin(trail)
        if is_self_test(trail.path):
            continue
        if _is_meant(origin, wanted, is_home=root == find_home()):
            return trail, wanted
        if origin is not None and origin.folder == wanted.folder:
            others.add(origin.file)
    raise click.UsageError(_explain_absence(bundle, root, wanted, others))


def _is_meant(origin: Origin | None, wanted: Origin, *, is_home: bool) -> bool:
    if origin is None:  # an older trail; whose it is, only a place of its own says
        return not is_home
    if origin.bundle and origin.file != wanted.file:
        return False
    # A project's bundle is one of a kind, wherever it is used; all others are used everywhere.
    return origin.folder == wanted.folder or _is_of_a_project(origin)


def _is_of_a_project(origin: Origin) -> bool:
    from amplifier_hooks.machine.locations import find_config_home

    personal = find_config_home() / "amplifier"
    return bool(origin.file) and not Path(origin.file).is_relative_to(personal)


def _explain_absence(bundle: Bundle, root: Path, wanted: Origin, others: set[str]) -> str:
    return " ".join(_list_reasons(bundle, root, wanted, others))


def _list_reasons(bundle: Bundle, root: Path, wanted: Origin, others: set[str]) -> Iterator[str]:
    what = wanted.file or "the packaged bundle"
    yield f"There is no trail of {what} in {wanted.folder} yet (looked in {root})."
    audit = bundle.mount_plan["audit"]
    if audit.get("socket"):
        yield f"The writer at {audit['socket']} keeps the trails of this bundle."
    elif not audit.get("enabled"):
        yield "The bundle has audit.enabled: false."
    if files := sorted(one for one in others if one):
        yield f"Trails of this folder are of other bundles: --bundle {files[0]}."
    yield f"Name the directory of a log or the start of a session's id; {LIST} shows them."


PATIENCE = 0.5
"""Seconds after which somebody wants to know whether anything happens."""
_PAUSE = 0.1


class Progress:
    """One line on standard error, drawn once the work takes long and wiped when it is done."""

    def __init__(self, what: str, total: int, now: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._total = total
        self._now = now
        self._next = now() + PATIENCE if sys.stderr.isatty() else float("inf")
        self._drawn = False

    def update(self, done: int) -> None:
        """So much of the total is done."""
        if self._now() < self._next:
            return
        self._next = self._now() + _PAUSE
        share = f" {min(100, 100 * done // self._total)} %" if self._total else f" {done:,}"
        self._draw(f"{self._what}{share}")

    def clear(self) -> None:
        """Wipe the line, because something else is about to be written."""
        if self._drawn:
            self._draw("")
        self._drawn = False

    def end(self) -> None:
        """Wipe the line for good."""
        self.clear()
        self._next = float("inf")

    def _draw(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()
        self._drawn = True


@contextmanager
def show_progress(what: str, total: int) -> Iterator[Progress]:
    """A line that is gone when the work is done, however it ends."""
    progress = Progress(what, total)
    try:
        progress.update(0)
        yield progress
    finally:
        progress.end()
