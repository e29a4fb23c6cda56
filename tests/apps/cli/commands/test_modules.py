"""amplifier modules: which there are, and whether one of your own keeps the contract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_apps.cli.commands.modules import find_installed, guess_kind
from tests.apps.cli.program import invoke, run_at_terminal
from tests.support.modules import write_distribution

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
