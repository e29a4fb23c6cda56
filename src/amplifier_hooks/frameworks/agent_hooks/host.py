"""As a host: interceptors of the contract judge a session of ours."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from agent_hooks import (
    DECLARATION_VERSION,
    JCS_SHA256,
    SPEC_VERSION,
    AgentContext,
    AgentContextBuilder,
    ApprovalOutcome,
    ApprovalRequest,
    ApprovalResolution,
    ApprovalResolver,
    BindingContext,
    CompositionConfig,
    Decision,
    EnforcementMode,
    HostDeclaration,
    HostRegistry,
    HostSurface,
    IdentityProvider,
    InterceptionEmitter,
    InterceptionPoint,
    InterceptionRecord,
    Interceptor,
    Verdict,
)

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.mount_plan import read_entry
from amplifier_core.records import Other
from amplifier_core.session import AmplifierSession
from amplifier_core.utils.copying import is_same
from amplifier_hooks.frameworks.agent_hooks.translation import POINTS, UnusableChange

FRAMEWORK = "amplifier-hooks"

CAPABILITIES = (
    "bigint_json",
    "host_declaration",
    "int64_json",
    "model_calls",
    "multi_turn",
    "parallel_tool_calls",
    "tool_calls",
)

DEFAULT_TIMEOUT = 5.0

_KIND = "amplifier.interceptor"
_NAME = "host"


def describe_surface() -> HostSurface:
    """What this host can do: what a declaration is checked against."""
    return HostSurface.from_capabilities(CAPABILITIES, "continue")


class HostOptions(TypedDict, total=False):
    """How the interceptors of a host are run."""

    mode: EnforcementMode
    """`enforce`, or `evaluate_only`: they are asked and recorded, and nothing comes of it."""
    composition: CompositionConfig
    """How several verdicts become one; if not said, the first denial ends the sequence."""
    identity_provider: str | IdentityProvider | None
    """What binds a record to its context: `jcs-sha256`, if not said."""
    redactor: Callable[[AgentContext], AgentContext] | None
    """Makes of a context what the resolver of an approval may see."""
    timeout: float | None
    """Seconds for each interceptor: 5, if not said."""
    resolver_timeout: float | None
    """Seconds for the resolver; if not said, as long as the question may wait."""


def build_emitter(
    interceptors: Sequence[Interceptor] | Mapping[str, Interceptor],
    resolver: ApprovalResolver | None,
    options: HostOptions,
) -> InterceptionEmitter:
    """An emitter over interceptors that a program has at hand; with names, records tell them."""
    if isinstance(interceptors, Mapping):
        named = dict(interceptors)
    else:
        named = {f"interceptor-{number}": one for number, one in enumerate(interceptors)}

    def find(config: Any, binding: BindingContext) -> Interceptor:
        return named[config["name"]]

    registry = HostRegistry(describe_surface()).kind(_KIND, find)
    document = {
        "declaration": DECLARATION_VERSION,
        "spec": SPEC_VERSION,
        "id": FRAMEWORK,
        "host": {"name": FRAMEWORK},
        "configuration": _configure(registry, resolver, options),
        "bindings": [{"id": name, "kind": _KIND, "config": {"name": name}} for name in named],
    }
    return InterceptionEmitter.from_declaration_value(document, registry)


def _configure(
    registry: HostRegistry, resolver: ApprovalResolver | None, options: HostOptions
) -> dict[str, Any]:
    provider = options.get("identity_provider", JCS_SHA256)
    redactor = options.get("redactor")
    if isinstance(provider, IdentityProvider):
        registry.identity_provider(provider.name, provider.fn)
        provider = provider.name
    if resolver is not None:
        registry.approval_resolver(_NAME, resolver)
    if redactor is not None:
        registry.approval_redactor(_NAME, redactor)
    return {
        "mode": EnforcementMode(options.get("mode", EnforcementMode.ENFORCE)).value,
        "composition": options.get("composition", CompositionConfig.default()).to_wire(),
        "identity_provider": provider,
        "approval": {
            "resolver": None if resolver is None else _NAME,
            "redactor": None if redactor is None else _NAME,
        },
        "timeouts": {
            "interceptor_ms": _to_milliseconds(options.get("timeout", DEFAULT_TIMEOUT)),
            "approval_resolver_ms": _to_milliseconds(options.get("resolver_timeout")),
        },
    }


def _to_milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, int(seconds * 1000))


_EVENTS = {
    InterceptionPoint.AGENT_STARTUP: events.SESSION_START,
    InterceptionPoint.INPUT: events.PROMPT_SUBMIT,
    InterceptionPoint.PRE_MODEL_CALL: events.PROVIDER_REQUEST,
    InterceptionPoint.POST_MODEL_CALL: events.PROVIDER_RESPONSE,
    InterceptionPoint.PRE_TOOL_CALL: events.TOOL_PRE,
    InterceptionPoint.POST_TOOL_CALL: events.TOOL_POST,
    InterceptionPoint.OUTPUT: events.PROMPT_ANSWER,
}


class GateResolver:
    """Puts a denial that may be lifted to the session's approval system.

    It is asked as for every hook: with a deadline, the events `approval:*`, and the trail.
    """

    def __init__(self, coordinator: SessionCoordinator, name: str) -> None:
        self._coordinator = coordinator
        self._name = name

    async def resolve(self, request: ApprovalRequest, /) -> ApprovalResolution:
        """Ask; anything but a yes leaves the denial in place."""
        verdict = request.verdict
        point = request.interception_point
        why = verdict.message or verdict.reason
        question = HookResult(
            action="ask_user",
            approval_prompt=f"Allow this? {why}" if why else "Allow this operation?",
            reason=verdict.reason,
            data=_describe_call(request.context),
        )
        answer = await self._coordinator.handle_approval_request(
            question, self._name, _EVENTS[point]
        )
        if answer.action == "continue":
            return ApprovalResolution(
                ApprovalOutcome.APPROVE, request.context_identity, Verdict.allow()
            )
        refused = Verdict.deny(reason=verdict.reason, message=answer.reason)
        return ApprovalResolution(ApprovalOutcome.REJECT, request.context_identity, refused)


def _describe_call(context: AgentContext) -> dict[str, Any]:
    """What would run, as the person is shown it."""
    call = context.get("tool_call")
    if not isinstance(call, dict):
        return {"target": context.get("target")}
    return {"tool_name": call["name"], "tool_input": call["args"], "tool_call_id": call["id"]}


PRIORITY = 9_000
"""Behind the hooks that change something: what interceptors judge is what runs."""

NAME = "agent-hooks"
RECORD = "interception_recorded"
"""The type of a record in the trail: the contract's own record, which holds no payload."""

