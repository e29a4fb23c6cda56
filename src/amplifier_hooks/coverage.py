"""Coverage of each adapter: the events it sees, and the effect of a hook's answer there.

No framework is imported: `amplifier doctor` and the pages read these tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from amplifier_core import events

Act = Literal["deny", "modify", "inject_context", "ask_user"]
"""What a hook may answer beside `continue`, which works everywhere."""

Asking = Literal["inline", "interrupt"]
"""Where a question waits: in the call itself, or in the framework's own interrupt."""

InnerAgents = Literal["governed", "noticed"]
"""An agent without hooks that a governed tool starts: it gets them, or it is noticed."""

ALL: frozenset[Act] = frozenset({"deny", "modify", "inject_context", "ask_user"})
NOTHING: frozenset[Act] = frozenset()
_NO_CONTEXT: frozenset[Act] = ALL - {"inject_context"}
_NO_CHANGE: frozenset[Act] = ALL - {"modify"}
_CONTEXT_ONLY: frozenset[Act] = frozenset({"inject_context"})


@dataclass(frozen=True, slots=True)
class Coverage:
    """One framework: which of our events it shows us, with what an answer can do at each."""

    name: str
    """Of the extra, and of the page in docs/adapters."""
    framework: str
    """As its makers write it."""
    package: str
    """The distribution that has to be installed."""
    module: str
    """Where the adapter is imported from."""
    attach: str
    """The line that attaches it."""
    events: Mapping[str, frozenset[Act]]
    unseen: tuple[str, ...]
    """What happens in the framework without any hook being told."""
    asking: tuple[Asking, ...] = ("inline",)
    entries: tuple[str, ...] = ()
    """The ways to start a run that are covered, as users call them."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Why an act is missing at an event: keys are "event" or "event act"."""

    inner_agents: InnerAgents | None = None
    """What becomes of agents without hooks that a tool starts; None if that was not tried."""
    injections_stay: str = "for the run"
    """How long a text that a hook injects is there, unless it is for one request only."""

    def allows(self, event: str, act: Act) -> bool:
        """Whether such an answer can be carried out at an event."""
        return act in self.events.get(event, NOTHING)

    def explain(self, event: str, act: Act) -> str:
        """Why such an answer cannot be carried out."""
        known = self.limits.get(f"{event} {act}") or self.limits.get(event)
        return known or f"{self.framework} offers no place for it"

    def list_decided(self) -> list[str]:
        """The events at which an answer does something."""
        return [event for event, acts in self.events.items() if acts]


