"""The tools, and the one way through which every answer leaves."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import Field

from amplifier_core.errors import AmplifierError
from amplifier_hooks.mcp.server import toolbox as toolbox_module
from amplifier_hooks.mcp.server.presenter import MOST_BYTES
from amplifier_hooks.mcp.server.tool import Arguments, Refused, Result, Tool
from amplifier_hooks.mcp.server.toolbox import INSTRUCTIONS, TEXTS, Reply
from amplifier_hooks.mcp.server.trails import Scope, TooWide, choose_scope
from tests.hooks.mcp.server.world import KEYED, MINE, OTHERS, SECRET, World


def test_a_refusal_is_an_error_to_be_read() -> None:
    """The command line shows such errors as a sentence."""
    assert isinstance(Refused("No session 'x'"), AmplifierError)
    assert str(Refused("No session 'x'")) == "No session 'x'"


class Given(Arguments):
    """Some arguments."""

    title: str = Field(max_length=5, description="A title.")
    limit: int = Field(3, ge=1)


class Got(Result):
    """Some answer."""

    title: str


async def run(arguments: Given) -> Got:
    return Got(summary="Done.", title=arguments.title * arguments.limit)


TOOL = Tool("repeat", "Repeat", "Repeats.", Given, Got, run)


async def test_valid_arguments_get_an_answer() -> None:
    """What is left out has its default."""
    assert await TOOL.call({"title": "ab"}) == Got(summary="Done.", title="ababab")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (None, "title: Field required"),
        ({"title": 5}, "title: Input should be a valid string"),
        ({"title": "a", "limit": "3"}, "limit: Input should be a valid integer"),
        ({"title": "a", "limit": True}, "limit: Input should be a valid integer"),
        ({"title": "too long"}, "title: String should have at most 5 characters"),
        ({"title": "a", "limt": 3}, "limt: Extra inputs are not permitted"),
        ([1], "arguments: Input should be a valid dictionary"),
    ],
)
async def test_wrong_arguments_are_refused_by_name(arguments: Any, told: str) -> None:
    """Nothing is converted, and nothing unknown passed over."""
    with pytest.raises(Refused, match=f"^repeat: {told}"):
        await TOOL.call(arguments)


async def test_a_refusal_does_not_repeat_what_was_given() -> None:
    """It may be a secret, or long."""
    with pytest.raises(Refused) as refused:
        await TOOL.call({"title": "correct-horse-battery"})
    assert "horse" not in str(refused.value)


def test_schemas_have_no_made_up_titles_and_allow_nothing_more() -> None:
    """A member that is called title stays."""
    assert TOOL.input_schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 5, "description": "A title."},
            "limit": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    assert TOOL.output_schema["properties"]["title"] == {"type": "string"}


ROOT = Path(__file__).parents[4]
DECIDES = re.compile(
    r"allow|approve|decide|grant|nonce|revoke|withdraw|vote|password|token|rule_id", re.IGNORECASE
)


def list_members(schema: object) -> set[str]:
    """The names of all members, however deep."""
    if isinstance(schema, list):
        return {name for one in schema for name in list_members(one)}
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {}))
    return own | {name for one in schema.values() for name in list_members(one)}


def test_every_tool_is_told_of_and_has_exact_schemas(full_world: World) -> None:
    """Objects that take nothing unknown, with a description for each argument."""
    tools: list[Tool] = list(full_world.open().tools.values())
    assert [one.name for one in tools] == list(TEXTS)
    for tool in tools:
        assert tool.name in INSTRUCTIONS
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["additionalProperties"] is False
        assert all("description" in one for one in tool.input_schema.get("properties", {}).values())
        assert len(json.dumps(tool.input_schema)) < 2_000


def test_no_tool_takes_anything_with_which_one_could_decide(full_world: World) -> None:
    """Neither by its name nor by an argument; who allowed something may be shown."""
    for tool in full_world.open().tools.values():
        assert not DECIDES.search(tool.name)
        assert not [one for one in list_members(tool.input_schema) if DECIDES.search(one)]
    shown = {
        name
        for tool in full_world.open().tools.values()
        for name in list_members(tool.output_schema)
        if DECIDES.search(name)
    }
    assert shown == {"allowed_by", "requester_may_approve"}


def test_the_page_names_every_tool(full_world: World) -> None:
    """And nothing that is not there."""
    page = (ROOT / "docs" / "mcp" / "server.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert rows == list(full_world.open().tools)


def test_a_folder_covers_itself_and_what_lies_below(tmp_path: Path) -> None:
    """Not its neighbours, not one whose name only begins alike, and nothing without a place."""
    scope = Scope(tmp_path / "shop")
    assert scope.covers(str(tmp_path / "shop"))
    assert scope.covers(str(tmp_path / "shop" / "api" / "v2"))
    for place in ("shopping", "bank", "shop/../bank", "."):
        assert not scope.covers(str(tmp_path / place))
    assert not scope.covers("")
    assert not scope.covers("a\0b")


def test_a_link_is_followed_before_it_is_judged(tmp_path: Path) -> None:
    """Both ways: into the folder, and out of it."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "bank").mkdir()
    (tmp_path / "shop" / "out").symlink_to(tmp_path / "bank")
    (tmp_path / "in").symlink_to(tmp_path / "shop")
    scope = choose_scope(tmp_path / "in", everything=False)
    assert scope.folder == tmp_path / "shop"
    assert scope.covers(str(tmp_path / "in" / "api"))
    assert not scope.covers(str(tmp_path / "shop" / "out"))


