"""amplifier modules: which there are, and whether one of your own keeps the contract."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.modules import find_installed, guess_kind
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_at_terminal
from tests.support.modules import imports_undone, write_distribution, write_package

HOOK = "async def on_tool_pre(event, data):\n    return None\n"


def test_modules_are_listed_without_importing_them(home: Path) -> None:
    """Their id, their kind and what they do."""
    shown = invoke("modules", "list", "--kind", "provider").stdout
    assert "provider-scripted" in shown
    assert "tool-bash" not in shown
    known = json.loads(invoke("modules", "list", "--json").stdout)
    assert {"id", "kind", "target", "package", "summary"} <= set(known[0])


def test_every_installed_module_has_a_kind_and_a_summary() -> None:
    """The summary is the first line of its docstring, without its name."""
    found = find_installed()
    assert found == sorted(found, key=lambda one: (one.kind, one.id))
    assert {one.kind for one in found} == {"context", "hook", "orchestrator", "provider", "tool"}
    for one in found:
        assert one.summary
        assert not one.summary.startswith((one.id, "cannot be read", "(not there)"))


def test_of_two_modules_with_one_id_the_one_that_mounts_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever installed another one sees that one, with its package."""
    write_distribution(tmp_path, "theirs", {"tool-bash": "amplifier_module_tool_bash:mount"})
    monkeypatch.syspath_prepend(str(tmp_path))
    [found] = [one for one in find_installed() if one.id == "tool-bash"]
    assert (found.package, found.target) == ("theirs", "amplifier_module_tool_bash:mount")


def test_a_hook_of_ones_own_is_validated(home: Path) -> None:
    """By its path, with the promise that was not kept, and exit code 3."""
    (home / "mine.py").write_text(HOOK)
    good = invoke("modules", "validate", "--run", "./mine.py")
    assert good.code == 0, good.output
    assert good.stdout.startswith("./mine.py  as a hook\n")
    (home / "broken.py").write_text("x = 1\n")
    bad = invoke("modules", "validate", "--run", "./broken.py")
    assert bad.code == 3
    assert "✗" in bad.stdout


def test_an_installed_module_is_validated_by_its_id(home: Path) -> None:
    """As JSON, for machines."""
    told = json.loads(invoke("modules", "validate", "tool-todo", "--json").stdout)
    assert told["passed"] is True
    assert all(check["passed"] for check in told["checks"])


def test_a_config_that_is_no_object_is_wrong_usage(home: Path) -> None:
    """Named by its option."""
    done = invoke("modules", "validate", "tool-todo", "--config", "[]")
    assert done.code == 2
    assert "--config must be a JSON object, got list" in done.stderr


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        ("tool-bash", "tool"),
        ("./my/loop_fast.py", "orchestrator"),
        ("amplifier-module-provider-x", "provider"),
        ("context-simple", "context"),
        ("./mine.py", "hook"),
    ],
)
def test_the_kind_is_guessed_from_the_name(module: str, kind: str) -> None:
    """What says nothing is taken for a hook."""
    assert guess_kind(module) == kind


def test_on_a_terminal_a_summary_is_cut_not_wrapped(home: Path) -> None:
    """One row for each module, at any width."""
    with run_at_terminal("modules", "list", columns=60, rows=60) as program:
        assert program.wait_end() == 0
        lines = [line for line in program.lines() if line]
    assert len(lines) == len(find_installed())
    assert any(line.endswith("…") for line in lines)


TELLTALE = "from pathlib import Path\nPath({!r}).touch()\n"


@pytest.mark.parametrize("command", [["modules", "list"], ["doctor"]])
def test_looking_around_runs_nothing_of_the_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """Even if it is on the path of imports: asking where a part is would import the whole."""
    package = write_package(home, "hooks-mine", TELLTALE.format(str(home / "it-ran")), part="x = 1")
    write_distribution(home / "site", "mine", {"hooks-mine": f"{package.name}.part:mount"})
    (home / "opentelemetry").mkdir()
    (home / "opentelemetry" / "__init__.py").write_text(TELLTALE.format(str(home / "it-ran")))
    for place in (home / "site", home):
        monkeypatch.syspath_prepend(str(place))
    for name in [one for one in sys.modules if one.startswith("opentelemetry")]:
        monkeypatch.delitem(sys.modules, name)
    with imports_undone():
        assert invoke(*command).code == 0
    assert not (home / "it-ran").exists()


@pytest.mark.parametrize("how", ["file", "folder", "search path", "importable"])
def test_nothing_that_nobody_trusted_is_run(
    home: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Whatever name it is given by."""
    text = TELLTALE.format(str(home / "it-ran")) + HOOK
    monkeypatch.setenv("AMPLIFIER_MODULES", str(home / "modules"))
    given = {"file": "./mine.py", "folder": "./amplifier_module_hooks_mine"}.get(how, "hooks-mine")
    if how == "file":
        (home / "mine.py").write_text(text)
    elif how == "search path":
        write_package(home / "modules" / "amplifier-module-hooks-mine", "hooks-mine", text)
    else:
        write_package(home, "hooks-mine", text)
        monkeypatch.syspath_prepend(str(home))
    with imports_undone():
        done = invoke("modules", "validate", given)
    assert done.code == 3
    assert not (home / "it-ran").exists()


def test_what_is_trusted_is_validated_as_it_was_trusted(project: Project, home: Path) -> None:
    """A file by itself counts, if its content is part of the bundle."""
    (home / "mine.py").write_text(HOOK)
    project({"text": "hi"}, hooks=["./mine.py"])
    good = invoke("modules", "validate", "./mine.py")
    assert good.code == 0, good.output
    assert good.stdout.startswith("./mine.py  as a hook\n")
    (home / "mine.py").write_text(HOOK + "\n")
    refused = invoke("modules", "validate", "./mine.py")
    assert refused.code == 3
    assert "nobody has trusted this, so it was not run" in refused.stderr


def test_a_file_that_is_not_there_is_a_failed_check(home: Path) -> None:
    """Not a question of trust."""
    done = invoke("modules", "validate", "./missing.py")
    assert done.code == 3
    assert "there is no file or folder" in done.stdout
