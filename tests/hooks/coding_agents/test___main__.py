"""python -m amplifier_hooks.coding_agents"""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.__main__ import _create_judge, main
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge


@pytest.mark.parametrize("argv", [[], ["relative"], ["/a", "/b"]])
def test_it_says_how_to_use_it(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One folder, by its full path."""
    assert main(argv) == 2
    assert capsys.readouterr().err.startswith("usage: ")


def test_it_judges_with_the_sessions_of_the_guests(tmp_path: Path) -> None:
    """The judge is the real one."""
    assert isinstance(_create_judge(tmp_path), AgentJudge)