TOO_LATE = (
    "the interceptors were attached after the session had started, so its start was not judged; "
    "attach them before, with prepare= of open_session"
)
_CALLS = (events.TOOL_PRE, events.TOOL_POST)


@dataclass(slots=True)
class _Hosted:
    """What the host keeps of one session: its sequence, and whether its turn was blocked."""

    builder: AgentContextBuilder
    is_started: bool = False
    is_blocked: bool = False


class InterceptionHost:
    """Emits each event of a session to the interceptors, and does what they say.

    One guard for each of the eight points. Sub-agents are sessions of their own, each with its own
    sequence.
    """

    def __init__(
        self,
        session: AmplifierSession | SessionCoordinator,
        emitter: InterceptionEmitter,
        *,
        agent_id: str = FRAMEWORK,
        priority: int = PRIORITY,
    ) -> None:
        self.emitter = emitter
        self._coordinator = find_coordinator(session)
        self._agent_id = agent_id
        self._sessions: dict[str, _Hosted] = {}
        emitter.set_record_sink(self._record)
        hooks = self._coordinator.hooks
        self._removals = [
            hooks.register(str(event), self._judge, priority, NAME, on_error="deny")
            for event in POINTS
        ]

    @property
    def records(self) -> list[InterceptionRecord]:
        """One record for each emission so far, without payloads."""
        return self.emitter.results

    def is_blocked(self, session_id: str | None = None) -> bool:
        """Whether an interceptor has ended the last turn; a denied tool call ends none."""
        hosted = self._sessions.get(session_id or str(self._coordinator.session_id))
        return hosted is not None and hosted.is_blocked

    def remove(self) -> None:
        """Take the interceptors away again."""
        for remove in self._removals:
            remove()

    def _record(self, record: InterceptionRecord) -> None:
        self._coordinator.trail.write(Other(type=RECORD, members=record.to_wire()), hook=NAME)

    async def _judge(self, event: str, data: dict[str, Any]) -> HookResult:
        hosted = self._find(str(data.get("session_id") or self._coordinator.session_id))
        if event == events.SESSION_START:
            hosted.is_started = True
        elif not hosted.is_started:
            return HookResult(action="deny", reason=TOO_LATE)
        if event == events.PROMPT_SUBMIT:
            hosted.is_blocked = False
        if event == events.PROMPT_ANSWER and hosted.is_blocked:
            return CONTINUE  # the sentence about a denial is no answer of the agent
        result = await self._emit(hosted, event, data)
        hosted.is_blocked |= result.action == "deny" and event not in _CALLS
        if event == events.SESSION_END:
            self._sessions.pop(str(data.get("session_id")), None)
        return result

    def _find(self, session_id: str) -> _Hosted:
        if session_id not in self._sessions:
            builder = AgentContextBuilder(
                agent_id=self._agent_id, framework=FRAMEWORK, session_id=session_id
            )
            self._sessions[session_id] = _Hosted(builder)
        return self._sessions[session_id]

    async def _emit(self, hosted: _Hosted, event: str, data: dict[str, Any]) -> HookResult:
        point = POINTS[event]
        if event == events.SESSION_START:
            data = {**data, "tools": self._list_tools(data)}
        before = point.project(data)
        context = point.open(hosted.builder, copy.deepcopy(before), data)
        record = await self.emitter.emit_unchecked(context)
        told = _tell_warnings(record)
        if record.verdict.decision is Decision.DENY and self._acts:
            return HookResult(action="deny", reason=_explain(record), **told)
        left = point.find(context)
        if is_same(left, before):
            return HookResult(**told) if told else CONTINUE
        try:
            return HookResult(action="modify", data=point.merge(data, before, left), **told)
        except UnusableChange as error:
            return HookResult(action="deny", reason=f"a rewrite cannot be used: {error}", **told)

    @property
    def _acts(self) -> bool:
        """Whether a denial is said; in shadow mode the session records it and goes on."""
        shadow = self._coordinator.hooks.mode == "evaluate_only"
        return shadow or self.emitter.mode is EnforcementMode.ENFORCE

    def _list_tools(self, data: Mapping[str, Any]) -> list[str]:
        if data.get("session_id") in (None, self._coordinator.session_id):
            return list(self._coordinator.get("tools"))
        entries = (data.get("mount_plan") or {}).get("tools") or ()
        return [read_entry("tools", one).module for one in entries]