def test_without_a_folder_everything_is_covered() -> None:
    """A person has said so."""
    assert choose_scope(Path("/"), everything=True).covers("")


@pytest.mark.parametrize("folder", ["/", ".", ".."])
def test_a_folder_that_holds_the_home_is_refused(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that starts its servers nowhere in particular would show everything."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TooWide, match="--folder, or say --all"):
        choose_scope(Path(folder), everything=False)


FORBIDDEN = (
    "amplifier_audit.writer",
    "amplifier_hooks.approvals",
    "amplifier_hooks.approvals.client",
    "amplifier_hooks.approvals.stores.access",
    "amplifier_hooks.approvals.stores.approvals",
    "amplifier_hooks.approvals.stores.decisions",
    "amplifier_hooks.approvals.stores.rules",
    "amplifier_hooks.approvals.stores.sqlite",
    "amplifier_hooks.approvals.stores.store",
    "amplifier_hooks.cli",
    "amplifier_hooks.server",
)
"""What decides, or writes what decisions are made of."""

HOSTILE_NAMES = ["..", "../../etc/passwd", "/", "' OR 1=1 --", "%", "\0", SECRET, "tool:pre"]
texts = st.text(max_size=30) | st.sampled_from([MINE, MINE[:5], OTHERS, *HOSTILE_NAMES])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
NAMES = """
session sequence id limit cursor text tool hook event status tool_name tool_input since until type
action
"""
names = st.sampled_from(NAMES.split())
numbers = st.integers(-1, 300)
plausible = st.fixed_dictionaries(
    {},
    optional={
        "session": texts,
        "sequence": numbers,
        "id": texts,
        "limit": numbers,
        "cursor": texts,
        "text": texts,
        "tool_name": st.sampled_from(["Bash", "Write", "Read", SECRET]),
        "tool_input": st.dictionaries(
            st.sampled_from(["command", "file_path", "content"]),
            st.sampled_from(["rm -rf /", "ls", "touch x > y", "a.txt", SECRET]),
        ),
    },
)
arguments = plausible | st.dictionaries(names, values, max_size=4) | values


calls = st.lists(st.tuples(st.sampled_from([*TEXTS, "nope"]), arguments), min_size=3, max_size=3)
SHARED_HOME = [HealthCheck.function_scoped_fixture]


@settings(max_examples=12, suppress_health_check=SHARED_HOME)
@given(calls)
def test_whatever_is_asked_nothing_changes_and_no_secret_leaves(
    full_world: World, asked: list[tuple[str, Any]]
) -> None:
    """Not one byte of the store, the trails, the keys or any other file; and answers stay small."""
    ask_without_a_trace(full_world, asked)


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=SHARED_HOME, deadline=None)
@given(calls)
def test_it_stays_so_for_a_long_time(full_world: World, asked: list[tuple[str, Any]]) -> None:
    """The same with many more questions."""
    ask_without_a_trace(full_world, asked)


