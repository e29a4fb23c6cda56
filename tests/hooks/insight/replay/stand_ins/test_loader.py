"""Loading today's hooks, and stand-ins for what acts."""

from __future__ import annotations

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import Run
from amplifier_hooks.insight.replay.stand_ins.loader import ReplayLoader, StandIns
from amplifier_hooks.insight.replay.stand_ins.plan import AFTER, MODEL, TOOLS
from tests.hooks.insight.replay.items import event
from tests.hooks.insight.replay.test_recording import make

PLAN = {"agents": {"a": {"providers": ["provider-openai"]}}}


def make_loader(*items: object) -> ReplayLoader:
    """The loader of a replay of these items."""
    playback = Playback(make(*items))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    return ReplayLoader(StandIns(playback, PLAN))


async def test_stand_ins_are_mounted_by_their_names() -> None:
    """The model that the session had, also for an agent that brings another, and its tools."""
    request = event("provider:request", 1, provider="anthropic", tools=["Bash", "Read"])
    loader = make_loader(request).copy()
    for module in (MODEL, "provider-openai", TOOLS):
        host = TestCoordinator(session_id="s")
        await (await loader.load(module))(host)
        found = {**host.get("providers"), **host.get("tools")}
        assert list(found) == (["Bash", "Read"] if module == TOOLS else ["anthropic"])


async def test_other_modules_are_loaded_as_usual() -> None:
    """Today's hooks are today's."""
    host = TestCoordinator(session_id="s")
    loader = make_loader(event("session:start"))
    await (await loader.load("hooks-datetime", {}, None, host))(host)
    assert host.hooks.list_handlers("prompt:submit")["prompt:submit"] == ["hooks-datetime"]


async def test_what_modules_told_of_before_the_start_is_told_again() -> None:
    """Once everything is mounted."""
    host, heard = TestCoordinator(session_id="s"), list[str]()

    async def hear(event: str, data: dict[str, str]) -> None:
        heard.append(data["server"])

    host.hooks.register("mcp:list", hear)
    loader = make_loader(event("mcp:list", 1, server="time"), event("session:start", 2))
    mount = await loader.load(AFTER)
    await mount(host)
    _, on_ready = mount.__dict__["__on_session_ready__"]
    await on_ready(host)
    assert heard == ["time"]
