"""Codex's trust in our hooks: given, read, lost and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.agents import Options
from amplifier_hooks.coding_agents.installing.codex_trust import (
    CodexTrust,
    build_key,
    find_config,
    find_program,
    normalize_key,
    remove_trust,
)
from amplifier_hooks.coding_agents.installing.installation import Target, install
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from amplifier_hooks.coding_agents.installing.record import Records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from tests.support.agent_homes import install_codex

THEIRS = 'model = "gpt-5"\n\n[a]\nb = 1\n'


@pytest.fixture
def trust(home: Path) -> CodexTrust:
    """Of an installation that Codex does not know yet."""
    program, target = install_codex(home), Target("codex", "user", home)
    install(target, Options(make_guest_command(home)), Records(), "1")
    return CodexTrust(target.path, home, program)


def test_our_hooks_are_trusted_and_forgotten_again(trust: CodexTrust) -> None:
    """Codex's own file is as before."""
    trust.config.write_text(THEIRS)
    assert {one.trust for one in trust.read()} == {"untrusted"}
    found = trust.give(Records())
    assert {one.trust for one in found} == {"trusted"}
    assert remove_trust([one.key for one in found], Records())
    assert trust.config.read_text() == THEIRS
    assert Records().find(trust.config) is None


def test_an_unusual_file_comes_back_as_it_was(trust: CodexTrust) -> None:
    """Even without a last line end, and in two steps."""
    unusual = 'model = "gpt-5" # no end'
    trust.config.write_text(unusual)
    first, *others = trust.give(Records())
    remove_trust([first.key], Records())
    remove_trust([one.key for one in others], Records())
    assert trust.config.read_text() == unusual


def test_a_section_that_was_there_stays(trust: CodexTrust) -> None:
    """Also when Codex has written something since."""
    trust.config.write_text("[hooks.state]\n")
    found = trust.give(Records())
    trust.config.write_text(trust.config.read_text() + "\n[new]\na = 1\n")
    remove_trust([one.key for one in found], Records())
    assert trust.config.read_text().split() == ["[hooks.state]", "[new]", "a", "=", "1"]


def test_hooks_of_others_are_not_trusted_with_ours(trust: CodexTrust) -> None:
    """They are for the person to judge."""
    text = trust.hooks_file.read_text()
    other = '"Other": [{"hooks": [{"type": "command", "command": "x"}]}], "PreToolUse": ['
    trust.hooks_file.write_text(text.replace('"PreToolUse": [', other, 1))
    assert all(one.command != "x" for one in trust.give(Records()))
    assert ":other:" not in trust.config.read_text()


def test_trust_that_was_there_is_not_taken_for_what_was_before(trust: CodexTrust) -> None:
    """If our notes are lost, removing still removes it."""
    trust.give(Records())
    Records().forget(trust.config)
    found = trust.give(Records())
    assert Records().find(trust.config) is None
    remove_trust([one.key for one in found], Records())
    assert "trusted_hash" not in trust.config.read_text()


def test_a_file_that_codex_made_for_it_goes_again(trust: CodexTrust) -> None:
    """If there is nothing else in it."""
    trust.give(Records())
    remove_trust([one.key for one in trust.give(Records())], Records())
    assert not trust.config.exists()


def test_what_codex_has_written_since_stays(trust: CodexTrust) -> None:
    """Only our tables go."""
    found = trust.give(Records())
    trust.config.write_text('model = "new"\n\n' + trust.config.read_text())
    remove_trust([one.key for one in found], Records())
    assert trust.config.read_text().strip() == 'model = "new"'


def test_only_the_hooks_that_are_named_lose_their_trust(trust: CodexTrust) -> None:
    """Those of a project may still be needed."""
    first, *others = trust.give(Records())
    assert remove_trust([first.key], Records())
    found = {one.key: one.trust for one in trust.read()}
    assert found == {first.key: "untrusted", **{one.key: "trusted" for one in others}}
    assert remove_trust([one.key for one in others], Records())
    assert not trust.config.exists()


def test_another_hook_before_ours_loses_the_trust(trust: CodexTrust) -> None:
    """The key holds the position."""
    trust.give(Records())
    text = trust.hooks_file.read_text()
    other = '"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}, '
    trust.hooks_file.write_text(text.replace('"PreToolUse": [', other, 1))
    found = {one.key.rsplit(":", 3)[1]: one.trust for one in trust.read()}
    assert found["pre_tool_use"] == "untrusted"
    assert found["stop"] == "trusted"


def test_a_file_that_cannot_be_read_is_not_touched(trust: CodexTrust) -> None:
    """The person is told what stays in it."""
    keys = [one.key for one in trust.give(Records())]
    text = trust.config.read_text() + "[broken"
    trust.config.write_text(text)
    with pytest.raises(SettingsError, match="stays there"):
        remove_trust(keys, Records())
    assert trust.config.read_text() == text


def test_nothing_to_remove_is_no_error(home: Path) -> None:
    """There may never have been a Codex."""
    assert not remove_trust(["/x:stop:0:0"], Records())


def test_a_key_is_that_of_codex() -> None:
    """File, event in snake case, group, number."""
    key = build_key(Path("/h/hooks.json"), "UserPromptSubmit", (1, 0))
    assert key == "/h/hooks.json:user_prompt_submit:1:0"


def test_keys_are_the_same_through_links(tmp_path: Path) -> None:
    """Codex may name the file by another path."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    one, other = (f"{tmp_path}/{name}/hooks.json:stop:0:0" for name in ("real", "link"))
    assert normalize_key(one) == normalize_key(other)


def test_the_program_is_found_on_the_path(home: Path) -> None:
    """And only there."""
    assert find_program() is None
    program = install_codex(home)
    assert find_program() == program
    assert find_program({"PATH": "/nowhere"}) is None
    assert find_config({"CODEX_HOME": "/c"}) == Path("/c/config.toml")