def ask_without_a_trace(full_world: World, asked: list[tuple[str, Any]]) -> None:
    """Call tools, and look at every answer and at every file."""
    before = full_world.digest()

    async def ask() -> list[Reply]:
        async with full_world.open() as toolbox:
            return [await toolbox.call(name, arguments) for name, arguments in asked]

    for reply in asyncio.run(ask()):
        told = reply.text + json.dumps(reply.structured)
        assert SECRET not in told
        assert KEYED not in told
        assert "vault" not in told
        assert len(told) < 3 * MOST_BYTES
        assert reply.is_error is (reply.structured is None)
        assert "fault of the server" not in told
    assert full_world.digest() == before


async def test_every_tool_answers(full_world: World) -> None:
    """In words for readers, and in the members of its schema for programs."""
    arguments = {
        "check_call": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
        "get_record": {"session": MINE, "sequence": 0},
        "verify_trail": {"session": MINE},
    }
    async with full_world.open() as toolbox:
        approvals = await toolbox.call("list_approvals", {})
        arguments["get_approval"] = {"id": approvals.structured["approvals"][0]["id"]}
        for name, tool in toolbox.tools.items():
            reply = await toolbox.call(name, arguments.get(name))
            assert not reply.is_error, reply.text
            tool.result.model_validate(reply.structured)
            assert reply.text.startswith(reply.structured["summary"])


async def test_a_tool_that_fails_is_told_without_its_innards(
    full_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server goes on."""

    async def fail(_: object) -> Any:
        raise KeyError(SECRET)

    async with full_world.open() as toolbox:
        monkeypatch.setattr(type(toolbox.tools["list_sessions"]), "call", lambda *_: fail(None))
        reply = await toolbox.call("list_sessions", {})
    assert reply == Reply(
        None, "list_sessions failed (KeyError); this is a fault of the server", is_error=True
    )


async def test_a_tool_that_hangs_is_given_up(
    full_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client would wait for ever."""

    async def hang(_: object) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(toolbox_module, "SECONDS", 0.01)
    async with full_world.open() as toolbox:
        monkeypatch.setattr(type(toolbox.tools["list_sessions"]), "call", lambda *_: hang(None))
        reply = await toolbox.call("list_sessions", {})
    assert reply.is_error
    assert "took longer than" in reply.text


async def test_the_bundle_is_described_without_the_values_of_options(world: World) -> None:
    """They may be secrets; which modules there are is none."""
    rate = {"module": "hooks-rate-limit", "config": {"tools": {"Bash": {"calls": 314159}}}}
    world.save_bundle(hooks=[rate])
    async with world.open() as toolbox:
        text = await toolbox.describe_bundle()
    assert 'module: "hooks-rate-limit"' in text
    assert "314159" not in text


@pytest.mark.slow
def test_nothing_that_decides_is_even_loaded(full_world: World) -> None:
    """After every tool was called, the process has no code with which it could."""
    script = f"""
import asyncio, sys
from pathlib import Path
from amplifier_hooks.mcp.server.trails import Scope
from amplifier_hooks.mcp.server.toolbox import Settings, Toolbox

async def main():
    async with Toolbox(Settings(Path.cwd(), Scope(None))) as toolbox:
        arguments = {{"tool_name": "Bash", "id": "none", "session": {MINE!r}, "sequence": 1}}
        for name, tool in toolbox.tools.items():
            wanted = tool.arguments.model_fields
            await toolbox.call(name, {{k: v for k, v in arguments.items() if k in wanted}})

asyncio.run(main())
print(*sorted(name for name in sys.modules if name.startswith({FORBIDDEN!r})))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert (done.stdout, done.stderr) == ("\n", "")
