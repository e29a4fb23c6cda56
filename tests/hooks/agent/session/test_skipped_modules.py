"""Modules that could not be mounted are told with the line that asked for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.bundles import Bundle, load_bundle
from amplifier_hooks.agent.session.assembled import WITHOUT, add_place
from tests.support.project import Project


async def stop(project: Project, *hooks: Any) -> str:
    """Why a session with these hooks does not start."""
    with pytest.raises(ModuleLoadError) as stopped:
        async with project.session(project.bundle(hooks=list(hooks))):
            pass
    return str(stopped.value)


async def test_a_module_that_guards_nothing_is_told_and_left_out(project: Project) -> None:
    """An observer, a tool, or a hook that may be missing is reported with its reason."""
    project.write("broken.py", "raise RuntimeError('half written')\n")
    optional = {"module": "./broken.py", "required": False}
    observer = {"module": "hooks-datetime", "config": {"timezone": "Nowhere"}}
    bundle = project.bundle(hooks=[optional, observer], tools=["tool-serch"])
    async with project.session(bundle) as session:
        assert len(session.failures) == 3
    unknown, broken, wrong = project.shown("modules")
    file = project.folder / "amplifier.yaml"
    assert "half written" in broken
    assert "timezone" in wrong
    assert all(one.startswith(f"Left out: {file}:") for one in (unknown, broken, wrong))
    assert unknown.endswith("Unknown module 'tool-serch'; did you mean 'tool-search'?")


async def test_a_hook_file_that_cannot_be_imported_stops_the_session(project: Project) -> None:
    """Nobody knows whether it guards; the message has the line, the reason and the way out."""
    project.write("broken.py", "raise RuntimeError('half written')\n")
    told = await stop(project, "./broken.py")
    assert told.startswith(f"{project.folder / 'amplifier.yaml'}:2: ")
    assert "half written" in told
    assert told.endswith(f" — {WITHOUT}")


LATE = """
async def mount(coordinator, config): ...

async def on_session_ready(coordinator):
    raise OSError("no policy")
"""


async def test_a_hook_that_fails_when_everything_is_mounted_stops_the_session(
    project: Project,
) -> None:
    """Some modules register only then; without `required`, the session goes on and it is told."""
    project.write("late.py", LATE)
    told = await stop(project, "./late.py")
    assert f"{project.folder / 'amplifier.yaml'}:2: Module 'late': on_session_ready failed" in told
    assert told.endswith(f"OSError: no policy — {WITHOUT}")
    optional = {"module": "./late.py", "required": False}
    async with project.session(project.bundle(hooks=[optional])) as session:
        assert session.status == "idle"
    assert project.shown("module:late")[-1] == "on_session_ready failed: OSError: no policy"


async def stop_written(project: Project) -> str:
    """Why a session with the bundle file as it is does not start."""
    bundle = load_bundle(project_dir=project.folder, env={"HOME": str(project.home)})
    with pytest.raises(ModuleLoadError) as stopped:
        async with project.session(bundle):
            pass
    return str(stopped.value)


RULES = """
hooks:
  - module: hooks-rules
    config:
      rules:
        - name: fine
          action: continue
        - name: broken
          {wrong}