def _explain(record: InterceptionRecord) -> str:
    verdict = record.verdict
    both = verdict.message and verdict.reason
    said = f"{verdict.message} ({verdict.reason})" if both else verdict.message or verdict.reason
    return said or "denied without a reason"


def _tell_warnings(record: InterceptionRecord) -> dict[str, Any]:
    texts = [one.message or one.reason for one in record.verdict.warnings]
    said = "; ".join(text for text in texts if text)
    return {"user_message": said, "user_message_level": "warning"} if said else {}


def find_coordinator(session: AmplifierSession | SessionCoordinator) -> SessionCoordinator:
    """The coordinator of what was given."""
    return session.coordinator if isinstance(session, AmplifierSession) else session


def host_interceptors(
    session: AmplifierSession | SessionCoordinator,
    interceptors: Sequence[Interceptor] | Mapping[str, Interceptor],
    *,
    resolver: ApprovalResolver | Literal["gate"] | None = "gate",
    agent_id: str = FRAMEWORK,
    priority: int = PRIORITY,
    **options: Unpack[HostOptions],
) -> InterceptionHost:
    """Have interceptors of the contract judge everything that a session does.

    Attach them before the session starts. `resolver` is who may lift a denial: the session's own
    approval system (`gate`), one of the contract, or nobody. A session in shadow mode runs them in
    the mode `evaluate_only`.
    """
    coordinator = find_coordinator(session)
    if coordinator.hooks.mode == "evaluate_only":
        options["mode"] = EnforcementMode.EVALUATE_ONLY
    # Resolvers may be async, which the type of the contract does not say.
    lifting: Any = GateResolver(coordinator, NAME) if resolver == "gate" else resolver
    emitter = build_emitter(interceptors, lifting, options)
    return InterceptionHost(coordinator, emitter, agent_id=agent_id, priority=priority)


def host_declaration(
    session: AmplifierSession | SessionCoordinator,
    declaration: str | Path | Mapping[str, Any] | HostDeclaration,
    registry: HostRegistry,
    *,
    agent_id: str = FRAMEWORK,
    priority: int = PRIORITY,
) -> InterceptionHost:
    """The same from a host declaration: a file, or what would stand in one.

    `registry` has the kinds, resolvers and providers that it names; make it with
    `HostRegistry(describe_surface())`. Raises DeclarationError if it cannot be held to.
    """
    if isinstance(declaration, str | Path):
        declaration = HostDeclaration.from_path(declaration)
    elif not isinstance(declaration, HostDeclaration):
        declaration = HostDeclaration.from_value(dict(declaration))
    emitter = InterceptionEmitter.from_declaration(declaration, registry)
    return InterceptionHost(session, emitter, agent_id=agent_id, priority=priority)
