"""loop-basic asks for whole replies, from providers that can stream too."""

from __future__ import annotations

from amplifier_core.interfaces import Orchestrator
from amplifier_core.testing import RecordingDisplay, TestCoordinator
from amplifier_hooks.agent.loops import basic
from tests.support.sessions import SessionHarness


async def test_it_never_streams() -> None:
    """There are no deltas to hear; the reply comes as one."""
    async with SessionHarness([{"text": "one two three"}]) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "one two three"
    assert not [name for name in heard.names if name.startswith("content_block")]
    assert heard.names.count("provider:response") == 1


async def test_options_may_be_called_as_loops_of_the_ecosystem_call_them() -> None:
    """What means the same is the same."""
    screen = RecordingDisplay()
    host = TestCoordinator(display_system=screen)
    await basic.mount(host, {"max_iterations": 7, "default_provider": "second"})
    config = host.get("orchestrator").config
    assert (config.max_turns, config.provider) == (7, "second")
    assert screen.messages == []


async def test_it_mounts_as_the_orchestrator_with_its_options() -> None:
    """The options of the plan are those of the mounted loop."""
    host = TestCoordinator()
    assert await basic.mount(host, {"max_turns": 7}) is None
    loop = host.get("orchestrator")
    assert isinstance(loop, basic.BasicLoop)
    fits: Orchestrator = loop
    assert callable(fits.execute)
    assert (loop.name, loop.config.max_turns, loop.config.attempts) == ("loop-basic", 7, 4)


async def test_an_unknown_option_is_named_with_the_nearest_right_one() -> None:
    """The person is told that a misspelt option has no effect."""
    screen = RecordingDisplay()
    await basic.mount(TestCoordinator(display_system=screen), {"max_turn": 7})
    assert screen.messages == [
        (
            "loop-basic: unknown option 'max_turn' is ignored; did you mean 'max_turns'?",
            "warning",
            "loop-basic",
        )
    ]
