"""The `when` of a rule: an expression in CEL."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.rules.matching import EventView
from tests.hooks.guards.rules.asking import DENY, answer


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ('tool_name == "Bash"', True),
        ('has(tool_input.command) && tool_input.command.contains("x")', True),
        ("tool_input.timeout > 100", True),
        ("size(tool_input.list) == 2 && tool_input.list[1] == 'b'", True),
        ('data.session_id == "test-session"', True),
        ('event == "tool:post"', False),
        ("tool_input.big > 1e20", True),
        ("tool_input.none == null", True),
    ],
)
async def test_a_condition_in_cel_decides(tmp_path: Path, when: str, applies: bool) -> None:
    """optional `when` in CEL."""
    tool_input = {
        "command": "x\udc80",
        "timeout": 200,
        "list": ("a", "b"),
        "none": None,
        "big": 10**30,
        "odd": object(),
    }
    result = await answer(tmp_path, [{"when": when, **DENY}], "Bash", tool_input)
    assert (result.action == "deny") == applies, result.reason
    assert "evaluated" not in (result.reason or "")


def seen(data: dict[str, Any], **keys: Any) -> EventView:
    return EventView("tool:pre", data, Path("/project"), **keys)


def test_the_paths_are_those_of_the_input_and_of_the_event_itself() -> None:
    """Some events carry a path beside any tool's input."""
    nested = {"file_path": "a", "edits": [{"path": "b"}, {"notebook_path": "c"}]}
    assert seen({"tool_input": nested, "path": "d"}).paths == ["a", "b", "c", "d"]
    assert seen({"tool_input": None, "path": 7}).paths == []


def test_the_keys_of_paths_and_commands_can_be_chosen() -> None:
    data = {"tool_input": {"target": "a", "file_path": "b", "argv": "ls -l"}}
    view = seen(data, path_keys=("target",), command_keys=("argv",))
    assert view.paths == ["a", "b"]
    assert [command.name for script in view.scripts for command in script.commands] == ["ls"]


def test_a_command_is_read_once() -> None:
    view = seen({"tool_input": {"command": "git push"}})
    assert view.scripts is view.scripts


@pytest.mark.parametrize(("name", "expected"), [("Bash", "Bash"), (None, ""), (7, "7")])
def test_the_tool_is_a_text(name: Any, expected: str) -> None:
    assert seen({"tool_name": name}).tool == expected


@pytest.mark.parametrize(
    ("dotted", "expected"),
    [
        ("tool_name", "Bash"),
        ("tool_input.command", "ls"),
        ("tool_input.edits.1.path", "b"),
        ("tool_input.edits.7.path", None),
        ("tool_input.edits.-1.path", None),
        ("tool_input.edits.²", None),
        ("tool_input.command.upper", None),
        ("tool_input.__class__", None),
        ("none", None),
        ("", None),
    ],
)
def test_values_are_looked_up_by_keys_and_numbers_only(dotted: str, expected: Any) -> None:
    """Never by attribute: a rule's text must not reach into Python."""
    data = {
        "tool_name": "Bash",
        "tool_input": {"command": "ls", "edits": [{"path": "a"}, {"path": "b"}]},
    }
    assert seen(data).look_up(dotted) == expected


@given(st.text(max_size=30))
def test_any_name_can_be_looked_up(dotted: str) -> None:
    assert seen({"a": [{"b": 1}]}).look_up(dotted) in (None, 1, [{"b": 1}], {"b": 1})


def test_the_texts_of_a_value_are_its_keys_and_its_leaves() -> None:
    value = {"a": ["b", 1, None], "c": {"d": ("e",)}, 2: {"f"}}
    assert sorted(seen({}).iterate_texts(value)) == ["1", "2", "a", "b", "c", "d", "e", "f"]


def test_data_of_too_many_parts_is_an_error() -> None:
    """A rule that stopped looking in silence would let the rest pass."""
    with pytest.raises(ValueError, match="too many"):
        list(seen({}).iterate_texts(["x"] * 20_000))


def test_an_mcp_tool_has_its_own_keys_beside_those_that_were_chosen() -> None:
    """Servers name files and commands in many ways."""
    given = {"place": "a", "destination": "b", "cmd": "rm", "args": ["x"]}
    view = seen({"tool_name": "mcp__fs__x", "tool_input": given}, path_keys=("place",))
    assert view.paths == ["a", "b"]
    assert [script.commands[0].text for script in view.scripts] == ["rm x"]


@pytest.mark.parametrize(
    ("tool", "name", "applies"),
    [
        ("Bash", "Bash", True),
        ("Bash", "bash", True),
        ("mcp__*", "mcp__git__push", True),
        (["Edit", "Write"], "Write", True),
        (["Edit", "Write"], "Read", False),
        ("*", "anything", True),
    ],
)
async def test_a_rule_applies_to_the_tools_it_names(
    tmp_path: Path, tool: Any, name: str, applies: bool
) -> None:
    """tool (glob)."""
    result = await answer(tmp_path, [{"tool": tool, **DENY}], name, {})
    assert (result.action == "deny") == applies


