"""The loops of docs/embedding.md run with the real client libraries and a scripted model."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_hooks.agent.model_server import ModelServer
from tests.docs.blocks import markdown_blocks
from tests.docs.test_examples import NEEDS_A_MODEL

PAGE = Path(__file__).parents[2] / "docs" / "embedding.md"
PROGRAMS = [one.source for one in markdown_blocks(PAGE) if NEEDS_A_MODEL.search(one.source)]
BARE, WITH_OPENAI, WITH_ANTHROPIC = PROGRAMS

BUNDLE = """
name: embedded
rules:
  - name: keep-notes
    tool: shell
    regex: {tool_input.command: "^rm "}
    action: deny
    reason: notes stay
hooks:
  - module: remind
    source: ./remind.py
audit: {path: trail}
"""

REMINDER = """
from amplifier_core import HookResult, hook

@hook("tool:post")
async def remind(event, data):
    return HookResult(action="inject_context", context_injection="line 3 is too long")
"""

SCRIPT: list[dict[str, Any]] = [
    {
        "tool_calls": [
            {"name": "shell", "input": {"command": "echo one"}},
            {"name": "shell", "input": {"command": "rm notes.txt"}},
        ]
    },
    {"text": "I am done."},
]


async def run_program(source: str, folder: Path, server: ModelServer) -> str:
    """What the program prints, run as a reader would."""
    (folder / "program.py").write_text(source)
    (folder / "notes.txt").write_text("mine")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "program.py",
        "Clean up",
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "OPENAI_BASE_URL": server.openai_url,
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "none",
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await asyncio.wait_for(process.communicate(), 100)
    assert process.returncode == 0, error.decode()
    return out.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a rule, a hook that reminds, and a trail."""
    (tmp_path / "amplifier.yaml").write_text(BUNDLE)
    (tmp_path / "remind.py").write_text(REMINDER)
    return tmp_path


def list_kinds(messages: list[Any]) -> list[str]:
    """The role of each message; of what carries results, that it does."""
    return [
        "results" if one["role"] == "tool" or _has_results(one) else one["role"] for one in messages
    ]


def _has_results(message: dict[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, list) and content[0]["type"] == "tool_result"


async def test_without_hooks_the_loop_does_what_the_model_says(folder: Path) -> None:
    async with ModelServer(SCRIPT) as server:
        assert await run_program(BARE, folder, server) == "I am done.\n"
    assert not (folder / "notes.txt").exists()


@pytest.mark.parametrize(
    ("program", "sent"),
    [
        (WITH_OPENAI, ["user", "assistant", "results", "results", "system"]),
        (WITH_ANTHROPIC, ["user", "assistant", "results", "user"]),
    ],
    ids=["openai", "anthropic"],
)
async def test_with_hooks_it_does_what_they_allow(
    folder: Path, program: str, sent: list[str]
) -> None:
    """The denial and the reminder reach the model; nothing stands between a call and its result."""
    async with ModelServer(SCRIPT) as server:
        assert await run_program(program, folder, server) == "I am done.\n"
        messages = server.requests[1].body["messages"]
    assert (folder / "notes.txt").read_text() == "mine"
    assert list_kinds(messages) == sent
    text = str(messages)
    assert "one" in text
    assert "notes stay" in text
    assert text.count("line 3 is too long") == 1
    (log,) = (folder / "trail").iterdir()
    kinds = [record["type"] for record in read_records(open_log(log))]
    assert kinds.count("session_started") == kinds.count("session_ended") == 1
    assert kinds.count("tool_started") == kinds.count("tool_finished") == 1


def test_the_loop_with_hooks_is_as_short_as_the_page_says() -> None:
    """At most 50 lines, and what is new in them are the names that the page explains."""
    for program in (WITH_OPENAI, WITH_ANTHROPIC):
        assert len(program.splitlines()) <= 50
    words = set(re.findall(r"[\w.]+", WITH_OPENAI)) - set(re.findall(r"[\w.]+", BARE))
    new = {"GuardSync", "guard", "guard.session", "run", "run.prompt", "run.messages"}
    new |= {"run.call", "run.answer", "amplifier_hooks", "amplifier.yaml"}
    assert words - {"With", "with", "as", "id"} == new
