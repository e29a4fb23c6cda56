"""What `amplifier rules suggest` prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from amplifier_hooks.cli.commands.rules.text import print_suggestions, suggestions_to_dict
from tests.hooks.cli.commands.rules.suggested import WITHHELD, make_suggestions


def test_a_rule_comes_with_its_evidence_and_its_backtest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ready to paste, with who allowed it, what it saves, and what is to be minded."""
    print_suggestions(make_suggestions("make-test", withheld=(WITHHELD,)))
    printed = capsys.readouterr().out
    rule = printed[printed.index("  - name") : printed.index("  evidence")]
    assert yaml.safe_load(rule)[0]["command"] == "make test"
    assert "6 approvals in 3 sessions on 2 days, 2026-11-01 to 2026-11-09, by ann 4" in printed
    assert '2 more by an "always" within a session' in printed
    assert "6 of 9 questions that hooks-rules asked" in printed
    assert "nothing else of 40 calls" in printed
    assert "make runs what files say" in printed
    assert "Bash git push --force (9 approvals): the command is dangerous" in printed
    assert "\x1b[2J" not in printed
    assert "Nothing was changed" in printed


def test_what_would_get_in_besides_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """With how many, and some of them."""
    found = make_suggestions("make-test")
    found.proposals[0].backtest.note("that ran without a question", "Bash make test")
    print_suggestions(found, Path("new.yaml"))
    printed = capsys.readouterr().out
    assert "1 call that ran without a question: Bash make test" in printed
    assert "Written to new.yaml; used with --approve rules:new.yaml" in printed


def test_nothing_to_suggest_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """With how much was looked at."""
    print_suggestions(make_suggestions())
    assert (
        capsys.readouterr().out
        == "Nothing to suggest from 12 questions of 3 sessions since 2026-11-01.\n"
    )


def test_trails_that_were_changed_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever looks for evidence should know."""
    print_suggestions(replace(make_suggestions(), tampered=(Path("/trails/s1"),)))
    assert "The trail /trails/s1 was changed after it was written" in capsys.readouterr().out


def test_json_has_everything() -> None:
    """For programs."""
    found = suggestions_to_dict(make_suggestions("make-test", withheld=(WITHHELD,)))
    assert found["proposals"][0]["rule"]["name"] == "make-test"
    assert found["proposals"][0]["backtest"]["saved"] == 6
    assert found["proposals"][0]["backtest"]["also"] == []
    assert found["withheld"][0]["approvals"] == 9
