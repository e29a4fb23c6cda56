"""Reports of sessions, for people who were not there.

from amplifier_hooks.insight.reports import ReportRequest, read_report, render_report
report = read_report(ReportRequest([Path("audit/3f0c…")]))
page = render_report(report, "html")
"""

from amplifier_hooks.agent.session.inspection.evidence import Evidence
from amplifier_hooks.insight.reports.collect import CHAPTERS, ReportRequest, read_report
from amplifier_hooks.insight.reports.model import Period, ReportFigures
from amplifier_hooks.insight.reports.rendering import (
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
    "ReportRequest",
    "read_report",
    "render_report",
    "report_session",
]

PUBLIC_MODULES = ("collect",)
