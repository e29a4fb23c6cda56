"""Reports of sessions, for people who were not there.

from amplifier_hooks.insight.reports import ReportRequest, read_report, render_report
report = read_report(ReportRequest([Path("audit/3f0c…")]))
page = render_report(report, "html")
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, get_args

from amplifier_hooks.agent.session.inspection.evidence import Evidence
from amplifier_hooks.insight.reports.collect import (
    CHAPTERS,
    ReportRequest,
    read_report,
    read_session,
)
from amplifier_hooks.insight.reports.html import render_html
from amplifier_hooks.insight.reports.json_form import to_json
from amplifier_hooks.insight.reports.markdown import render_markdown
from amplifier_hooks.insight.reports.model import Period, ReportFigures
from amplifier_hooks.insight.reports.sections.report import describe_report

Format = Literal["html", "md", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)


def report_session(path: Path, format: Format, *, made: str, owner: str, name: str = "") -> str:
    """The report of one session, whose trail must be of that owner."""
    report = ReportFigures(made, chapter_limit=1)
    session = read_session(path, ReportRequest([path], evidence=Evidence()), owner)
    session.name = name
    report.add(session)
    return render_report(report, format)


def render_report(report: ReportFigures, format: Format) -> str:
    """The whole report as text."""
    if format == "json":
        return json.dumps(to_json(report), indent=2) + "\n"
    document = describe_report(report)
    return render_html(document) if format == "html" else render_markdown(document)


__all__ = [
    "CHAPTERS",
    "FORMATS",
    "Evidence",
    "Format",
    "Period",
    "ReportFigures",
    "ReportRequest",
    "read_report",
    "render_report",
    "report_session",
]

PUBLIC_MODULES = ("collect",)
