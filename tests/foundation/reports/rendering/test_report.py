"""Formats."""

from __future__ import annotations

import json

from amplifier_foundation.reports import FORMATS, render_report
from tests.foundation.reports.stories import report_on, tell_whole_story


def test_a_report_has_the_format_that_was_asked_for() -> None:
    """HTML, Markdown and JSON."""
    report = report_on(tell_whole_story())
    page, written, data = (render_report(report, one) for one in FORMATS)
    assert page.startswith("<!doctype html>")
    assert written.startswith("# Session")
    assert json.loads(data)["totals"]["sessions"] == 1
