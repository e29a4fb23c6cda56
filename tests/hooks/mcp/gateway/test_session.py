"""The session of ours that stands behind a connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.models import HookResult
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.mcp.gateway.session import load_gateway_plan, open_gateway_session
from tests.support.trust import trust_project

BUNDLE = """\
name: quiet
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
hooks:
  - module: hooks-progress-monitor
  - module: hooks-rules
    config: {rules: [{name: hi, event: "session:start", action: continue, user_message: Hello}]}
audit: {enabled: false}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bundle that a person trusts."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "amplifier.yaml").write_text(BUNDLE)
    trust_project(folder)
    return folder


async def test_a_session_judges_with_the_hooks_of_a_bundle(project: Path) -> None:
    """What they show goes to the diagnostics, and people are asked through the store."""
    said: list[str] = []
    session = await open_gateway_session(project, "", said.append)
    assert session.coordinator.session_id.startswith("mcp-")
    assert said == ["Hello"]
    assert session.coordinator.config["approval"]["via"] == "store"
    async with session.judge_one() as passing:
        inject = HookResult(action="inject_context", context_injection="Mind this.")
        session.coordinator.hooks.register("tool:pre", lambda event, data: inject, name="x")
        await session.coordinator.process_hook_result(inject, "tool:pre", "x")
    assert session.take_texts(passing) == ["Mind this."]
    session.keep_texts(passing)
    async with session.judge_one() as later:
        assert session.take_texts(later) == ["Mind this."]
    assert session.take_texts(later) == []
    await session.end("complete")


async def test_nobody_can_write_where_we_keep_what_people_allowed(project: Path) -> None:
    """An agent with a server for files would otherwise decide for itself."""
    session = await open_gateway_session(project, "", lambda text: None)
    allowed = Path.home() / ".local/share/amplifier/mcp/x.json"
    for key in ("path", "destination", "uri"):
        data = {"tool_name": "mcp__fs__write", "tool_input": {key: str(allowed)}}
        outcome = await session.coordinator.judge("tool:pre", {**data, "tool_call_id": "1"})  # type: ignore[arg-type]
        assert not outcome.allowed, key
    await session.end("complete")


def test_a_client_may_ask_for_the_same_thing_often(project: Path) -> None:
    """What counts calls by turns has none to count by, and is left out."""
    plan, guarded = load_gateway_plan(project)
    modules = [one["module"] for one in plan.bundle.mount_plan["hooks"]]
    assert modules == ["hooks-rules", "hooks-production-guard"]
    assert guarded


def test_a_bundle_that_nobody_trusts_judges_nothing(project: Path) -> None:
    """The gateway does not start then."""
    with (project / "amplifier.yaml").open("a") as bundle:
        bundle.write("# changed\n")
    with pytest.raises(Untrusted, match="amplifier trust"):
        load_gateway_plan(project)
