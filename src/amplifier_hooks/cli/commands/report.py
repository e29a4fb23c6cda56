"""amplifier report: what sessions did, for people who were not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli.commands.audit.options import (
    SINCE,
    UNTIL,
    Unreadable,
    add_evidence,
    report_errors,
)
from amplifier_hooks.cli.options import SELF_TESTS

if TYPE_CHECKING:
    from amplifier_hooks.insight.reports import Format, ReportFigures, ReportRequest

EPILOG = """\b
Examples:
  amplifier report                    the newest session of this folder
  amplifier report 3f0c --open        a session, by the start of its id
  amplifier report --all --since 7d
  amplifier report ./trail --key audit.pub --anchor checkpoints
  amplifier report --format md        for a ticket
"""

_STDOUT = "-"


@click.command(epilog=EPILOG)
@click.argument("trails", nargs=-1, metavar="[TRAIL]...")
@click.option("--all", "everything", is_flag=True, help="All sessions of this folder.")
@SELF_TESTS
@SINCE
@UNTIL
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write it; - prints it. [default: report-ID.html]",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["html", "md", "json"]),
    help="By default as FILE ends, else html. md and json are printed.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--open", "opens", is_flag=True, help="Open it in the browser.")
@add_evidence
@click.option(
    "--chapters",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many of the newest sessions get a chapter.",
)
@report_errors
def report(
    trails: tuple[str, ...],
    everything: bool,
    self_tests: bool,
    since: str | None,
    until: str | None,
    output: str | None,
    format_name: Format | None,
    force: bool,
    opens: bool,
    key: str | None,
    anchors: tuple[str, ...],
    witnesses: tuple[str, ...],
    chapters: int,
) -> None:
    """Write a report of sessions, for people who were not there.

    One file of HTML that needs no network: what the agent did, what hooks did, who approved
    what, what it cost, and what the trail proves. TRAIL is the directory of a log or of several,
    the start of a session's id, or a session's name. Without --key, --anchor and --witness, trails
    are verified with what their bundles name, if you trust these.
    """
    from amplifier_hooks.agent.session.inspection.evidence import give_evidence
    from amplifier_hooks.insight.reports import Period, ReportRequest, render_report

    chosen = _choose_format(format_name, output)
    is_printed = output == _STDOUT or (output is None and chosen != "html")
    if opens and is_printed:
        raise click.UsageError("--open needs a file; -o names one.")
    period = Period(since or "", until or "")
    given = give_evidence(key, anchors, witnesses)
    paths = _select(trails, everything or bool(period), self_tests)
    figures = _read(ReportRequest(paths, period, given or None, chapters))
    _warn(figures)
    text = render_report(figures, chosen)
    if is_printed:
        click.echo(text, nl=False)
        return
    path = _name_file(figures, output, chosen)
    _write(path, text, force)
    click.echo(str(path))
    if opens:
        _open(path)


def _choose_format(given: Format | None, output: str | None) -> Format:
    """The format that was named, or the one that the file's name ends with."""
    endings: dict[str, Format] = {".md": "md", ".json": "json"}
    return given or endings.get(Path(output or "").suffix.lower(), "html")


def _select(names: tuple[str, ...], everything: bool, self_tests: bool) -> list[Path]:
    from amplifier_hooks.agent.session.inspection.trails import shorten_trails
    from amplifier_hooks.cli.commands.audit.options import select

    found = select(names, self_tests=self_tests)
    if not found:
        raise click.UsageError(
            f"No session has worked in {Path.cwd()} and left a trail. Name the directory of a "
            "log, the start of a session's id, or a session's name; amplifier audit list shows "
            "them."
        )
    if names or everything:
        return found
    newest = shorten_trails(found[-1:])[found[-1]]
    click.echo(f"The newest trail of this folder: {newest}", err=True)
    return found[-1:]


def _read(wanted: ReportRequest) -> ReportFigures:
    from amplifier_hooks.cli.commands.audit.options import show_progress
    from amplifier_hooks.insight.reports import read_report
    from amplifier_hooks.insight.reports.collect import measure_trail

    with show_progress("Reading", sum(map(measure_trail, wanted.trails))) as progress:
        figures = read_report(wanted, progress=progress.update)
    if not figures.totals.sessions:
        raise Unreadable(_explain_nothing(figures))
    return figures


def _explain_nothing(figures: ReportFigures) -> str:
    if figures.unreadable:
        path, why = figures.unreadable[0]
        return f"{path} cannot be read: {why}"
    return "No session did anything in that time; --since and --until say which."


def _warn(figures: ReportFigures) -> None:
    """Say on standard error what a reader of the output alone would miss."""
    for path, why in figures.unreadable:
        click.echo(f"Left out, because it cannot be read: {path}: {why}", err=True)
    if count := figures.totals.verdicts["tampered"]:
        which = "The trail was" if figures.totals.sessions == 1 else f"{count} trails were"
        click.echo(f"{which} tampered with; the report says where.", err=True)


def _name_file(figures: ReportFigures, output: str | None, chosen: Format) -> Path:
    """The file that was named, or one in the folder that was named, or here."""
    given = Path(output) if output else Path()
    if output and not given.is_dir():
        return given
    if figures.totals.sessions > 1:
        return given / f"report.{chosen}"
    [short] = figures.shorten_ids().values()
    return given / f"report-{_clean(short)}.{chosen}"


def _clean(id: str) -> str:
    """An id as a part of a file's name, whatever stands in it."""
    return "".join(one if one.isascii() and one.isalnum() else "-" for one in id) or "session"


def _write(path: Path, text: str, force: bool) -> None:
    """Write the file, for its owner alone: a report tells as much as a trail does."""
    from amplifier_hooks.machine.files import replace_file, write_new_file

    try:
        (replace_file if force else write_new_file)(path, text.encode(), mode=0o600, sync=False)
    except FileExistsError:
        raise click.UsageError(
            f"{path} is there already: --force replaces it, -o names another file."
        ) from None


def _open(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.absolute().as_uri()):
        sys.stderr.write(f"No browser was found; open {path} yourself.\n")
