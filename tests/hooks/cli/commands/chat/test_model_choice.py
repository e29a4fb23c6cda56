"""/model: which model answers, and how to change it."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleError, ModuleLoadError
from amplifier_hooks.cli.commands.agent import AgentOptions, open_agent
from amplifier_hooks.cli.commands.chat import slash_commands as model_choice
from amplifier_hooks.cli.commands.chat.slash_commands import (
    change_model,
    describe_models,
    list_models,
    name_model,
    read_choice,
)
from amplifier_hooks.cli.commands.plan import NoModel
from tests.hooks.cli.commands.test_agent import Screen
from tests.hooks.cli.conftest import Project

HELLO = {"text": "Hello to you."}


async def test_another_model_answers_from_the_next_prompt_on(project: Project) -> None:
    """The conversation goes on with it."""
    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        assert name_model(agent.session) == "scripted"
        await agent.run_turn("one")
        said = await change_model(agent.session, None, "large")
        assert said == "large (scripted) answers from now on."
        assert await describe_models(agent.session) == (
            "large (scripted) answers. /model NAME or /model PROVIDER/NAME changes it.\n  large"
        )
        assert await agent.run_turn("two") == "Hello to you."
        assert len(list(agent.session.context.get_messages())) == 4


async def test_a_model_that_cannot_be_had_changes_nothing(project: Project) -> None:
    """The one before answers."""
    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        with pytest.raises(NoModel, match="ANTHROPIC_API_KEY"):
            await change_model(agent.session, "anthropic", None)
        with pytest.raises(ModuleError):
            await change_model(agent.session, "provider-nonsense", None)
        assert name_model(agent.session) == "scripted"
        assert await agent.run_turn("one") == "Hello to you."


async def test_a_locked_provider_stays(project: Project) -> None:
    """Whoever locked it has decided which model answers."""
    entry = {"module": "provider-scripted", "locked": True, "config": {"script": [HELLO]}}
    project(HELLO, providers=[entry])
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        with pytest.raises(ModuleLoadError, match="locked"):
            await change_model(agent.session, None, "large")
        assert name_model(agent.session) == "scripted"


async def test_a_name_is_read_as_provider_and_model(project: Project) -> None:
    """Names of models may have slashes; only a known provider stands before one."""
    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        session = agent.session
        assert read_choice(session, "openai/gpt-x") == ("openai", "gpt-x")
        assert read_choice(session, "openai") == ("openai", None)
        assert read_choice(session, "meta/llama") == (None, "meta/llama")
        assert read_choice(session, "large") == (None, "large")


async def test_a_provider_that_cannot_list_its_models_is_no_obstacle(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that fails, and one that does not answer in time."""

    class Fails:
        async def list_models(self) -> list[object]:
            raise OSError("down")

    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        assert await list_models(agent.session) == ["scripted"]
        monkeypatch.setattr(model_choice, "find_provider", lambda _: Fails())
        assert await list_models(agent.session) == []
        monkeypatch.setattr(model_choice, "find_provider", lambda _: object())
        assert await list_models(agent.session) == []
