"""amplifier report: what sessions did, for people who were not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_apps.cli.commands.audit.options import Unreadable, parse_time, report_errors

if TYPE_CHECKING:
    from amplifier_foundation.reports import Evidence, Format, ReportFigures, Wanted

EPILOG = """\b
Examples:
  amplifier report                    the newest session of this folder
  amplifier report 3f0c --open        a session, by the start of its id
  amplifier report --all --since 2026-11-01
  amplifier report ./trail --key audit.pub --anchor checkpoints
  amplifier report --format md        for a ticket
"""

_STDOUT = "-"


@click.command(epilog=EPILOG)
@click.argument("trails", nargs=-1, metavar="[TRAIL]...")
@click.option("--all", "everything", is_flag=True, help="All sessions of this folder.")
@click.option("--since", callback=parse_time, help="From this time on, such as 2026-11-15.")
@click.option("--until", callback=parse_time, help="Before this time.")
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
@click.option("--key", help="Public key of the trail, as text or as a file.")
@click.option(
    "--anchor", "anchors", multiple=True, help="File with checkpoints that was kept elsewhere."
)
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
    since: str | None,
    until: str | None,
    output: str | None,
    format_name: Format | None,
    force: bool,
    opens: bool,
    key: str | None,
    anchors: tuple[str, ...],
    chapters: int,
) -> None:
    """Write a report of sessions, for people who were not there.

    One file of HTML that needs no network: what the agent did, what hooks did, who approved
    what, what it cost, and what the trail proves. TRAIL is the directory of a log or of several,
    the start of a session's id, or a session's name.
    """
    from amplifier_foundation.reports import Period, Wanted, render_report

    chosen = _choose_format(format_name, output)
    is_printed = output == _STDOUT or (output is None and chosen != "html")
    if opens and is_printed:
        raise click.UsageError("--open needs a file; -o names one.")
    period = Period(since or "", until or "")
    evidence = _load_evidence(key, anchors)
    paths = _select(trails, everything or bool(period))
    figures = _read(Wanted(paths, period, evidence, chapters))
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


def _select(names: tuple[str, ...], everything: bool) -> list[Path]:
    from amplifier_foundation.history import TrailNotFound, select_trails

    try:
        found = select_trails(names)
    except TrailNotFound as error:
        raise click.UsageError(str(error)) from error
    if not found:
        raise click.UsageError(
            f"No session has worked in {Path.cwd()} and left a trail. Name the directory of a "
            "log, the start of a session's id, or a session's name; amplifier audit list shows "
            "them."
        )
    if names or everything:
        return found
    click.echo(f"The newest trail of this folder: {found[-1].name[:8]}", err=True)
    return found[-1:]


def _load_evidence(key: str | None, anchors: tuple[str, ...]) -> Evidence:
    from amplifier_audit import load_verifier
    from amplifier_foundation.reports import Evidence

    return Evidence(anchors, load_verifier(key) if key else None, key or "")


def _read(wanted: Wanted) -> ReportFigures:
    from amplifier_apps.cli.commands.audit.progress import show_progress
    from amplifier_foundation.reports import read_report
    from amplifier_foundation.reports.gathering.reading import measure_trail

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
    return given / f"report-{_clean(figures.rows[0].id)}.{chosen}"


def _clean(id: str) -> str:
    """The start of an id, as a part of a file's name whatever stands in it."""
    return "".join(one if one.isascii() and one.isalnum() else "-" for one in id[:8]) or "session"


def _write(path: Path, text: str, force: bool) -> None:
    """Write the file, for its owner alone: a report tells as much as a trail does."""
    from amplifier_foundation.machine.files import replace_file, write_new_file

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
