"""Whole sessions of modules written the ecosystem's way, with each other and with modules of ours.

The modules in `ecosystem/` import only what the ecosystem offers its authors, and nothing in them
was adapted to us. Each is combined with ours, and found by its source, its entry point or a
resolver that an application mounts before the start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import ALL_EVENTS
from tests.compat.ecosystem.app import App, FolderResolver, Screen
from tests.support.ecosystem import (
    CONTEXTS,
    FOLDER,
    IDS,
    LOOPS,
    PACKAGES,
    PROVIDERS,
    THEIR_LOOPS,
    Conversation,
    Outcome,
    build_plan,
    read_lines,
    run_session,
)
from tests.support.modules import imports_undone, write_distribution

ADD = ("notes", {"operation": "add", "text": "milk"})
MISS = ("notes", {"operation": "read", "number": 7})
CONVERSATION: Conversation = ([ADD, MISS], "Noted.", "Bye.")
SECRET = "sk-" + "a1b2c3d4" * 6
PROMPT = f"Buy milk with {SECRET}"

BLOCK = ["content_block:start", "content_block:end"]
"""What a turn of two calls and a reply consists of, by the loop that runs it; the kernel adds
nothing to what their loops tell."""


def list_turn(loop: str, provider: str) -> list[str]:
    """The events of the first turn, as far as loops have them in common."""
    streams = loop == "loop-blocks" or (loop, provider) == ("loop-streaming", "provider-scripted")
    blocks = 3 if provider == "provider-parrot" else 2
    calls = ["tool:pre", "tool:post"] * 2
    replied = [] if loop == "loop-blocks" else ["provider:response"]
    first = ["provider:request", *(BLOCK * blocks if streams else []), *replied]
    second = ["provider:request", *(BLOCK if streams else []), *replied]
    asked = [*first, *calls, *second]
    return {
        "loop-plain": [
            "prompt:submit", *asked, "prompt:complete", "orchestrator:complete",
        ],
        "loop-blocks": [
            "prompt:submit", "execution:start", *asked,
            "execution:end", "orchestrator:complete", "prompt:complete",
        ],
    }.get(loop) or [
        "prompt:submit", "execution:start", *asked,
        "orchestrator:complete", "execution:complete", "prompt:complete",
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


@pytest.fixture
def way(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """How modules of theirs are found; installs them where that is the way."""
    chosen: str = request.param
    if chosen == "entry point":
        names = dict(zip(IDS, PACKAGES, strict=True))
        found = {module_id: f"{package}:mount" for module_id, package in names.items()}
        write_distribution(tmp_path / "site", "theirs", found)
        monkeypatch.syspath_prepend(str(FOLDER))
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return chosen


def hooks_of(kind: str, folder: Path) -> dict[str, dict[str, Any]]:
    theirs: dict[str, dict[str, Any]] = {
        "hooks-journal": {"path": str(folder / "journal.jsonl")},
        "hooks-status": {"after_tools": True},
        "hooks-gate": {"ask": ["delete"], "deny": ["purge"]},
        "hooks-masking": {},
        "hooks-routing": {},
    }
    ours: dict[str, dict[str, Any]] = {
        "hooks-logging": {"path": str(folder / "log.jsonl")},
        "hooks-redaction": {},
        "hooks-todo-display": {},
    }
    kinds = {"none": {}, "theirs": theirs, "ours": ours, "both": {**ours, **theirs}}
    return kinds[kind]


# Every combination


@pytest.mark.parametrize("way", ["source", "entry point", "resolver"], indirect=True)
@pytest.mark.parametrize("hooks", ["none", "theirs", "ours", "both"])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("loop", LOOPS)
async def test_modules_of_both_kinds_make_a_session(
    loop: str, context: str, provider: str, hooks: str, way: str, tmp_path: Path
) -> None:
    """Whoever wrote the loop, the context, the provider and the hooks."""
    resolver = FolderResolver(FOLDER) if way == "resolver" else None
    plan = build_plan(
        CONVERSATION,
        loop=loop,
        context=context,
        provider=provider,
        tools=["tool-notes", "tool-todo"],
        hooks=hooks_of(hooks, tmp_path),
        by_source=way == "source",
    )
    app = App(tmp_path, resolver=resolver, screen=Screen())
    path = list(sys.path)
    outcome = await run_session(app, plan, PROMPT, "And now?")

    assert outcome.replies == ["Noted.", "Bye."]
    assert outcome.store.notes == {1: "milk"}
    check_events(outcome, loop, provider)
    check_conversation(outcome, loop, hooks)
    check_dict_error(outcome)
    check_end(outcome)
    assert sys.path == path
    if hooks in ("theirs", "both"):
        check_their_hooks(outcome, provider, tmp_path)
    else:
        assert not outcome.requests.find("<status>")
    if resolver is not None:
        assert set(resolver.asked) >= {one["module"] for one in plan["hooks"]}


def check_events(outcome: Outcome, loop: str, provider: str) -> None:
    """Each occurrence is told once, in the order of the loop."""
    expected = list_turn(loop, provider)
    assert outcome.names_in_first_turn(set(expected)) == expected
    names = [name for name, _ in outcome.heard.events]
    for once in ("session:start", "session:end"):
        assert names.count(once) == 1
    for once_a_prompt in ("prompt:submit", "prompt:complete", "orchestrator:complete"):
        assert names.count(once_a_prompt) == 2
    assert {data["session_id"] for _, data in outcome.heard.events} == {outcome.session.session_id}


def check_conversation(outcome: Outcome, loop: str, hooks: str) -> None:
    """What hooks say of a prompt is for the loop to take; theirs keep the prompt."""
    roles = [one["role"] for one in outcome.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    kept = outcome.messages[0]["content"]
    assert (SECRET in kept) is (loop in THEIR_LOOPS or hooks == "none")
    assert len(outcome.requests.requests) == 3
    assert "tool: There is no note 7" in outcome.requests.texts[1]


def check_dict_error(outcome: Outcome) -> None:
    """The tool's own words for what went wrong reach the hooks whole."""
    (failed,) = [
        result["error"]
        for result in (
            data.get("tool_result") or data["result"] for data in outcome.data_of("tool:post")
        )
        if not result["success"]
    ]
    assert failed == {"message": "There is no note 7", "code": "not_found", "available": [1]}


