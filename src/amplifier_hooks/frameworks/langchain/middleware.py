"""The middleware: what an agent of LangChain wants to do passes our hooks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, get_args

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    hook_config,
)
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime

from amplifier_core import events
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import HandOver
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.langchain.inner_agents import check_loop, watch_call
from amplifier_hooks.frameworks.langchain.messages import (
    Kept,
    Result,
    change_answer,
    change_prompt,
    change_reply,
    change_request,
    change_result,
    describe_failure,
    describe_request,
    keep,
    list_tools,
    name_model,
    name_provider,
    read_answer,
    read_prompt,
    read_reply,
    read_result,
    read_task,
    refuse_call,
    store,
    write_refusal,
)
from amplifier_hooks.frameworks.langchain.questions import ask
from amplifier_hooks.frameworks.langchain.runs import Governed, GovernedRuns
from amplifier_hooks.frameworks.langchain.sub_agents import Net, Stopped, mediate

State: TypeAlias = AgentState[Any]
Update: TypeAlias = dict[str, Any] | None
Request: TypeAlias = ModelRequest[Any]
Response: TypeAlias = ModelResponse[Any]

MODEL = ""
"""A model has no name among those of tools."""


class AmplifierMiddleware(AgentMiddleware[State, Any, Any]):
    """Puts hooks in front of every run of the agents that have it; it belongs last in their list.

    `hooks` is a bundle (its path, or a Bundle), a HookRegistry, a coordinator, a session or what
    `govern` made of one. `asks` says where people are asked: "inline", while the call waits, or
    "interrupt", by an interrupt of LangGraph that the application answers when it resumes the run.
    One middleware serves any number of agents; sub-agents that have it too are seen as such.
    """

    def __init__(self, hooks: Governable, *, asks: Asking = "inline") -> None:
        super().__init__()
        if asks not in get_args(Asking):
            raise ValueError(f"asks is 'inline' or 'interrupt', not {asks!r}")
        self.governor = govern(hooks)
        self._asks = asks
        self._has_warned = False
        self._runs = GovernedRuns(self.governor)

    def net(self) -> Net:
        """A callback handler for sub-agents that lack the middleware: it can only stop them."""
        return Net(self.governor)

    # The run

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: State, runtime: Runtime[Any]) -> Update:
        """Open a session and submit the prompt."""
        for forgotten in self._runs.take_forgotten():
            forgotten.end_sync("timeout")
        verdict = self._runs.find().begin_sync(read_prompt(state["messages"]))
        return change_prompt(state, verdict)

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: State, runtime: Runtime[Any]) -> Update:
        """Open a session and submit the prompt."""
        for forgotten in self._runs.take_forgotten():
            await forgotten.end("timeout")
        verdict = await self._runs.find().begin(read_prompt(state["messages"]))
        return change_prompt(state, verdict)

    def after_agent(self, state: State, runtime: Runtime[Any]) -> Update:
        """Take the answer through the hooks before the caller gets it."""
        governed = self._runs.find()
        with governed.work_sync() as run:
            if run is None:
                return _refuse_answer(state, governed)
            streamed = governed.graph.is_streaming
            verdict = run.answer_sync(read_answer(state), streamed=streamed)
            governed.answer = verdict.text
        self._runs.finish_sync(governed)
        return store(state, change_answer(state, verdict), _list_kept(governed))

    async def aafter_agent(self, state: State, runtime: Runtime[Any]) -> Update:
        """Take the answer through the hooks before the caller gets it."""
        governed = self._runs.find()
        async with governed.work() as run:
            if run is None:
                return _refuse_answer(state, governed)
            streamed = governed.graph.is_streaming
            verdict = await run.answer(read_answer(state), streamed=streamed)
            governed.answer = verdict.text
        await self._runs.finish(governed)
        return store(state, change_answer(state, verdict), _list_kept(governed))

    # The model

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Response]) -> Response:
        """Take the request through the hooks, and the reply."""
        governed = self._runs.find()
        provider = name_provider(request)
        with governed.work_sync() as run:
            if run is None:
                return write_refusal(governed.refusal)
            verdict = run.request_sync(
                describe_request(request),
                provider=provider,
                model=name_model(request),
                tools=list_tools(request),
            )
            governed.kept += keep(request.messages, verdict.lasting)
            if not verdict.allowed:
                return write_refusal(verdict.reason)
            started = time.perf_counter()
            try:
                with mediate(MODEL):
                    response = handler(change_request(request, verdict))
            except GraphBubbleUp:
                raise
            except Exception as error:
                run.tell_sync(events.PROVIDER_ERROR, describe_failure(provider, error))
                raise
            judged = run.review_sync(read_reply(response, started), provider=provider)
            return change_reply(response, judged)

    async def awrap_model_call(
        self, request: Request, handler: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Take the request through the hooks, and the reply."""
        governed = self._runs.find()
        provider = name_provider(request)
        async with governed.work() as run:
            if run is None:
                return write_refusal(governed.refusal)
            verdict = await run.request(
                describe_request(request),
                provider=provider,
                model=name_model(request),
                tools=list_tools(request),
            )
            governed.kept += keep(request.messages, verdict.lasting)
            if not verdict.allowed:
                return write_refusal(verdict.reason)
            started = time.perf_counter()
            try:
                with mediate(MODEL):
                    response = await handler(change_request(request, verdict))
            except GraphBubbleUp:
                raise
            except Exception as error:
                await run.tell(events.PROVIDER_ERROR, describe_failure(provider, error))
                raise
            judged = await run.review(read_reply(response, started), provider=provider)
            return change_reply(response, judged)

    # Tools

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Take the call through hooks and people to the tool, and the result back."""
        check_loop()
        governed = self._runs.find()
        self._check_place(handler)

        with governed.work_sync(read_task(request.state)) as run:
            if run is None:
                return refuse_call(request.tool_call, governed.refusal)

            def handle(given: dict[str, Any]) -> Any:
                changed = _change_call(request, given)
                with watch_call(run, _name_tool(request), changed, self):
                    return handler(changed)

            try:
                called = run.call_sync(_want(request, handle, governed), self._hand_over(governed))
            except Stopped as error:
                return refuse_call(request.tool_call, str(error))
            result: Result = change_result(called, request.tool_call)
            return result

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Result]],
    ) -> Result:
        """Take the call through hooks and people to the tool, and the result back."""
        governed = self._runs.find()
        self._check_place(handler)

        async with governed.work(read_task(request.state)) as run:
            if run is None:
                return refuse_call(request.tool_call, governed.refusal)

            async def handle(given: dict[str, Any]) -> Any:
                changed = _change_call(request, given)
                with watch_call(run, _name_tool(request), changed, self):
                    return await handler(changed)

            try:
                called = await run.call(_want(request, handle, governed), self._hand_over(governed))
            except Stopped as error:
                return refuse_call(request.tool_call, str(error))
            result: Result = change_result(called, request.tool_call)
            return result

    def _check_place(self, handler: object) -> None:
        """Warn if other middleware comes behind ours: it could change what was judged."""
        # LangChain composes wrappers there; the last one gets a function of LangGraph.
        is_last = getattr(handler, "__module__", "") != "langchain.agents.factory"
        if is_last or self._has_warned:
            return
        self._has_warned = True
        warnings.warn(
            "AmplifierMiddleware is not the last in middleware=[...] that wraps tool calls: what "
            "comes behind it can change a call that hooks and people have judged already",
            RuntimeWarning,
            stacklevel=2,
        )

    def _hand_over(self, governed: Governed) -> HandOver | None:
        if self._asks == "inline":
            return None
        return lambda handed: ask(governed.graph, handed)


def _refuse_answer(state: State, governed: Governed) -> Update:
    """The answer of a run that was refused; its prompt has been answered with the reason."""
    if read_answer(state) == governed.refusal:
        return None
    return change_answer(state, TextVerdict(False, governed.refusal))


def _list_kept(governed: Governed) -> list[Kept]:
    """What to store: a run that goes on in the next turn repeats it by itself."""
    return [] if governed.run is None or governed.run.is_shared else governed.kept


def _want(
    request: ToolCallRequest, handler: Callable[[dict[str, Any]], Any], governed: Governed
) -> Wanted:
    call = request.tool_call
    return Wanted(
        name=_name_tool(request),
        arguments=call["args"],
        call_id=call["id"] or "",
        handler=handler,
        read=read_result,
        steering=(GraphBubbleUp,),
        is_alive=lambda: governed.is_alive,
    )


def _name_tool(request: ToolCallRequest) -> str:
    """Of the one that runs: other middleware may have put it behind another name."""
    return str(request.tool_call["name"] if request.tool is None else request.tool.name)


def _change_call(request: ToolCallRequest, given: dict[str, Any]) -> ToolCallRequest:
    """The request with what hooks left; the same object if they left it alone."""
    if is_same(given, request.tool_call["args"]):
        return request
    return request.override(tool_call={**request.tool_call, "args": given})
