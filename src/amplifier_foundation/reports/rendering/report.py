"""A report in the format that was asked for."""

from __future__ import annotations

import json
from typing import Literal, get_args

from amplifier_foundation.reports.figures.report import ReportFigures
from amplifier_foundation.reports.rendering.html_page import render_html
from amplifier_foundation.reports.rendering.json_form import to_json
from amplifier_foundation.reports.rendering.markdown import render_markdown
from amplifier_foundation.reports.telling.report import tell_report

Format = Literal["html", "md", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render_report(report: ReportFigures, format: Format) -> str:
    """The whole report as text."""
    if format == "json":
        return json.dumps(to_json(report), indent=2) + "\n"
    document = tell_report(report)
    return render_html(document) if format == "html" else render_markdown(document)