LANGCHAIN = Coverage(
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
    injections_stay="in the thread",
    unseen=(
        "prompts, requests, replies and answers of sub-agents without the middleware: of those, "
        "hooks see the tool calls that go through a ToolNode",
        "other tool calls of such a sub-agent; that a tool starts one is noticed, and a net can "
        "stop it: config={'callbacks': [middleware.net()]}",
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


_PYDANTIC_AI_STREAMED = (
    "what is streamed has been read before hooks judge it: if they deny it, the run raises "
    "RunRefused; if they change it, only the result and the messages change, a warning says so, "
    "and run_stream has no other result; tool calls wait"
)

PYDANTIC_AI = Coverage(
    name="pydantic-ai",
    framework="Pydantic AI",
    package="pydantic-ai-slim",
    module="amplifier_hooks.frameworks.pydantic_ai",
    attach='Agent(model, capabilities=[AmplifierHooks("amplifier.yaml")])',
    events={
        events.SESSION_START: frozenset({"deny", "inject_context", "ask_user"}),
        events.PROMPT_SUBMIT: ALL,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: _CONTEXT_ONLY,
        events.PROMPT_ANSWER: _NO_CONTEXT,
        events.PROMPT_COMPLETE: NOTHING,
        events.SESSION_FORK: NOTHING,
        events.AGENT_SPAWN: _NO_CONTEXT,
        events.AGENT_COMPLETE: _CONTEXT_ONLY,
        events.SESSION_END: NOTHING,
    },
    asking=("inline", "interrupt"),
    inner_agents="governed",
    entries=(
        "agent.run",
        "agent.run_sync",
        "agent.run_stream",
        "agent.run_stream_sync",
        "agent.run_stream_events",
        "agent.iter",
        "each of them with capabilities=[AmplifierHooks(…)] for one run",
    ),
    injections_stay="in the thread",
    unseen=(
        "agents without the capability that the program itself runs",
        "tools that the model made up, and calls whose arguments the tool does not take: "
        "Pydantic AI answers them itself",
        "output tools, which carry the answer; hooks see it at prompt:answer",
        "tools that the provider runs itself (web search, code execution)",
        "requests that a program sends to a model without an agent (pydantic_ai.direct)",
        "external tools: somebody else runs them, and brings their results",
        "what other capabilities make of the answer afterwards in wrap_run",
        "what is said in realtime sessions, which have not been tried",
    ),
    limits={
        f"{events.SESSION_START} modify": "there is nothing to change when a run starts",
        events.PROVIDER_RESPONSE: _PYDANTIC_AI_STREAMED,
        events.PROMPT_ANSWER: _PYDANTIC_AI_STREAMED,
        f"{events.PROMPT_ANSWER} inject_context": "nothing follows the answer that could read it",
        f"{events.AGENT_SPAWN} inject_context": "hooks of the sub-agent's own session:start and "
        "prompt:submit can add to it",
    },
)


_OPENAI_AGENTS_STREAMED = "text that is streamed was read before hooks could judge it"

OPENAI_AGENTS = Coverage(
    name="openai-agents",
    framework="OpenAI Agents SDK",
    package="openai-agents",
    module="amplifier_hooks.frameworks.openai_agents",
    attach="amplify(agent, hooks)",
    events={
        "session:start": ALL - {"modify"},
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "tool:error": NOTHING,
        "agent:spawn": _NO_CHANGE,
        "agent:complete": NOTHING,
        "prompt:answer": _NO_CONTEXT,
        "prompt:complete": NOTHING,
        "session:fork": NOTHING,
        "session:end": NOTHING,
    },
    unseen=(
        "tools that OpenAI runs: web search, file search, code interpreter, image generation, "
        "hosted MCP servers and hosted shells",
        "what ComputerTool does on the screen; hooks of provider:response see that the model "
        "wants it, and can deny it",
        "realtime agents",
        "the copy of a conversation that OpenAI keeps (previous_response_id, conversation_id): "
        "what hooks change in a reply is not changed there",
        "calls of the SDK for itself, such as the compaction of a session",
    ),
    asking=("inline", "interrupt"),
    inner_agents="governed",
    entries=("Runner.run", "Runner.run_sync", "Runner.run_streamed"),
    limits={
        "provider:response": _OPENAI_AGENTS_STREAMED,
        "prompt:answer": _OPENAI_AGENTS_STREAMED,
        "prompt:answer inject_context": "nothing follows the answer that could read it",
        "agent:spawn modify": "the SDK has chosen the agent and its input by then",
    },
)


CLAUDE_AGENT_SDK = Coverage(
    name="claude-agent-sdk",
    framework="Claude Agent SDK",
    package="claude-agent-sdk",
    module="amplifier_hooks.frameworks.claude_agent_sdk",
    attach='ClaudeAgentOptions(**amplifier_options("amplifier.yaml"))',
    events={
        events.SESSION_START: _NO_CHANGE,
        events.SESSION_END: NOTHING,
        events.PROMPT_SUBMIT: ALL,
        events.PROMPT_ANSWER: ALL,
        events.PROMPT_COMPLETE: NOTHING,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: frozenset({"inject_context"}),
        events.AGENT_SPAWN: _NO_CHANGE,
        events.AGENT_COMPLETE: NOTHING,
        events.CONTEXT_PRE_COMPACT: frozenset({"deny", "ask_user"}),
        events.USER_NOTIFICATION: NOTHING,
    },
    injections_stay="in the thread",
    unseen=(
        "requests to the model and its replies, thinking included: the program makes them",
        "tools that run at the provider, such as its web search",
        "calls of tools that do not exist: the program answers them, and nothing runs",
        "what the program does by itself, such as compacting, checkpoints and its own settings",
        "an answer before the caller reads it, where the program uses the SDK's own query() or "
        "ClaudeSDKClient; nor can a prompt be changed there",
        "text that streams (include_partial_messages), before the caller reads it",
    ),
    asking=("inline", "interrupt"),
    entries=(
        "amplified_query()",
        "AmplifiedClient",
        "query() and ClaudeSDKClient with amplifier_options()",
    ),
    limits={
        events.PROVIDER_REQUEST: "the program makes its requests itself and shows them to nobody",
        events.PROVIDER_RESPONSE: "the program gets the replies itself and shows them to nobody",
        f"{events.AGENT_SPAWN} modify": "change the input of the tool Delegate at tool:pre instead",
        f"{events.TOOL_POST} inject_context": "texts for one request stay in the conversation, as "
        "all others do",
    },
)

CLAUDE_AGENT_SDK_BY_OPTIONS = replace(
    CLAUDE_AGENT_SDK,
    events={
        **CLAUDE_AGENT_SDK.events,
        events.PROMPT_SUBMIT: _NO_CHANGE,
        events.PROMPT_ANSWER: NOTHING,
    },
    limits={
        **CLAUDE_AGENT_SDK.limits,
        f"{events.PROMPT_SUBMIT} modify": "by its options, the program can be told to refuse a "
        "prompt, but not to take another one; use amplified_query or AmplifiedClient",
        events.PROMPT_ANSWER: "the caller has read the answer when the program tells that it "
        "stops; use amplified_query or AmplifiedClient",
    },
)
"""With nothing but options, which the SDK's own entry points take."""


CREWAI = Coverage(
    name="crewai",
    framework="CrewAI",
    package="crewai",
    module="amplifier_hooks.frameworks.crewai",
    attach='with amplified("amplifier.yaml"): crew.kickoff()',
    events={
        events.SESSION_START: _NO_CHANGE,
        events.SESSION_END: NOTHING,
        events.PROMPT_SUBMIT: ALL,
        events.PROMPT_ANSWER: ALL,
        events.PROMPT_COMPLETE: NOTHING,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: frozenset({"inject_context"}),
        events.AGENT_SPAWN: _NO_CHANGE,
        events.AGENT_COMPLETE: NOTHING,
    },
    injections_stay="for the kickoff",
    unseen=(
        "tools that a program calls without an agent, and tools that run at the provider",
        "tools that a model object runs by itself, inside its call",
        "flows, but for the crews and agents in them",
        "the prompt and the answer of Agent.kickoff(); its model calls and tool calls are seen, in "
        "a session that ends with the block or with the program",
        "text that streams, before somebody reads it",
        "that kickoff_async() was cancelled: CrewAI goes on with the crew in its thread",
    ),
    entries=("kickoff()", "kickoff_async()", "akickoff()", "kickoff_for_each()", "Agent.kickoff()"),
    limits={
        f"{events.AGENT_SPAWN} modify": "change the input of the delegating tool at tool:pre "
        "instead",
    },
)


_GOOGLE_ADK_STREAMED = "text that is streamed was read before hooks could judge it"

GOOGLE_ADK = Coverage(
    name="google-adk",
    framework="Google ADK",
    package="google-adk",
    module="amplifier_hooks.frameworks.google_adk",
    attach="Runner(..., plugins=[AmplifierPlugin(hooks)])",
    events={
        "session:start": ALL - {"modify"},
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "tool:error": NOTHING,
        "prompt:answer": _NO_CONTEXT,
        "prompt:complete": NOTHING,
        "session:fork": NOTHING,
        "session:end": NOTHING,
    },
    injections_stay="in the thread",
    unseen=(
        "live sessions (run_live): what the user and the model say; tool calls are seen",
        "tools that the model's own service runs, such as Google Search in Gemini, "
        "and code executors",
        "agents behind A2A, and what else runs on another machine",
        "the tools of an agent in AgentTool(include_plugins=False)",
        "what a plugin after ours, or a callback of the agent, changes in a request to the model "
        "or in its reply",
    ),
    asking=("inline", "interrupt"),
    entries=("Runner.run_async", "Runner.run", "InMemoryRunner.run_debug"),
    limits={
        "provider:response": _GOOGLE_ADK_STREAMED,
        "prompt:answer": _GOOGLE_ADK_STREAMED,
        "prompt:answer inject_context": "nothing follows the answer that could read it",
    },
)


_STRANDS_STREAMED = (
    'text that is streamed was read before hooks could judge it, unless streams="held"'
)

STRANDS = Coverage(
    name="strands",
    framework="Strands",
    package="strands-agents",
    module="amplifier_hooks.frameworks.strands",
    attach="Agent(..., plugins=[AmplifierHooks(hooks)])",
    events={
        "session:start": ALL - {"modify"},
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "tool:error": NOTHING,
        "prompt:answer": _NO_CONTEXT,
        "prompt:complete": NOTHING,
        "session:fork": NOTHING,
        "session:end": NOTHING,
    },
    unseen=(
        "bidirectional agents (BidiAgent)",
        "the prompt and the request of the deprecated Agent.structured_output, which is refused "
        "where a guard would have to judge them",
        "tools that the model's own service runs",
        "a tool that a middleware added after ours puts in the place of another",
        "answers that the framework writes itself, such as at a limit or by AfterToolsEvent",
    ),
    asking=("inline", "interrupt"),
    injections_stay="in the thread",
    inner_agents="governed",
    entries=(
        "agent(...)",
        "Agent.invoke_async",
        "Agent.stream_async",
        "agent.tool.name(...)",
        "Graph",
        "Swarm",
    ),
    limits={
        "provider:response": _STRANDS_STREAMED,
        "prompt:answer": _STRANDS_STREAMED,
        "prompt:answer inject_context": "nothing follows the answer that could read it",
    },
)


AGENT_FRAMEWORK = Coverage(
    name="agent-framework",
    framework="Microsoft Agent Framework",
    package="agent-framework-core",
    module="amplifier_hooks.frameworks.agent_framework",
    attach='Agent(client=client, middleware=[amplifier("amplifier.yaml")])',
    events={
        events.SESSION_START: frozenset({"deny", "inject_context", "ask_user"}),
        events.PROMPT_SUBMIT: ALL,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: NOTHING,
        events.PROMPT_ANSWER: ALL - {"inject_context"},
        events.PROMPT_COMPLETE: NOTHING,
        events.SESSION_END: NOTHING,
    },
    unseen=(
        "tools that the model's provider runs itself; their calls are part of the reply",
        "agents of a kind without middleware (RawAgent), also those that a governed tool starts",
        "executors of a workflow that are not agents",
        "agents that run elsewhere, such as those behind A2A: a run of one is refused",
        "middleware of a context provider, and a history stored after each model call: they come "
        "after the hooks of an agent, but before those of an amplified client",
    ),
    asking=("inline", "interrupt"),
    inner_agents="governed",
    entries=(
        "await agent.run()",
        "agent.run(stream=True)",
        "await client.get_response() of an amplified client",
        "client.get_response(stream=True) of an amplified client",
    ),
    limits={
        f"{events.PROMPT_ANSWER} inject_context": "the answer ends the turn: no request follows",
        events.PROVIDER_RESPONSE: (
            "a streamed reply is held back until it is whole and judged, if a hook listens to "
            "replies or answers"
        ),
    },
)


FASTMCP = Coverage(
    name="fastmcp",
    framework="FastMCP",
    package="fastmcp",
    module="amplifier_hooks.frameworks.fastmcp",
    attach='server.add_middleware(AmplifierMCP("amplifier.yaml"))',
    events={
        events.SESSION_START: frozenset({"deny", "inject_context", "ask_user"}),
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: NOTHING,
        events.SESSION_END: NOTHING,
    },
    injections_stay="with the result",
    unseen=(
        "the agent behind the client: its prompts, its model and its other tools",
        "lists of tools, resources and prompts, and completions",
        "results of calls that a task extension runs in the background, and what they do there",
        "what middleware of a mounted server does to a call that the outer server's hooks judged",
    ),
    entries=(
        "tools/call of a server written with FastMCP",
        "tools/call of a proxy of any other server",
        "resources/read and prompts/get, as the tools of these names",
    ),
    limits={
        events.PROMPT_SUBMIT: "an MCP server sees no prompts",
        events.PROMPT_ANSWER: "an MCP server sees no answers",
        events.PROVIDER_REQUEST: "an MCP server sees no requests to a model",
        events.PROVIDER_RESPONSE: "an MCP server sees no replies of a model",
    },
)


_AGENT_HOOKS_REWRITES = "the contract lets nothing be rewritten there"
_AGENT_HOOKS_START: frozenset[Act] = frozenset({"deny", "inject_context"})

AGENT_HOOKS = Coverage(
    name="agent-hooks",
    framework="AGENT-HOOKS 0.1",
    package="agent-hooks-sdk",
    module="amplifier_hooks.frameworks.agent_hooks",
    attach="emitter.register(AmplifierInterceptor(hooks))",
    events={
        "session:start": _AGENT_HOOKS_START,
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "prompt:answer": _NO_CONTEXT,
        "prompt:complete": NOTHING,
        "session:end": NOTHING,
    },
    unseen=(
        "what the host does not emit: only its start, its end, inputs and outputs are required",
        "a tool that fails, if the host emits no result for it",
        "which of its agents a sub-agent belongs to",
    ),
    asking=("interrupt", "inline"),
    entries=("every host that emits the contract's interception points",),
    limits={
        "session:start modify": _AGENT_HOOKS_REWRITES,
        "session:start ask_user": "a question there is a denial that nobody can lift",
        "prompt:answer inject_context": "nothing follows the answer that could read it",
    },
)


OWN_LOOP = Coverage(
    name="own-loop",
    framework="a loop of your own",
    package="amplifier-hooks",
    module="amplifier_hooks",
    attach='Guard("amplifier.yaml")',
    events={
        events.SESSION_START: _NO_CHANGE,
        events.PROMPT_SUBMIT: ALL,
        events.PROVIDER_REQUEST: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: NOTHING,
        events.PROMPT_ANSWER: _NO_CONTEXT,
        events.PROMPT_COMPLETE: NOTHING,
        events.SESSION_END: NOTHING,
    },
    unseen=("replies of the model, but for the calls and the answer that the loop hands over",),
    limits={f"{events.PROMPT_ANSWER} inject_context": "nothing follows that could read it"},
)
"""What `amplifier_hooks.Guard` is told by a loop that somebody wrote: no adapter has this table."""


OVER_HTTP = Coverage(
    name="http",
    framework="a program over HTTP",
    package="amplifier-hooks",
    module="amplifier_hooks.server",
    attach="amplifier judge",
    events={
        events.SESSION_START: _NO_CHANGE,
        events.PROMPT_SUBMIT: ALL,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: _CONTEXT_ONLY,
        events.PROMPT_ANSWER: ALL,
        events.PROMPT_COMPLETE: NOTHING,
        events.SESSION_END: NOTHING,
    },
    unseen=("whatever the program does not send",),
)
"""What a program can be told over HTTP, if it sends everything: no adapter has this table."""


TABLES = (
    LANGCHAIN,
    PYDANTIC_AI,
    OPENAI_AGENTS,
    CLAUDE_AGENT_SDK,
    CREWAI,
    GOOGLE_ADK,
    STRANDS,
    AGENT_FRAMEWORK,
    FASTMCP,
    AGENT_HOOKS,
)
"""Of every adapter, by how many people use the frameworks."""
