"""Reports of sessions, for people who were not there.

from amplifier_foundation.reports import Wanted, read_report, render_report
report = read_report(Wanted([Path("audit/3f0c…")]))
page = render_report(report, "html")
"""

from amplifier_foundation.reports.figures.period import Period
from amplifier_foundation.reports.figures.proof import Evidence
from amplifier_foundation.reports.figures.report import ReportFigures
from amplifier_foundation.reports.gathering.reading import CHAPTERS, Wanted, read_report
from amplifier_foundation.reports.rendering.report import (
    FORMATS,
    Format,
    render_report,
    report_session,
)

__all__ = [
    "CHAPTERS",
    "FORMATS",
    "Evidence",
    "Format",
    "Period",
    "ReportFigures",
    "Wanted",
    "read_report",
    "render_report",
    "report_session",
]
