"""loop-basic asks for whole replies, from providers that can stream too."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Orchestrator
from amplifier_core.testing import TestCoordinator
from amplifier_foundation.orchestrators import basic
from tests.support.sessions import SessionHarness


async def test_it_never_streams() -> None:
    """There are no deltas to hear; the reply comes as one."""
    async with SessionHarness([{"text": "one two three"}]) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "one two three"
    assert not [name for name in heard.names if name.startswith("content_block")]
    assert heard.names.count("provider:response") == 1


async def test_it_mounts_as_the_orchestrator_with_its_options() -> None:
    """The options of the plan are those of the mounted loop."""
    host = TestCoordinator()
    assert await basic.mount(host, {"max_turns": 7}) is None
    loop = host.get("orchestrator")
    assert isinstance(loop, basic.BasicLoop)
    assert isinstance(loop, Orchestrator)
    assert (loop.name, loop.config.max_turns, loop.config.attempts) == ("loop-basic", 7, 4)


async def test_an_unknown_option_is_named_with_the_nearest_right_one() -> None:
    """A misspelt option is an error at the mount, not an option without effect."""
    with pytest.raises(ModuleLoadError, match=r"loop-basic: unknown option 'max_turn'.*max_turns"):
        await basic.mount(TestCoordinator(), {"max_turn": 7})
