"""/audit: what happened in this session, told from its trail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from amplifier_hooks.cli.commands.chat.slash_commands import tell_story
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import run_amplifier
from tests.support.sessions import calls


def test_the_session_is_told_so_far(project: Project) -> None:
    """The prompt, the call and its outcome, while the trail is still being written."""
    project(calls("Bash", command="echo hi"), {"text": "Said."})
    done = run_amplifier("chat", stdin="say hi\n/audit\n")
    for part in ("say hi", "Bash  echo hi", "Said."):
        assert part in done.stdout.partition("Said.")[2]


async def test_without_a_trail_it_is_said_what_would_keep_one() -> None:
    """Nothing was recorded, so nothing can be told."""
    said: list[str] = []
    agent: Any = SimpleNamespace(
        session=SimpleNamespace(config={}), notify=lambda text, level: said.append(text)
    )
    await tell_story(agent)
    assert said == ["This bundle keeps no trail: `audit: {enabled: true}` would."]
