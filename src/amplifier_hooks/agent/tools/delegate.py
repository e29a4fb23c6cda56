"""tool-delegate: hand a task to a sub-agent.

Needs       the capability session.spawn; the session emits agent:spawn and agent:complete
Configure   max_output
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, Field, PositiveInt

from amplifier_core.errors import AmplifierError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import InputTool, Refused, mount_tools
from amplifier_hooks.modules.options import parse_known

NAME = "tool-delegate"


class DelegateConfig(BaseModel):
    """Options of tool-delegate."""

    max_output: PositiveInt = 50_000


class DelegateInput(BaseModel):
    """What Delegate is told."""

    agent_name: str = Field(min_length=1, description="Name of the sub-agent")
    task: str = Field(min_length=1, description="What it shall do and what it shall report back")
    context: str | None = Field(
        None, description="What it must know; it sees nothing of this conversation otherwise"
    )


class Delegate(InputTool[DelegateInput]):
    """Has a task done by a sub-agent."""

    name = "Delegate"
    input_model: ClassVar[type[BaseModel]] = DelegateInput

    def __init__(self, host: Host, config: DelegateConfig) -> None:
        self._host = host
        self._config = config

    @property
    def description(self) -> str:  # type: ignore[override]
        """Read anew each time, because agents can be added to the plan after the mount."""
        agents = self._list_agents()
        listed = "; ".join(_introduce(name, agents[name]) for name in sorted(agents))
        return (
            "Give a task to a sub-agent, which works on it in a session of its own and reports "
            f"back. Agents: {listed or 'none are configured'}."
        )

    async def run(self, given: DelegateInput) -> ToolResult:
        """Spawn the sub-agent and wait for its answer."""
        self._require_known(given.agent_name)
        spawn = self._host.get_capability("session.spawn")
        if spawn is None:
            raise Refused("This session cannot start sub-agents; do the task yourself")
        try:
            answer = await spawn(given.agent_name, given.task, given.context)
        except AmplifierError as failure:
            raise Refused(
                f"The sub-agent {given.agent_name!r} could not run: {failure}"
            ) from failure
        return self._build_result(given.agent_name, answer)

    def _list_agents(self) -> Mapping[str, Any]:
        plan = getattr(self._host, "config", None)
        agents = plan.get("agents") if isinstance(plan, Mapping) else None
        return agents if isinstance(agents, Mapping) else {}

    def _require_known(self, name: str) -> None:
        agents = self._list_agents()
        if agents and name not in agents:
            raise Refused(f"Unknown agent {name!r}; have {', '.join(sorted(agents)) or 'none'}")

    def _build_result(self, name: str, answer: Mapping[str, Any]) -> ToolResult:
        text = str(answer.get("output") or "(the sub-agent said nothing)")
        if len(text) > self._config.max_output:
            left_out = len(text) - self._config.max_output
            text = f"{text[: self._config.max_output]}\n({left_out} more characters)"
        status = answer.get("status", "success")
        if status == "success":
            return ToolResult(output=text)
        problem = f"The sub-agent {name!r} ended with status {status!r}"
        return ToolResult(success=False, output=f"{problem}:\n{text}", error=problem)


def _introduce(name: str, agent: Any) -> str:
    about = agent.get("description") if isinstance(agent, Mapping) else None
    return f"{name} ({' '.join(str(about).split())})" if about else name


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Delegate."""
    options = await parse_known(coordinator, DelegateConfig, config, NAME)
    return await mount_tools(coordinator, [Delegate(coordinator, options)], None, NAME)
