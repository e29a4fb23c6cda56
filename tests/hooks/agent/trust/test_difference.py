"""What a person is shown before trusting."""

from __future__ import annotations

import pytest

from amplifier_hooks.agent.trust import difference
from amplifier_hooks.agent.trust.difference import (
    describe_change,
    describe_first_use,
    find_changed_hooks,
)
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.guards.bash import RULES
from tests.support.project import Project


def look(project: Project, **sections: object) -> Material:
    return collect_material(project.bundle(**sections), project.folder)


def change(project: Project, before: Material, **sections: object) -> str:
    return describe_change(before.files, before.outline, look(project, **sections))


def test_the_first_time_everything_is_shown(project: Project) -> None:
    """What runs in a list, then the files, each line behind a margin."""
    project.write("h.py", "import os\n")
    shell = {"module": "hooks-shell", "config": {"hooks": {"Stop": [{"command": "echo hi"}]}}}
    text = describe_first_use(look(project, hooks=["./h.py", shell]))
    _, head, files = text.split("\n\n", 2)
    assert head.splitlines()[0] == f"The bundle amplifier.yaml of {project.folder} would run:"
    assert f"  hook h from {project.folder}/h.py" in head
    assert "  command echo hi" in head
    assert "  file h.py, 10 bytes" in head
    assert "── h.py\n│ import os" in files


def test_a_hook_in_shadow_mode_is_named_before_the_files(project: Project) -> None:
    """And with what is weaker than without the bundle."""
    guard = {"module": "hooks-production-guard", "mode": "shadow"}
    weaker, head, _ = describe_first_use(look(project, hooks=[guard])).split("\n\n", 2)
    lost = "hooks-production-guard would have no effect any more: mode would be shadow"
    assert f"  {lost}" in weaker.splitlines()
    assert "  hook hooks-production-guard in shadow mode: it would have no effect" in head


def test_a_change_names_lost_guards_first(project: Project) -> None:
    """Then each file that differs, is new, or is not used any more."""
    project.write("h.py", "a = 1\nb = 2\n")
    project.write("i.py", "i = 1\n")
    before = look(project, hooks=["./h.py", "./i.py"])
    project.write("h.py", "a = 1\nb = 3\n")
    project.write("j.py", "j = 1\n")
    text = change(project, before, hooks=["./h.py", "./j.py"])
    assert text.startswith(
        "Weaker than before:\n  i would be gone\n"
        "Different, and it cannot be told whether it holds more or less:\n"
        "  h would run other code or other rules\nNew:\n  hook j\n\n── "
    )
    assert "── h.py\n│ @@ -1,2 +1,2 @@\n│  a = 1\n│ -b = 2\n│ +b = 3" in text
    assert "── i.py: no longer used" in text
    assert "── j.py: new\n│ j = 1" in text


def test_nothing_of_the_folder_may_differ(project: Project) -> None:
    """When what changed are the person's own settings."""
    before = look(project)
    assert change(project, before) == "Only settings outside the folder differ."


def test_no_file_can_look_like_a_part_of_the_question(project: Project) -> None:
    """Names stand on one line, contents behind a margin, and nothing moves the cursor."""
    evil = "x\n✓ trusted\x1b[2J\u202e.py"
    project.write(evil, "── good.py\nWeaker than before:\n")
    command = {"Stop": [{"command": "echo a\nfile innocent.py, 3 bytes"}]}
    shell = {"module": "hooks-shell", "config": {"hooks": command}}
    text = describe_first_use(look(project, hooks=[f"./{evil}", shell]))
    lines = text.splitlines()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "✓ trusted" not in lines
    assert "── x\\n✓ trusted\\x1b[2J\\u202e.py" in lines
    assert "│ ── good.py" in lines
    assert "  command echo a\\nfile innocent.py, 3 bytes" in lines


def test_a_file_that_is_no_text_is_named_by_its_digest(project: Project) -> None:
    """A person could not read it anyway."""
    (project.folder / "h.py").write_bytes(b"\0\1")
    assert "│ (not text: 2 bytes, SHA-256 " in describe_first_use(look(project, hooks=["./h.py"]))


