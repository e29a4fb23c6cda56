"""What is said of each framework: complete, consistent, and cheap to read."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_hooks.coverage import (
    AGENT_FRAMEWORK,
    AGENT_HOOKS,
    ALL,
    CLAUDE_AGENT_SDK,
    CLAUDE_AGENT_SDK_BY_OPTIONS,
    CREWAI,
    FASTMCP,
    GOOGLE_ADK,
    LANGCHAIN,
    NOTHING,
    OPENAI_AGENTS,
    PYDANTIC_AI,
    STRANDS,
    TABLES,
    Coverage,
)


def test_agent_framework_everything_that_is_judged_can_be_refused_and_changed() -> None:
    """Prompts, requests, replies, calls, results and answers."""
    judged = ("prompt:submit", "provider:request", "provider:response", "tool:pre", "tool:post")
    for event in (*judged, "prompt:answer"):
        assert AGENT_FRAMEWORK.allows(event, "deny")
        assert AGENT_FRAMEWORK.allows(event, "modify")


def test_agent_framework_nothing_follows_the_answer() -> None:
    """The table says why text cannot be added there."""
    assert not AGENT_FRAMEWORK.allows("prompt:answer", "inject_context")
    assert "ends the turn" in AGENT_FRAMEWORK.explain("prompt:answer", "inject_context")


def test_agent_hooks_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert AGENT_HOOKS.allows("tool:pre", act)


def test_agent_hooks_at_the_start_nothing_can_be_rewritten_or_asked() -> None:
    """The table says why."""
    assert "rewritten" in AGENT_HOOKS.explain("session:start", "modify")
    assert "lift" in AGENT_HOOKS.explain("session:start", "ask_user")


def test_agent_hooks_a_question_is_left_to_the_host_before_people_are_asked_here() -> None:
    """The contract has a place for it."""
    assert AGENT_HOOKS.asking == ("interrupt", "inline")


def test_claude_agent_sdk_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert CLAUDE_AGENT_SDK.allows("tool:pre", act)
        assert CLAUDE_AGENT_SDK.allows("tool:post", act)


def test_claude_agent_sdk_options_alone_can_do_less() -> None:
    """And the table says what would do more."""
    assert CLAUDE_AGENT_SDK.allows("prompt:submit", "modify")
    assert not CLAUDE_AGENT_SDK_BY_OPTIONS.allows("prompt:submit", "modify")
    assert "amplified_query" in CLAUDE_AGENT_SDK_BY_OPTIONS.explain("prompt:submit", "modify")
    assert CLAUDE_AGENT_SDK.allows("prompt:answer", "deny")
    assert not CLAUDE_AGENT_SDK_BY_OPTIONS.allows("prompt:answer", "deny")
    assert "AmplifiedClient" in CLAUDE_AGENT_SDK_BY_OPTIONS.explain("prompt:answer", "deny")


def test_claude_agent_sdk_the_model_is_not_shown() -> None:
    """The program talks to it by itself."""
    assert "provider:request" not in CLAUDE_AGENT_SDK.events
    assert "requests" in CLAUDE_AGENT_SDK.explain("provider:request", "deny")


TABLE = Coverage(
    name="x",
    framework="X",
    package="x",
    module="x",
    attach="x(hooks)",
    events={"tool:pre": ALL, "tool:post": frozenset({"deny"}), "session:end": NOTHING},
    unseen=("its dreams",),
    limits={"tool:post modify": "results are final", "prompt:submit": "it has no prompts"},
)


def test_an_act_is_allowed_where_the_table_has_it() -> None:
    """And nowhere else."""
    assert TABLE.allows("tool:pre", "modify")
    assert not TABLE.allows("tool:post", "modify")
    assert not TABLE.allows("prompt:submit", "deny")


def test_what_is_missing_has_a_reason() -> None:
    """Of the act, of the event, or that there is no place for it."""
    assert TABLE.explain("tool:post", "modify") == "results are final"
    assert TABLE.explain("prompt:submit", "deny") == "it has no prompts"
    assert TABLE.explain("tool:post", "ask_user") == "X offers no place for it"


def test_events_that_only_tell_decide_nothing() -> None:
    """They are not listed as places where hooks decide."""
    assert TABLE.list_decided() == ["tool:pre", "tool:post"]


def test_crewai_every_answer_works_at_tools_and_models() -> None:
    """Denied, changed, asked about, commented on."""
    for event in ("tool:pre", "tool:post", "provider:request", "provider:response"):
        for act in ("deny", "modify", "ask_user", "inject_context"):
            assert CREWAI.allows(event, act)


def test_crewai_the_start_of_a_coworker_is_taken_or_refused() -> None:
    """The table says where to change it instead."""
    assert CREWAI.allows("agent:spawn", "deny")
    assert not CREWAI.allows("agent:spawn", "modify")
    assert "tool:pre" in CREWAI.explain("agent:spawn", "modify")


def test_fastmcp_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert FASTMCP.allows("tool:pre", act)
        assert FASTMCP.allows("tool:post", act)


def test_fastmcp_a_server_knows_nothing_of_the_model() -> None:
    """The table says so for each event that a hook might wait for."""
    for event in ("prompt:submit", "prompt:answer", "provider:request", "provider:response"):
        assert event not in FASTMCP.events
        assert "MCP server sees no" in FASTMCP.explain(event, "deny")


def test_google_adk_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert GOOGLE_ADK.allows("tool:pre", act)


def test_google_adk_nothing_follows_the_answer() -> None:
    """The table says why text cannot be added there."""
    assert not GOOGLE_ADK.allows("prompt:answer", "inject_context")
    assert "answer" in GOOGLE_ADK.explain("prompt:answer", "inject_context")


DECIDED = (
    "prompt:submit",
    "prompt:answer",
    "provider:request",
    "provider:response",
    "tool:pre",
    "tool:post",
)


@pytest.mark.parametrize("event", DECIDED)
def test_langchain_every_answer_works_where_hooks_decide(event: str) -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert LANGCHAIN.allows(event, act), f"{act} at {event}"


def test_langchain_what_a_stream_has_shown_is_said() -> None:
    """Nobody can take back what was read."""
    for event in ("prompt:answer", "provider:response"):
        assert "streams" in LANGCHAIN.explain(event, "deny")


def test_langchain_the_net_is_named_where_sub_agents_are_not_seen() -> None:
    """Whoever reads what is unseen learns what helps."""
    assert any("net()" in one for one in LANGCHAIN.unseen)


def test_openai_agents_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert OPENAI_AGENTS.allows("tool:pre", act)


def test_openai_agents_an_agent_is_chosen_before_hooks_are_asked() -> None:
    """They may deny that it starts, and the table says why they cannot choose another one."""
    assert OPENAI_AGENTS.allows("agent:spawn", "deny")
    assert not OPENAI_AGENTS.allows("agent:spawn", "modify")
    assert "chosen" in OPENAI_AGENTS.explain("agent:spawn", "modify")


def test_openai_agents_tools_that_openai_runs_are_said_to_be_unseen() -> None:
    """Nobody asks us about them."""
    assert any("web search" in one for one in OPENAI_AGENTS.unseen)


def test_pydantic_ai_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert PYDANTIC_AI.allows("tool:pre", act)


def test_pydantic_ai_questions_can_be_handed_over() -> None:
    """The framework has interrupts of its own."""
    assert PYDANTIC_AI.asking == ("inline", "interrupt")


def test_pydantic_ai_a_stream_is_declared() -> None:
    """What was streamed has been read."""
    for event in ("provider:response", "prompt:answer"):
        assert "streamed" in PYDANTIC_AI.explain(event, "modify")


def test_pydantic_ai_nothing_follows_the_answer() -> None:
    """The table says why text cannot be added there."""
    assert not PYDANTIC_AI.allows("prompt:answer", "inject_context")
    assert "nothing follows" in PYDANTIC_AI.explain("prompt:answer", "inject_context")


def test_strands_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert STRANDS.allows("tool:pre", act)


def test_strands_a_stream_can_be_held_back() -> None:
    """The table says how."""
    assert "held" in STRANDS.explain("provider:response", "deny")
    assert not STRANDS.allows("prompt:answer", "inject_context")


ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "src" / "amplifier_hooks" / "frameworks"
JUDGED = ("prompt:submit", "prompt:answer", "provider:request", "provider:response")


def test_every_adapter_has_a_table() -> None:
    """Each module or package of a framework; `governing` is shared, `own_loop` is for none."""
    found = {one.stem for one in ADAPTERS.iterdir() if one.suffix == ".py"}
    found |= {one.parent.name for one in ADAPTERS.glob("*/__init__.py")}
    adapters = found - {"__init__", "governing", "own_loop"}
    assert sorted(one.name.replace("-", "_") for one in TABLES) == sorted(adapters)


@pytest.mark.parametrize("table", TABLES, ids=lambda one: one.name)
def test_a_table_says_everything_that_a_user_asks(table: Coverage) -> None:
    """Real events, an extra of that name, the line, and a reason for each event that is missing."""
    assert set(table.events) <= set(ALL_EVENTS)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert table.name in project["optional-dependencies"]
    assert table.attach
    assert table.unseen
    for event in JUDGED:
        missing = event not in table.events
        assert not missing or table.limits.get(event), f"{table.name}: why not {event}?"


def test_no_framework_is_imported() -> None:
    """`amplifier doctor` reads the tables."""
    code = (
        "import sys; from amplifier_hooks.coverage import TABLES; "
        "TABLES; "
        "print([one for one in ('langchain', 'agents', 'crewai', 'google.adk', 'strands', "
        "'pydantic_ai', 'fastmcp', 'agent_framework', 'claude_agent_sdk') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
