"""Suggested rules are written to a new file, by a person, and to no other."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
import yaml

from amplifier_hooks.cli.commands.rules.text import choose, dump_rules, write_rules
from amplifier_hooks.cli.person import NotAPerson
from amplifier_hooks.insight.rule_checks import read_rules_file
from tests.hooks.cli.commands.rules.suggested import make_suggestions


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
