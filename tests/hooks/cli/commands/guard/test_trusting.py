"""A guard is put up only with a bundle that a person has trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.cli.program import invoke, run_at_terminal
from tests.support.trust import trust_project


def test_a_bundle_that_nobody_trusts_is_not_put_in_front_of_an_agent(project: Path) -> None:
    """It would deny everything; without a terminal, the command to run is named."""
    done = invoke("guard", "claude")
    assert done.code == 3
    assert "has not been trusted yet" in done.stderr
    assert "amplifier trust --digest" in done.stderr
    assert not (project / ".claude").exists()


@pytest.mark.slow
def test_at_a_terminal_the_person_is_asked_for_trust(project: Path) -> None:
    """And sees what would run."""
    with run_at_terminal("guard", "claude", columns=100, rows=30) as program:
        program.wait_for_question("Trust this folder?", "The bundle amplifier.yaml")
        program.press("\x1b[F")  # to the end, which must have been seen
        program.wait_for("Asked by  trust")
        program.press("a")
        program.wait_for("Claude Code is guarded now")
        assert program.wait_end() == 0
    assert (project / ".claude" / "settings.local.json").is_file()


def test_a_named_bundle_is_trusted_where_it_lies(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command says where, and with which option."""
    bundle = project / "strict.yaml"
    bundle.write_text("name: strict\n")
    done = invoke("guard", "claude", "--user", "--bundle", bundle)
    assert done.code == 3
    assert f"Run that in {project}, and add --bundle {bundle}" in done.stderr
    trust_project(project, bundle)
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    assert invoke("guard", "claude", "--user", "--bundle", bundle).code == 0
    assert invoke("guard", "claude", "--status").code == 0
