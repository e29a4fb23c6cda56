"""What hooks see of agents of LangChain."""

from __future__ import annotations

from amplifier_core import events
from amplifier_hooks.coverage.coverage import ALL, NOTHING, Coverage

COVERAGE = Coverage(
    name="langchain",
    framework="LangChain",
    package="langchain",
    module="amplifier_hooks.frameworks.langchain",
    attach='create_agent(model, tools, middleware=[..., AmplifierMiddleware("amplifier.yaml")])',
    events={
        events.SESSION_START: ALL - {"modify"},
        events.SESSION_END: NOTHING,
        events.PROMPT_SUBMIT: ALL,
        events.PROMPT_ANSWER: ALL,
        events.PROMPT_COMPLETE: NOTHING,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.PROVIDER_ERROR: NOTHING,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: frozenset({"inject_context"}),
        events.AGENT_SPAWN: ALL,
        events.AGENT_COMPLETE: NOTHING,
    },
    unseen=(
        "what sub-agents without the middleware do; that a tool starts one is noticed. Of their "
        "tool calls a net sees the start, and can stop the sub-agent: "
        "config={'callbacks': [middleware.net()]}",
        "tools that a program calls itself, outside an agent",
        "prompts and requests to models in graphs of LangGraph that were not made by create_agent, "
        "and their tool calls unless the ToolNode has the middleware",
        "tools that run at the provider, such as its web search",
        "models that middleware or a tool calls by itself, such as one that summarizes",
        "single tokens of a streamed reply",
    ),
    asking=("inline", "interrupt"),
    inner_agents="noticed",
    entries=(
        "invoke()",
        "ainvoke()",
        "stream()",
        "astream()",
        "batch()",
        "abatch()",
        "astream_events()",
    ),
    limits={
        f"{events.SESSION_START} modify": "there is nothing to change when a run starts",
        events.PROMPT_ANSWER: "a caller who streams has read the answer before hooks judge it; the "
        "event says so with streamed",
        events.PROVIDER_RESPONSE: "a caller who streams messages has read the reply before hooks "
        "judge it; its tool calls wait",
    },
)
