"""The plugin that puts hooks in front of an agent, and of the agents that it uses."""

from __future__ import annotations

import time
import weakref
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, Literal

from strands import Agent
from strands.hooks import (
    AfterInvocationEvent,
    AgentInitializedEvent,
    BeforeInvocationEvent,
    BeforeMultiAgentInvocationEvent,
    BeforeNodeCallEvent,
    HookRegistry,
)
from strands.middleware import (
    ExecuteToolStage,
    InvokeModelContext,
    InvokeModelStage,
    ModelStopReason,
)
from strands.plugins import MultiAgentPlugin, Plugin

from amplifier_core import HookRegistry as Hooks
from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_hooks.coverage import STRANDS, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.inner_agents import govern_inner_agents
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.strands.messages import (
    change_answer,
    change_reply,
    change_request,
    is_answer,
    keep_messages,
    read_model_name,
    read_reply,
    read_request,
    read_text,
    read_tools,
    replace_text,
    write_refusal,
)
from amplifier_hooks.frameworks.strands.tools import ToolStage, Turns, find_reason

PROVIDER = STRANDS.name
NO_RUN = "no hooks stand behind this request, so it was not sent"
Next = Callable[[InvokeModelContext], AsyncGenerator[Any, None]]


class ModelStage:
    """What an agent does around each call of its model."""

    def __init__(self, turns: Turns, *, holds: bool) -> None:
        self._turns = turns
        self._holds = holds

    async def run(self, context: InvokeModelContext, next_fn: Next) -> AsyncGenerator[Any, None]:
        """Take the request through the hooks, and then the reply."""
        run = self._turns.find(context.agent, context.invocation_state)
        if run is None:
            yield write_refusal(NO_RUN)
            return
        allowed = await _judge_request(run, context)
        if isinstance(allowed, ModelStopReason):
            yield allowed
            return
        held: list[Any] = []
        stop: ModelStopReason | None = None
        started = time.perf_counter()
        async for event in next_fn(allowed):
            if isinstance(event, ModelStopReason):
                stop = event
            elif self._holds:
                held.append(event)
            else:
                yield event
        if stop is not None:
            spent = int((time.perf_counter() - started) * 1000)
            judged = await self._judge_reply(run, stop, read_model_name(context), spent)
            for event in [*held, judged] if judged is stop else [judged]:
                yield event

    async def _judge_reply(
        self, run: Run, stop: ModelStopReason, model: str | None, spent: int
    ) -> ModelStopReason:
        """The reply as hooks left it; one that wants no tool is the agent's answer."""
        left = stop
        if run.hears(events.PROVIDER_RESPONSE):
            verdict = await run.review(read_reply(stop, model, spent), provider=PROVIDER)
            if not verdict.allowed:
                return write_refusal(verdict.reason, stop)
            left = change_reply(stop, verdict) if verdict.changed else stop
        if not is_answer(left):
            return left
        text = read_text(left.message["content"])
        answer = await run.answer(text, streamed=bool(text) and not self._holds)
        if answer.allowed and not answer.changed:
            return left
        return change_answer(left, answer.text)


async def _judge_request(
    run: Run, context: InvokeModelContext
) -> InvokeModelContext | ModelStopReason:
    """The request as hooks left it, or the reply that stands for a refused one."""
    pieces = read_request(context, in_full=run.hears(events.PROVIDER_REQUEST))
    verdict = await run.request(
        [piece.message for piece in pieces],
        provider=PROVIDER,
        model=read_model_name(context),
        tools=read_tools(context),
        keeps=True,
    )
    keep_messages(context.agent.messages, verdict.lasting)
    if not verdict.allowed:
        return write_refusal(verdict.reason)
    return change_request(context, pieces, verdict.placed) if verdict.changed else context


LAST = 10.0**6
"""Behind all callbacks of others, so that hooks see what those have made of it."""

Streaming = Literal["live", "held"]

_governed: weakref.WeakKeyDictionary[Agent, list[AmplifierHooks]] = weakref.WeakKeyDictionary()
"""Who stands in front of which agent."""


