"""Our session as the kit for conformance drives it: the production path, with its own doubles."""

from __future__ import annotations

from typing import Any, ClassVar

from agent_hooks import (
    AgentContext,
    ApprovalResolver,
    CompositionConfig,
    EnforcementMode,
    HostRegistry,
    HostSurface,
    IdentityProvider,
    InterceptionEmitter,
    Interceptor,
)
from agent_hooks.ctk import Capability, RunOutcome, RunRecord, Scenario
from agent_hooks.ctk.scripted import redact_paths

from amplifier_core.errors import SessionDenied
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.session import AmplifierSession
from amplifier_hooks.frameworks.agent_hooks import InterceptionHost, describe_surface
from amplifier_hooks.frameworks.agent_hooks.host import CAPABILITIES, HostOptions, build_emitter
from tests.support.sessions import plan_for


class Model:
    """A provider that replies what the scenario says, one reply for each request."""

    name = model = "mock"

    def __init__(self, scenario: Scenario) -> None:
        self._replies = iter(scenario.model_script)

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        reply = next(self._replies)
        calls = [
            ToolCall(id=one["id"], name=one["name"], arguments=one["args"])
            for one in reply.tool_calls
        ]
        text: list[Any] = [] if reply.content is None else [TextBlock(text=reply.content)]
        return ChatResponse(content=text, tool_calls=calls, finish_reason=reply.finish_reason)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return list(response.tool_calls or ())


class Tool:
    """A tool that returns what the scenario says, and keeps what it was called with."""

    description = "Does what the scenario says."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object"}

    def __init__(self, spec: Any, log: list[dict[str, Any]]) -> None:
        self.name = spec.name
        self._spec = spec
        self._log = log

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        value, is_error = self._spec.invoke(input)
        self._log.append({"name": self.name, "args": dict(input)})
        return ToolResult(success=not is_error, output=value)


class ConformingHost:
    """The harness: an AmplifierSession with loop-basic behind the adapter that users attach."""

    name = "amplifier-hooks"
    capabilities: ClassVar[set[Capability]] = {Capability(one) for one in CAPABILITIES}
    tool_seam_host_error = "continue"

    def __init__(self) -> None:
        self._scenario: Scenario | None = None
        self._emitter: InterceptionEmitter | None = None
        self._log: list[dict[str, Any]] = []

    def host_surface(self) -> HostSurface:
        return describe_surface()

    def setup(
        self,
        scenario: Scenario,
        interceptors: list[Interceptor],
        resolver: ApprovalResolver | None,
        mode: EnforcementMode,
        composition: CompositionConfig,
        identity_provider: str | None,
        redact_for_approval: list[str] | None = None,
    ) -> None:
        options: HostOptions = {
            "mode": mode,
            "composition": composition,
            "identity_provider": _find_provider(identity_provider),
        }
        if redact_for_approval:
            paths = list(redact_for_approval)
            options["redactor"] = lambda context: redact_paths(context, paths)
        self._scenario = scenario
        self._emitter = build_emitter(interceptors, resolver, options)

    def setup_declared(
        self, scenario: Scenario, document: dict[str, Any], registry: HostRegistry
    ) -> None:
        self._scenario = scenario
        self._emitter = InterceptionEmitter.from_declaration_value(document, registry)

    async def run(self) -> RunRecord:
        assert self._scenario is not None
        assert self._emitter is not None
        session = AmplifierSession(plan_for([], providers=[]))
        host = InterceptionHost(session, self._emitter)
        outcome, answer = await self._take_turn(session, host, self._scenario)
        await session.cleanup("complete" if outcome is RunOutcome.COMPLETED else "error")
        return RunRecord(
            outcome=outcome,
            final_output=answer,
            tool_invocations=self._log,
            identities=[(one.input_identity, one.enforced_identity) for one in host.records],
            records=[one.to_wire() for one in host.records],
        )

    async def _take_turn(
        self, session: AmplifierSession, host: InterceptionHost, scenario: Scenario
    ) -> tuple[RunOutcome, str | None]:
        await session.initialize()
        await session.coordinator.mount("providers", Model(scenario))
        for spec in scenario.tools.values():
            await session.coordinator.mount("tools", Tool(spec, self._log))
        given = scenario.input
        try:
            answer = await session.execute(given["content"], {"role": given["role"]})
        except SessionDenied:
            return RunOutcome.BLOCKED, None
        if session.status == "denied" or host.is_blocked():
            return RunOutcome.BLOCKED, None
        return RunOutcome.COMPLETED, answer

    def teardown(self) -> None:
        self._scenario = self._emitter = None


def _find_provider(name: str | None) -> str | IdentityProvider | None:
    if name != "ctk-fault":
        return name

    def fail(_: AgentContext) -> str:
        raise RuntimeError("a provider that fails, as the kit wants it")

    return IdentityProvider(name, fail)
