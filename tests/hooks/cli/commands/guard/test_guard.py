"""amplifier guard: one group, with a command for each agent."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.coding_agents.known import TITLES
from tests.hooks.cli.program import invoke
from tests.support.agent_homes import install_codex


def test_every_agent_has_a_command(home: Path) -> None:
    """The help lists them all."""
    done = invoke("guard", "--help")
    assert done.code == 0
    assert all(name in done.stdout for name in TITLES)


def test_without_an_agent_all_on_this_machine_are_shown(home: Path) -> None:
    """Those that are installed, and those that have a guard."""
    nothing = invoke("guard")
    assert nothing.code == 1
    assert "No agent was found" in nothing.stdout
    install_codex(home)
    found = invoke("guard")
    assert found.code == 1
    assert "✗ Codex is not guarded: amplifier guard codex" in found.stdout
    invoke("guard", "codex")
    assert invoke("guard").code == 0
    invoke("guard", "cursor")
    listed = json.loads(invoke("guard", "--json").stdout)
    assert [one["agent"] for one in listed] == ["codex", "cursor"]
    assert [one["stands"] for one in listed] == [True, True]


def test_an_unknown_agent_is_wrong_usage(home: Path) -> None:
    """With the ones there are."""
    assert invoke("guard", "emacs").code == 2