class AmplifierHooks(Plugin, MultiAgentPlugin):
    """Takes everything that an agent does through the hooks, and what its sub-agents do.

    `hooks`: the path of a bundle, a HookRegistry, a coordinator or what `govern` made.
    `asks`: "inline" has people asked as the hooks' bundle says while the call waits;
    "interrupt" has the framework ask by an interrupt of its own.
    `streams`: "live" passes text on as the model produces it; "held" keeps it back until hooks
    have judged the whole reply.

    For `plugins=[…]` of an agent, a Graph or a Swarm, and for `hooks=[…]` of an agent.
    """

    def __init__(
        self,
        hooks: Governable,
        *,
        asks: Asking = "inline",
        streams: Streaming = "live",
        name: str = "amplifier",
    ) -> None:
        if asks not in STRANDS.asking:
            raise ValueError(f"asks={asks!r}: choose one of {', '.join(STRANDS.asking)}")
        if streams not in ("live", "held"):
            raise ValueError(f"streams={streams!r}: choose one of live, held")
        self._name = name
        super().__init__()
        self.governor = govern(hooks)
        self._turns = Turns()
        self._model_stage = ModelStage(self._turns, holds=streams == "held")
        self._tool_stage = ToolStage(self.governor, self._turns, interrupts=asks == "interrupt")
        self._registries: weakref.WeakSet[HookRegistry] = weakref.WeakSet()
        govern_inner_agents(Agent, STARTS, STRANDS, _attach_to_inner)

    @property
    def name(self) -> str:
        """Under which the agent knows the plugin."""
        return self._name

    # Attaching

    def init_agent(self, agent: Agent) -> None:
        """Attach to an agent that is being made."""
        self.register_hooks(agent.hooks)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Listen for the agent to be complete; it may be already."""
        if registry in self._registries:
            return
        self._registries.add(registry)
        registry.add_callback(AgentInitializedEvent, self._meet, order=LAST)
        registry.add_callback(BeforeInvocationEvent, self._begin, order=LAST)
        # These are called in reverse: ours after all others.
        registry.add_callback(AfterInvocationEvent, self._end, order=-LAST)

    def init_multi_agent(self, orchestrator: Any) -> None:
        """Attach to the agents of a Graph or a Swarm; some are known only when it starts."""
        self._attach_nodes(orchestrator)
        for event in (BeforeMultiAgentInvocationEvent, BeforeNodeCallEvent):
            orchestrator.hooks.add_callback(event, self._meet_nodes)

    def attach(self, agent: Agent) -> None:
        """Stand in front of an agent, once, and of those that it has as tools."""
        waiting = [agent]
        met = {id(agent)}
        while waiting:
            one = waiting.pop()
            self._stand_before(one)
            for inner in _find_inner(one):
                # One with hooks of its own keeps those; agents may have one another as tools.
                if id(inner) not in met and _governed.get(inner, [self]) == [self]:
                    met.add(id(inner))
                    waiting.append(inner)

    def _stand_before(self, agent: Agent) -> None:
        standing = _governed.setdefault(agent, [])
        if self not in standing:
            standing.append(self)
            self.register_hooks(agent.hooks)
            agent.add_middleware(ExecuteToolStage, self._tool_stage.run)
            agent.add_middleware(InvokeModelStage, self._model_stage.run)

    def _attach_nodes(self, orchestrator: Any) -> None:
        for agent in _find_node_agents(orchestrator):
            if _governed.get(agent, [self]) == [self]:
                self.attach(agent)

    def _meet(self, event: AgentInitializedEvent) -> None:
        self.attach(event.agent)

    def _meet_nodes(self, event: Any) -> None:
        self._attach_nodes(event.source)

    # Turns

    async def _begin(self, event: BeforeInvocationEvent) -> None:
        """Open the run behind an invocation, and take the prompt through the hooks."""
        self.attach(event.agent)
        run = None if event.cancel else await self._open(event)
        self._turns.add(event.agent, event.invocation_state, run)
        if event.messages is None:
            await self._check_unseen(event, run)

    async def _check_unseen(self, event: BeforeInvocationEvent, run: Run | None) -> None:
        """Stop the older way to a structured answer where a guard would have to see it.

        It shows neither its prompt nor its request, and goes on whatever an answer says.
        """
        guards = [] if run is None else find_guards(run.coordinator.hooks)
        if run is not None and not guards:
            return
        taken = self._turns.take(event.agent, event.invocation_state)
        if taken is not None:
            await taken.end("error")
        why = f"the guard {guards[0]!r} cannot see it" if guards else event.cancel
        raise SessionDenied(
            f"Agent.structured_output was stopped: {why}. All hooks see "
            "agent(prompt, structured_output_model=...), which does the same"
        )

    async def _open(self, event: BeforeInvocationEvent) -> Run | None:
        messages: list[Any] = list(event.messages or ())
        texts = [read_text(message["content"]) for message in messages]
        place = next((number for number, text in enumerate(texts) if text), None)
        if place is None:  # answers to interrupts, or a conversation that goes on by itself
            try:
                return await self.governor.open(STRANDS, event.agent.name)
            except SessionDenied as error:
                event.cancel = str(error)
                return None
        prompt = "\n".join(filter(None, texts))
        run, verdict = await self.governor.begin(STRANDS, prompt, event.agent.name)
        if not verdict.allowed:
            event.cancel = verdict.text
        elif verdict.changed:
            event.messages = _replace_prompt(messages, place, verdict.text)
        return run

    async def _end(self, event: AfterInvocationEvent) -> None:
        """End the run behind an invocation."""
        run = self._turns.take(event.agent, event.invocation_state)
        if run is not None:
            await run.end(find_reason(event.result))


STARTS = ("stream_async", "structured_output_async")
"""All other ways to start an agent lead to one of these."""


def _attach_to_inner(governor: Governor, agent: Agent, options: dict[str, Any]) -> None:
    if not _governed.get(agent):
        AmplifierHooks(governor).attach(agent)


def find_guards(hooks: Hooks) -> list[str]:
    """The names of guards that judge prompts, requests or replies."""
    judged = (events.PROMPT_SUBMIT, events.PROVIDER_REQUEST, events.PROVIDER_RESPONSE)
    return [one.name for event in judged for one in hooks.handlers_for(event) if one.is_guard]


def _find_inner(agent: Agent) -> Iterator[Agent]:
    """The agents that an agent has as tools."""
    for tool in agent.tool_registry.registry.values():
        inner = getattr(tool, "_agent", None)
        if isinstance(inner, Agent):
            yield inner


def _find_node_agents(orchestrator: Any) -> Iterator[Agent]:
    """The agents of a Graph or a Swarm, and of those inside it."""
    for node in getattr(orchestrator, "nodes", {}).values():
        if isinstance(node.executor, Agent):
            yield node.executor
        else:
            yield from _find_node_agents(node.executor)


def _replace_prompt(messages: list[Any], place: int, text: str) -> list[Any]:
    """The messages with this text in the place of the first, and no other."""
    changed = [
        {**message, "content": replace_text(message["content"], text if number == place else "")}
        for number, message in enumerate(messages)
    ]
    return [message for message in changed if message["content"]]