"""


@pytest.mark.parametrize(
    ("wrong", "line"),
    [("action: ask_user", 8), ("action: dny", 9), ("{action: continue, regex: '('}", 8)],
)
async def test_the_line_of_the_rule_is_told_and_not_that_of_the_module(
    project: Project, wrong: str, line: int
) -> None:
    """Among many rules, the one to mend; also for what only compiling it finds."""
    text = RULES.replace("{wrong}", wrong.strip("{}").replace(", ", "\n          "))
    file = project.write("amplifier.yaml", text)
    told = await stop_written(project)
    assert told.startswith(f"{file}:{line}: hooks-rules: rule 'broken': ")


async def test_the_line_of_any_wrong_option_is_told(project: Project) -> None:
    """Of every module that checks its options."""
    options = "    config:\n      patterns: [a]\n      action: dny\n"
    text = f"hooks:\n  - module: hooks-production-guard\n{options}"
    file = project.write("amplifier.yaml", text)
    told = await stop_written(project)
    assert told.startswith(f"{file}:5: hooks-production-guard: option 'action'")


async def test_the_line_in_a_file_of_rules_is_told(project: Project) -> None:
    """The bundle only names the file."""
    project.write("rules.yaml", "- name: fine\n  action: continue\n- name: broken\n  action: dny\n")
    told = await stop(project, {"module": "hooks-rules", "config": {"file": "rules.yaml"}})
    assert "rule 'broken' in rules.yaml:3: option 'action' cannot be 'dny'" in told


async def test_a_misspelt_hook_stops_the_session(project: Project) -> None:
    """It may have been meant as a guard."""
    told = await stop(project, "hooks-redacton")
    assert f"Unknown module 'hooks-redacton'; did you mean 'hooks-redaction'? — {WITHOUT}" in told


async def test_an_entry_that_is_required_needs_no_hint(project: Project) -> None:
    """Whoever wrote `required: true` has decided."""
    assert WITHOUT not in await stop(project, {"module": "hooks-nonsense", "required": True})


async def test_an_unknown_module_that_resembles_none_is_told_with_those_there_are(
    project: Project,
) -> None:
    """Without a near name the whole list helps."""
    assert "Unknown module 'zzzzzz'; have context-simple, " in await stop(project, "zzzzzz")


async def test_a_file_that_is_not_there_is_not_taken_for_a_misspelt_id(project: Project) -> None:
    """The reason of a missing file is the missing file."""
    told = await stop(project, "./gone.py")
    assert "there is no file or folder" in told
    assert "did you mean" not in told


async def test_two_entries_of_one_module_have_their_own_lines(project: Project) -> None:
    """The name tells them apart."""
    right = {"module": "hooks-rules", "name": "first", "config": {"rules": []}}
    wrong = {"module": "hooks-rules", "name": "second", "config": {"rulez": []}}
    told = await stop(project, right, wrong)
    lines = (project.folder / "amplifier.yaml").read_text().splitlines()
    second = next(at for at, line in enumerate(lines, 1) if "rulez" in line)
    assert told.startswith(f"{project.folder / 'amplifier.yaml'}:{second}: hooks-rules: ")


@pytest.mark.parametrize("module_id", ["provider-scripted", None, "nobody-asked-for-this"])
def test_a_sentence_gets_the_line_of_its_module_if_there_is_one(
    project: Project, module_id: str | None
) -> None:
    """A module that no file asked for has no line."""
    bundle: Bundle = project.bundle()
    told = add_place(ModuleLoadError("Why.", module_id=module_id), bundle)
    if module_id == "provider-scripted":
        file, line, rest = told.split(":", 2)
        assert Path(file) == project.folder / "amplifier.yaml"
        assert (int(line) > 0, rest) == (True, " Why.")
    else:
        assert told == "Why."


SHADOWED = """
from amplifier_core.models import HookResult

async def refuse(event, data):
    return HookResult(action="deny", reason="never")

async def mount(coordinator, config):
    coordinator.hooks.register("tool:pre", refuse, name="refuse", on_error="deny")

async def on_session_ready(coordinator):
    coordinator.hooks.register("tool:pre", refuse, name="refuse late")
"""


async def test_a_hook_in_shadow_is_told_counted_and_holds_nobody(project: Project) -> None:
    """Also one that its module registers only once everything is mounted."""
    project.write("strict.py", SHADOWED)
    bundle = project.bundle(
        hooks=[{"module": "./strict.py", "mode": "shadow"}], tools=["tool-todo"]
    )
    async with project.session(bundle) as session:
        result = await session.execute_tool("Todo", {"todos": []})
        counts = session.coordinator.hooks.count()
    assert result.success, result.error
    assert "In shadow mode, recorded and without effect: strict" in project.shown("session")
    assert not [one for one in project.shown("hook:refuse") if "would have" in one]
    for name in ("refuse", "refuse late"):
        told = counts[name].to_dict()
        assert (told["calls"], told["shadowed"]) == (1, {"deny": 1})
        assert told["answers"] == {"continue": 1}
