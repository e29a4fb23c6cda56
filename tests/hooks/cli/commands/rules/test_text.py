"""What `amplifier rules check` prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import pytest
import yaml

from amplifier_hooks.cli.commands.rules import (
    check_to_dict,
    choose,
    dump_rules,
    print_check,
    print_suggestions,
    suggestions_to_dict,
    write_rules,
)
from amplifier_hooks.cli.person import NotAPerson
from amplifier_hooks.insight.rule_checks import Check, Finding, Usage, read_rules_file
from tests.hooks.cli.commands.rules.suggested import WITHHELD, make_suggestions

SHADOWED = Finding(
    "shadowed",
    ("narrow", "wide"),
    ("rules.yaml:7", "rules.yaml:2"),
    "whatever 'narrow' matches, 'wide' has denied before",
    {"event": "tool:pre", "tool_name": "Bash", "tool_input": {"command": "git push\x1b[2J"}},
)
QUIET = Finding("matched nothing", ("quiet",), ("rules.yaml:9",), "matched none of 5 events")


def test_problems_come_before_notes_and_all_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its rules, its place, a sentence and an example in which nothing acts."""
    print_check(Check(3, (QUIET, SHADOWED), Usage()))
    printed = capsys.readouterr().out
    assert printed.index("narrow: shadowed by wide") < printed.index("quiet: matched nothing")
    assert "rules.yaml:7, rules.yaml:2" in printed
    assert 'for example tool:pre Bash {"command": "git push' in printed
    assert "\x1b[2J" not in printed
    assert printed.endswith("✗ 3 rules: 1 problem, 1 note\n")


def test_nothing_to_find_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """As is nothing to look at."""
    print_check(Check(1, (), Usage()))
    assert capsys.readouterr().out == "✓ 1 rule: no problems\n"
    print_check(Check(0, (), Usage()))
    assert "There are no rules to check" in capsys.readouterr().out


def test_json_has_problems_and_notes_apart() -> None:
    """For programs, with everything that is known of a finding."""
    found = check_to_dict(Check(3, (QUIET, SHADOWED), Usage()))
    assert found["problems"][0]["rules"] == ("narrow", "wide")
    assert found["notes"][0]["kind"] == "matched nothing"


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


def test_the_file_is_one_for_approvals(tmp_path: Path) -> None:
    """It can be used as it is, and asks about everything else."""
    file = tmp_path / "approvals.yaml"
    write_rules(file, make_suggestions("make-test"))
    assert yaml.safe_load(file.read_text())["otherwise"] == "ask"
    assert [one.name for one in read_rules_file(file, tmp_path).rules] == ["make-test"]


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    """Also if it is empty, a link or a folder."""
    file = tmp_path / "approvals.yaml"
    file.write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for taken in (file, tmp_path / "link", tmp_path):
        with pytest.raises(click.UsageError, match="was not changed"):
            write_rules(taken, make_suggestions("make-test"))
    assert file.read_text() == "mine"
    with pytest.raises(click.UsageError, match="cannot be written"):
        write_rules(tmp_path / "no" / "file", make_suggestions("make-test"))


def test_nothing_is_written_without_a_rule(tmp_path: Path) -> None:
    """An empty file would be no file of rules."""
    with pytest.raises(click.UsageError, match="No rule"):
        write_rules(tmp_path / "a.yaml", make_suggestions())
    assert not (tmp_path / "a.yaml").exists()


def test_an_agent_cannot_write_rules_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that an agent's tool has started is refused."""
    monkeypatch.setenv("AMPLIFIER_COMMAND_ID", "1")
    with pytest.raises(NotAPerson):
        write_rules(tmp_path / "a.yaml", make_suggestions("make-test"))
    assert not (tmp_path / "a.yaml").exists()


def test_rules_are_chosen_by_name() -> None:
    """A name that there is not is an error that says which there are."""
    found = make_suggestions("a", "b")
    assert [one.name for one in choose(found, ["b"]).proposals] == ["b"]
    assert choose(found, []) == found
    with pytest.raises(click.UsageError, match="have a, b"):
        choose(found, ["c"])
    with pytest.raises(click.UsageError, match="none is suggested"):
        choose(make_suggestions(), ["c"])


def test_foreign_text_is_quoted_in_plain_letters() -> None:
    """What was in a command cannot end its line, nor hide a part of it."""
    rule = {"name": "x", "when": 'tool_input.command == "a\u202e\n- name: y\x1b[2J"'}
    text = dump_rules([rule])
    assert text.isascii()
    assert "\x1b" not in text
    assert yaml.safe_load(text) == [rule]