def check_end(outcome: Outcome) -> None:
    """Everything is undone."""
    assert outcome.store.closed
    hooks = outcome.coordinator.hooks
    left = {name for names in hooks.list_handlers().values() for name in names}
    assert left <= {"heard", "hooks-routing"}


def check_their_hooks(outcome: Outcome, provider: str, folder: Path) -> None:
    """The journal is whole and masked, the status is told once, the router found what it seeks."""
    lines = read_lines(folder / "journal.jsonl")
    told = [name for name, _ in lines]
    names = [name for name, _ in outcome.heard.events]
    started = names.index("session:start")
    known = {*ALL_EVENTS, "notes:added"}
    assert (told[0], told[-1]) == ("session:start", "session:end")
    assert told == [name for name in names[started:] if name in known]
    assert SECRET not in (folder / "journal.jsonl").read_text()
    prompts = [data["prompt"] for name, data in lines if name == "prompt:submit"]
    assert prompts[0].startswith("Buy milk with [")
    for number in (1, 2, 3):
        assert outcome.requests.find(f"<status>request {number}</status>") == [number]
    for number in (1, 2):
        assert outcome.requests.find(f"<reminder>tool call {number}</reminder>") == [2]
    assert "<status>" not in str(outcome.messages)
    assert "<reminder>" not in str(outcome.messages)
    assert outcome.coordinator.get_capability("session.routing") == {
        "providers": [provider.removeprefix("provider-")],
        "models": ["grey" if provider == "provider-parrot" else "scripted"],
        "tools": ["Todo", "notes"],
        "memory": True,
        "loop": True,
        "context": True,
        "started": outcome.session.session_id,
    }
