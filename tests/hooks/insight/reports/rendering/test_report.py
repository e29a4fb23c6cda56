"""Formats."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.insight.reports import FORMATS, render_report, report_session
from tests.hooks.insight.reports.stories import (
    MADE,
    SESSION,
    report_on,
    tell_whole_story,
    write_trail,
)


def test_a_report_has_the_format_that_was_asked_for() -> None:
    """HTML, Markdown and JSON."""
    report = report_on(tell_whole_story())
    page, written, data = (render_report(report, one) for one in FORMATS)
    assert page.startswith("<!doctype html>")
    assert written.startswith("# Session")
    assert json.loads(data)["totals"]["sessions"] == 1


def test_the_report_of_one_session_needs_its_own_trail(tmp_path: Path) -> None:
    """One that lies in its place and is another's is not taken for it."""
    path = write_trail(tmp_path)
    own = report_session(path, "json", made=MADE, owner=SESSION, name="fix it")
    other = report_session(path, "json", made=MADE, owner="another")
    chapter = json.loads(own)["chapters"][0]
    assert (chapter["name"], chapter["proof"]["verdict"]) == ("fix it", "consistent")
    assert json.loads(other)["chapters"][0]["proof"]["verdict"] == "tampered"
