"""Reports as JSON."""

from __future__ import annotations

import json

from amplifier_hooks.insight.reports.rendering.json_form import VERSION, to_json
from tests.hooks.insight.reports.stories import report_on, tell_whole_story


def test_the_shape_is_the_documented_one() -> None:
    """Names that are there today stay; a change of them is another version."""
    written = to_json(report_on(tell_whole_story()))
    assert VERSION == 1
    assert [*written] == [
        *(
            "version",
            "contradictions",
            "made",
            "since",
            "until",
            "totals",
            "sessions",
            "chapters",
            "unreadable",
        ),
        "empty",
    ]
    assert [*written["totals"]] == [
        *("sessions", "records", "first", "last", "turns", "calls", "tools", "questions"),
        *("waited_seconds", "interventions", "verdicts", "folders", "hooks", "days", "spending"),
    ]
    (chapter,) = written["chapters"]
    assert [*chapter] == [
        *("id", "name", "trail", "folder", "bundle", "level", "values", "shadow", "first", "last"),
        *("ending", "resumed", "records", "turns", "calls", "tools", "agents", "files", "hooks"),
        *(
            "interventions",
            "contradictions",
            "errors",
            "questions",
            "spending",
            "proof",
            "missing",
            "masked",
        ),
    ]


def test_everything_can_be_written_and_nothing_is_lost_on_the_way() -> None:
    """Counts say what was left out."""
    written = json.loads(json.dumps(to_json(report_on(tell_whole_story()))))
    chapter = written["chapters"][0]
    assert chapter["interventions"]["denial"]["count"] == 1
    assert chapter["interventions"]["denial"]["left_out"] == 0
    assert chapter["turns"]["kept"][0]["prompt"]["text"] == "fix the parser"
    kinds = {step["kind"] for step in chapter["turns"]["kept"][0]["steps"]["kept"]}
    assert kinds == {"call", "said"}
    assert chapter["questions"]["kept"][0]["outcome"] == "refused"
    assert chapter["proof"]["verdict"] == "unreadable"