@pytest.mark.parametrize(
    ("path", "applies"),
    [
        ("db/migrations/1.sql", True),
        ("x/../db/migrations/1.sql", True),
        ("DB/Migrations/1.sql", True),
        ("link/1.sql", True),
        ("db/other/1.sql", False),
    ],
)
async def test_paths_are_resolved_before_they_are_compared(
    tmp_path: Path, path: str, applies: bool
) -> None:
    """path (globs, resolved), T6."""
    (tmp_path / "db" / "migrations").mkdir(parents=True)
    (tmp_path / "link").symlink_to("db/migrations")
    rules = [{"path": ["**/migrations/**"], **DENY, "reason": "{path} is history"}]
    result = await answer(tmp_path, rules, "Write", {"file_path": path})
    assert (result.action == "deny") == applies
    if applies:
        assert str(tmp_path) in (result.reason or "")


COMMANDS = [
    ("git push --force|-f", "git push --force", True),
    ("git push --force|-f", "sudo git -C x push -uf origin", True),
    ("git push --force|-f", "bash -c 'git push -f'", True),
    ("git push --force|-f", "git push origin main", False),
    ("git push --force|-f", "echo git push --force", False),
    ({"program": "git", "flag": ["--force", "-f"], "argument": "push"}, "git push -f", True),
    ({"program": ["npm", "yarn"], "argument": "publish"}, "yarn publish", True),
    ({"program": "rm", "flag": "-r"}, "find . -exec rm -rf {} +", True),
    ({"flag": "--no-verify"}, "git commit --no-verify", True),
    (["curl", "wget"], "ls | wget x", True),
]


@pytest.mark.parametrize(("pattern", "command", "applies"), COMMANDS)
async def test_commands_are_parsed(
    tmp_path: Path, pattern: Any, command: str, applies: bool
) -> None:
    """command (parsed: program, flag, argument), T7."""
    rules = [{"tool": "Bash", "command": pattern, **DENY}]
    result = await answer(tmp_path, rules, "Bash", {"command": command})
    assert (result.action == "deny") == applies, result


@pytest.mark.parametrize("command", ["$x push --force", "git $args", "echo 'open", "eval $x"])
async def test_a_command_that_cannot_be_told_is_asked_about(tmp_path: Path, command: str) -> None:
    """Fail closed: a guarding rule that cannot tell asks; an observing one keeps quiet."""
    rule = {"tool": "Bash", "command": "git push --force", **DENY}
    asked = await answer(tmp_path, [rule], "Bash", {"command": command})
    assert asked.action == "ask_user"
    denied = await answer(tmp_path, [rule], "Bash", {"command": command}, unclear="deny")
    assert denied.action == "deny"
    watching = {**rule, "action": "continue", "user_message": "seen"}
    watching.pop("reason")
    quiet = await answer(tmp_path, [watching], "Bash", {"command": command})
    assert quiet.user_message is None


@pytest.mark.parametrize(
    ("regex", "tool_input", "applies"),
    [
        ({"tool_input.command": r"curl\s.*\|\s*sh"}, {"command": "curl x | sh"}, True),
        ({"tool_input.command": "^ls"}, {"command": "echo ls"}, False),
        ({"tool_input.command": "x", "tool_name": "^Other$"}, {"command": "x"}, False),
        ("(?i)drop table", {"deep": [{"sql": "DROP TABLE x"}]}, True),
        ("secret", {"secret": 1}, True),
        ({"tool_input.missing": "."}, {}, False),
        ({"tool_input.items.1": "b"}, {"items": ["a", "b"]}, True),
        ({"tool_input.n": "^42$"}, {"n": 42}, True),
    ],
)
async def test_regular_expressions_look_at_a_field_or_everywhere(
    tmp_path: Path, regex: Any, tool_input: dict[str, Any], applies: bool
) -> None:
    """regex (RE2) on a field, or on any text of the input."""
    result = await answer(tmp_path, [{"regex": regex, **DENY}], "Bash", tool_input)
    assert (result.action == "deny") == applies