def test_endless_files_are_cut_and_that_is_said(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody thinks that they have seen the rest."""
    monkeypatch.setattr(difference, "_MOST_LINES", 30)
    project.write("h.py", "x = 1\n" * 100)
    text = describe_first_use(look(project, hooks=["./h.py"]))
    assert text.endswith("more lines are not shown: look at the files.")


def test_a_hook_has_changed_when_any_of_its_files_has(project: Project) -> None:
    """Also when one has come or gone."""
    for name in ("a", "b"):
        project.write(f"rules/{name}.yaml", "rules: []\n")
    hooks = [{"module": "hooks-rules", "config": {"file": ["rules/a.yaml", "rules/b.yaml"]}}]
    before = look(project, hooks=hooks)
    assert find_changed_hooks(before.files, before) == set()
    project.write("rules/b.yaml", "rules: [ ]\n")
    assert find_changed_hooks(before.files, look(project)) == {"hooks-rules"}
    fewer = {name: text for name, text in before.files.items() if name != "rules/b.yaml"}
    assert find_changed_hooks(fewer, before) == {"hooks-rules"}


def serve(**servers: object) -> dict[str, object]:
    return {"module": "tool-mcp", "config": {"servers": servers}}


def test_an_mcp_server_is_seen_as_a_command_that_runs(project: Project) -> None:
    """The first time, and when the servers are others than before."""
    time = {"command": "uvx", "args": ["mcp-server-time"]}
    before = look(project, tools=[serve(time=time)])
    assert "  command uvx mcp-server-time" in describe_first_use(before)
    evil = {"command": "sh", "args": ["-c", "curl evil.example"]}
    text = change(project, before, tools=[serve(time=time, evil=evil)])
    head = text.split("\n\n")[1].splitlines()
    assert head[0] == "With other MCP servers, it would run these commands:"
    assert set(head[1:]) == {"  sh -c 'curl evil.example'", "  uvx mcp-server-time"}
    assert "these commands" not in change(project, before, tools=[serve(time=time), "tool-bash"])


def describe_first(project: Project, **sections: object) -> list[str]:
    """The lines above what a first bundle would run; this one inherits."""
    project.plan.pop("inherit", None)
    text = describe_first_use(look(project, **sections))
    return text.partition("The bundle ")[0].splitlines()


def test_a_first_bundle_that_takes_nothing_away_is_shown_without_a_warning(
    project: Project,
) -> None:
    """One more hook, stricter options: nobody needs to be told before the files."""
    guard = {"module": "hooks-command-guard", "config": {"deny": ["make deploy"]}}
    assert describe_first(project, hooks=[guard, "hooks-notify"], audit={"level": "full"}) == []


def test_a_first_bundle_that_switches_guards_off_says_so(project: Project) -> None:
    """Compared with what holds in a folder without one."""
    off = sorted(RULES)[:2]
    guard = {"module": "hooks-command-guard", "config": {"off": off}}
    gone = {"module": "hooks-redaction", "enabled": False}
    assert describe_first(project, hooks=[guard, gone], sandbox="off") == [
        "Weaker than what holds without this bundle:",
        "  hooks-redaction would be gone",
        f"  hooks-command-guard.off would also have {off[0]!r}, {off[1]!r}",
        "  sandbox.mode would be off, not auto",
        "",
    ]


def test_a_first_bundle_that_inherits_nothing_says_what_is_missing(project: Project) -> None:
    """Every guard by its name."""
    text = describe_first_use(look(project)).partition("The bundle ")[0]
    assert "  hooks-command-guard would be gone\n" in text
    assert "  hooks-production-guard would be gone\n" in text
    assert "  audit.enabled would be false, not true\n" in text


def rules(*listed: str) -> str:
    said = "action: deny, reason: No., command"
    return "".join(f"- {{name: {one}, {said}: {one}}}\n" for one in listed)


def test_rules_in_a_file_are_compared_one_by_one(project: Project) -> None:
    """As those in the bundle are; a file that comes to them is read, one that goes is missed."""
    project.write("a.yaml", rules("one"))
    project.write("b.yaml", rules("three"))
    first = {"module": "hooks-rules", "config": {"file": "a.yaml"}}
    both = {"module": "hooks-rules", "config": {"file": ["a.yaml", "b.yaml"]}}
    before = look(project, hooks=[first])
    project.write("a.yaml", rules("one", "two"))
    text = change(project, before)
    assert text.startswith("Stricter than before:\n  hooks-rules: the rule 'two' would be new\n")
    project.write("a.yaml", rules("two"))
    assert change(project, before).startswith(
        "Weaker than before:\n  hooks-rules: the rule 'one' would be gone\n"
        "Stricter than before:\n  hooks-rules: the rule 'two' would be new\n"
    )
    project.write("a.yaml", rules("one"))
    assert change(project, before, hooks=[both]).startswith(
        "Stricter than before:\n  hooks-rules: the rule 'three' would be new\n"
    )
    wider = look(project, hooks=[both])
    text = change(project, wider, hooks=[first])
    assert text.startswith("Weaker than before:\n  hooks-rules.file would no longer have 1 entry\n")
    project.write("a.yaml", "rules: {")
    text = change(project, before, hooks=[first])
    assert "  hooks-rules would run other code or other rules\n" in text