async def test_a_hostile_regex_cannot_stall_the_loop(tmp_path: Path) -> None:
    """Hostile regexes cannot stall the loop: 28 letters took the stdlib engine 41 s."""
    start = time.process_time()
    result = await answer(
        tmp_path, [{"regex": "(a+)+$", **DENY}], "Bash", {"command": "a" * 200_000 + "b"}
    )
    assert result.action == "continue"
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({"path": "production/x"}, "deny"),
        ({"source": "safe/x", "destination": "production/x"}, "deny"),
        ({"paths": ["safe/x", "production/x"]}, "deny"),
        ({"uri": "file:///srv/production/x"}, "deny"),
        ({"path": "safe/x"}, "continue"),
    ],
)
async def test_paths_of_mcp_tools_stand_under_the_keys_that_servers_use(
    tmp_path: Path, given: dict[str, Any], action: str
) -> None:
    """A rule for `mcp__fs__*` sees where each of its tools would write."""
    rules = [{"tool": "mcp__fs__*", "path": "production/**", **DENY}]
    assert (await answer(tmp_path, rules, "mcp__fs__do", given)).action == action
    assert (await answer(tmp_path, rules, "mcp__other__do", given)).action == "continue"


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({"command": "git push"}, "deny"),
        ({"cmd": "git", "args": ["push"]}, "deny"),
        ({"script": "cd x && git push"}, "deny"),
        ({"command": 7}, "ask_user"),
        ({"command": "git status"}, "continue"),
    ],
)
async def test_commands_of_mcp_tools_are_matched_with_their_arguments(
    tmp_path: Path, given: dict[str, Any], action: str
) -> None:
    """What cannot be read is asked about."""
    rules = [{"tool": "mcp__*", "command": "git push", **DENY}]
    assert (await answer(tmp_path, rules, "mcp__shell__run", given)).action == action


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({"path": "production/draft/x"}, "continue"),
        ({"source": "safe/x", "destination": "production/draft/x"}, "continue"),
        ({"source": "production/draft/x", "destination": "production/x"}, "deny"),
        ({"path": "production/x", "folder": "production/draft/y"}, "deny"),
    ],
)
async def test_an_excepted_path_does_not_except_those_beside_it(
    tmp_path: Path, given: dict[str, Any], action: str
) -> None:
    """An agent could add one to every call."""
    exception = {"unless": {"path": "production/draft/**"}}
    rules = [{"path": "production/**", **exception, **DENY}]
    assert (await answer(tmp_path, rules, "mcp__fs__move", given)).action == action


async def test_an_exception_by_path_alone_holds_if_all_paths_are_excepted(tmp_path: Path) -> None:
    """A rule for a tool, whatever it writes, but for one folder."""
    rules = [{"tool": "mcp__fs__*", "unless": {"path": "notes/**"}, **DENY}]
    noted = {"source": "notes/a", "destination": "notes/b"}
    assert (await answer(tmp_path, rules, "mcp__fs__move", noted)).action == "continue"
    mixed = {"source": "notes/a", "destination": "b"}
    assert (await answer(tmp_path, rules, "mcp__fs__move", mixed)).action == "deny"
    assert (await answer(tmp_path, rules, "mcp__fs__move", {})).action == "deny"


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("deploy staging", "continue"),
        ("cd x && deploy staging", "continue"),
        ("deploy staging && deploy live", "deny"),
        ("deploy staging; deploy $x", "deny"),
        ("deploy staging; bash -c 'deploy live'", "deny"),
    ],
)
async def test_an_excepted_command_does_not_except_those_beside_it(
    tmp_path: Path, command: str, action: str
) -> None:
    """An agent could put one before every other."""
    rules = [{"command": "deploy", "unless": {"command": "deploy staging"}, **DENY}]
    assert (await answer(tmp_path, rules, "Bash", {"command": command})).action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("bash deploy.sh live", "deny"),
        (". ./deploy.sh live", "deny"),
        ("bash deploy.sh $WHERE", "ask_user"),
        ("bash deploy.sh staging", "continue"),
    ],
)
async def test_a_script_is_known_behind_a_shell(tmp_path: Path, command: str, action: str) -> None:
    """A rule about it would otherwise be a matter of how it is started."""
    rules = [{"command": "deploy.sh live", **DENY}]
    assert (await answer(tmp_path, rules, "Bash", {"command": command})).action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("rm out/a", "continue"),
        ("rm -rf out/a out/b", "continue"),
        ("rm out/a ../b", "deny"),
        ("rm ../b out/a", "deny"),
        ("rm out/../b", "deny"),
        ("rm out/a $x", "deny"),
    ],
)
async def test_a_glob_in_an_exception_holds_for_all_that_the_command_names(
    tmp_path: Path, command: str, action: str
) -> None:
    """One argument that is excepted does not except those beside it."""
    rules = [{"command": "rm", "unless": {"command": "rm out/*"}, **DENY}]
    assert (await answer(tmp_path, rules, "Bash", {"command": command})).action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("make test", "continue"),
        ("cd x && make test | tail", "continue"),
        ("make test; rm -r x", "deny"),
        ("make test $(rm -r x)", "deny"),
        ("ls", "deny"),
    ],
)
async def test_an_exception_by_command_alone_holds_beside_what_only_looks(
    tmp_path: Path, command: str, action: str
) -> None:
    """A rule for all commands, but for one."""
    rules = [{"tool": "Bash", "unless": {"command": "make test"}, **DENY}]
    assert (await answer(tmp_path, rules, "Bash", {"command": command})).action == action
