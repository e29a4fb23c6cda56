"""hooks-provenance: ask about a call because of where its values come from.

Listens to  prompt:submit, tool:post, tool:error, mcp:list, approval:granted, tool:pre
Answers     ask_user, or continue
Emits       provenance:judged, with the origin of each value that a call was judged by
Configure   labels, sinks, priority, timeout, approval_*

No model and no network: it compares what a call would do with what the person said and with what
the agent has read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NotRequired, TypedDict

from pydantic import Field

from amplifier_core.events import (
    APPROVAL_GRANTED,
    PROMPT_SUBMIT,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
    Event,
    EventData,
)
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils import describe_error
from amplifier_hooks.guards.bash import ensure_available
from amplifier_hooks.guards.mcp.protocol import LIST
from amplifier_hooks.guards.policy.tool_calls import ORIGINS
from amplifier_hooks.guards.provenance.commands import judge_project_call
from amplifier_hooks.guards.provenance.labels import PROJECT_TOOLS
from amplifier_hooks.guards.provenance.ledger import Ledger
from amplifier_hooks.guards.provenance.lineage import Lineage, list_scalars
from amplifier_hooks.guards.provenance.overrides import Label, Overrides, Sink
from amplifier_hooks.guards.provenance.request import Request, read_request
from amplifier_hooks.guards.provenance.sinks import Finding, judge_call
from amplifier_hooks.guards.provenance.values import normalize
from amplifier_hooks.machine.text import to_one_line
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import (
    GuardConfig,
    digest_text,
    is_own_event,
    register_guards,
    shorten,
)

logger = logging.getLogger(__name__)

NAME = "hooks-provenance"
CONTINUE = HookResult(action="continue")
_MOST_FINDINGS = 5
_LONGEST_VALUE = 300
_MOST_JUDGED = 30


class Config(GuardConfig):
    """The options of hooks-provenance."""

    approval_options: list[str] = Field(
        default_factory=lambda: ["Allow once", "Allow always for these values", "Deny"],
        min_length=1,
    )
    labels: dict[str, Label] = Field(default_factory=dict)
    sinks: dict[str, Sink] = Field(default_factory=dict)


class JudgedValue(TypedDict):
    """Where a value of a call comes from: its place and a digest, not the value."""

    argument: str
    label: str
    digest: str
    tool: NotRequired[str]
    """The tool whose result has it."""
    call: NotRequired[str]
    """The id of that call."""
    field: NotRequired[str]
    """The place in that result; absent where all of it is one text."""


class JudgedData(EventData):
    """A call was judged by where its values come from, before it runs."""

    tool_name: str
    tool_call_id: NotRequired[str]
    values: list[JudgedValue]


JUDGED = Event[JudgedData]("provenance:judged")


class Provenance:
    """Keeps the ledger of one session and its sub-agents, and judges their calls by it."""

    def __init__(self, host: Host, config: Config) -> None:
        self._host = host
        self._config = config
        self._overrides = Overrides(config.labels, config.sinks)
        self._ledger: Ledger | None = None
        self._requests: Request | None = None
        self._described: set[str] = set()
        self._asked: dict[str, list[str]] = {}

    @property
    def ledger(self) -> Ledger:
        """The ledger, in the session's state."""
        state = self._host.session_state.setdefault(NAME, {})
        if self._ledger is None or self._ledger.state is not state:  # new, or resumed
            self._ledger = Ledger(state, self._overrides)
        return self._ledger

    @property
    def _request(self) -> Request:
        if self._requests is None:
            request = Request()
            for prompt in self.ledger.state["prompts"]:
                request = read_request(prompt, request)
            self._requests = request
        return self._requests

    def on_prompt(self, event: str, data: dict[str, Any]) -> HookResult:
        """The person's words; a sub-agent's task was written by an agent."""
        if self._host.parent_id is None and is_own_event(self._host, data):
            ledger = self.ledger
            own = ledger.hear(str(data.get("prompt") or ""))
            before = self._request
            ledger.state["prompts"] = [*ledger.state["prompts"][-4:], own]
            self._requests = read_request(own, before)
        return CONTINUE

    def on_result(self, event: str, data: dict[str, Any]) -> HookResult:
        """What a tool returned."""
        if not data.get("judged_again"):
            self._read(data, data.get("tool_result", data.get("result")))
        return CONTINUE

    def on_error(self, event: str, data: dict[str, Any]) -> HookResult:
        """What a tool said when it failed."""
        error = data.get("error")
        said = error.get("message") if isinstance(error, Mapping) else error
        self._read(data, {"error": str(said)})
        return CONTINUE

    def _read(self, data: dict[str, Any], result: Any) -> None:
        """Take in a result; one that cannot be read counts as a text that has everything in it."""
        try:
            self.ledger.read(
                str(data.get("tool_name", "")),
                data.get("tool_input") or {},
                result,
                str(data.get("tool_call_id") or ""),
            )
        except Exception:
            logger.exception("A result cannot be read")
            self.ledger.give_up()

    def on_list(self, event: str, data: dict[str, Any]) -> HookResult:
        """What a server says of its tools."""
        for item in data.get("items") or ():
            if isinstance(item, Mapping):
                hints = item.get("annotations")
                if isinstance(hints, Mapping):
                    self.ledger.take_hints(str(item.get("name")), hints)
                self._describe(f"{data.get('server')}", str(item.get("description") or ""))
        self._describe(f"{data.get('server')}", str(data.get("instructions") or ""))
        return CONTINUE

    def _describe(self, where: str, text: str) -> None:
        if text and digest_text(text) not in self.ledger.state["described"]:
            self.ledger.state["described"][digest_text(text)] = 1
            self.ledger.describe(text, where)

    def on_granted(self, event: str, data: dict[str, Any]) -> HookResult:
        """A person said yes for always: remember the values, not the tool."""
        digests = self._asked.pop(str(data.get("prompt")), None)
        if digests and data.get("hook") == NAME and "always" in str(data.get("decision")).lower():
            self.ledger.state["remembered"].update(dict.fromkeys(digests, 1))
        return CONTINUE

    async def on_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        """A call, before it runs; what it was judged by is told to the trail."""
        answer, values = self.judge(data)
        if values and not data.get("judged_again"):
            told: JudgedData = {"tool_name": str(data.get("tool_name", "")), "values": values}
            for key in ("tool_call_id", "session_id"):
                if data.get(key):
                    told[key] = str(data[key])
            await self._host.notify(JUDGED, told)
        return answer

    def judge(self, data: Mapping[str, Any]) -> tuple[HookResult, list[JudgedValue]]:
        """The answer to a call, and the origins of its values; asked about if that fails."""
        tool = str(data.get("tool_name", ""))
        given = data.get("tool_input") or {}
        try:
            return self._answer(tool, given, judged_again=bool(data.get("judged_again")))
        except Exception as failure:
            logger.exception("A call cannot be judged")
            why = f"it cannot be told where its values come from ({describe_error(failure)})"
            shown = shorten(to_one_line(tool, 80), 80)
            return self._config.ask_user(f"Allow {shown}?\n\n- {why}", f"not judged: {why}"), []

    def _answer(
        self, tool: str, given: Mapping[str, Any], *, judged_again: bool
    ) -> tuple[HookResult, list[JudgedValue]]:
        ledger = self.ledger
        if not ledger.is_tainted:
            ledger.use(given)
            return CONTINUE, []
        lineage = Lineage(ledger, self._request)
        found = list(self._judge(tool, given, lineage))
        remembered = ledger.state["remembered"]
        kept = [one for one in found if _digest(tool, one) not in remembered]
        if ledger.find_act(tool, given) not in {"read", "internal"} and not judged_again:
            ledger.write(given)
            ledger.compose(given)
        values = _list_judged(given, found, lineage)
        return (self._ask(tool, kept, lineage) if kept else CONTINUE), values

    def list_origins(self, tool: str, given: Any) -> dict[str, str]:
        """The label of each argument of a call; of a command, the worst of its values."""
        given = given if isinstance(given, Mapping) else {}
        lineage = Lineage(self.ledger, self._request)
        labels: dict[str, str] = {
            path: lineage.find(text).label
            for path, _, text in list_scalars(given)
            if len(text) <= _LONGEST_VALUE
        }
        if tool.casefold() in PROJECT_TOOLS and self.ledger.is_tainted:
            found = {one.origin.label for one in judge_project_call(tool, given, lineage)}
            worst = next((one for one in ("text", "sender", "none") if one in found), "own")
            labels["command" if "command" in given else "content"] = worst
        return labels

    def _judge(self, tool: str, given: Mapping[str, Any], lineage: Lineage) -> Iterator[Finding]:
        if tool.casefold() in PROJECT_TOOLS:
            yield from judge_project_call(tool, given, lineage)
        else:
            yield from judge_call(tool, given, lineage)

    def _ask(self, tool: str, found: Sequence[Finding], lineage: Lineage) -> HookResult:
        lines = [describe(tool, one, lineage) for one in found[:_MOST_FINDINGS]]
        prompt = f"Allow {shorten(to_one_line(tool, 80), 80)}?\n\n" + "\n".join(lines)
        self._asked[prompt] = [_digest(tool, one) for one in found]
        reason = "; ".join(
            f"{one.what} {shorten(one.value, 60)!r}" for one in found[:_MOST_FINDINGS]
        )
        return self._config.ask_user(prompt, f"not vouched for: {reason}")


_WORDS = {
    "text": "stands in a text that the agent has read, not in your words or records",
    "sender": "was chosen by whoever wrote what the agent has read",
    "none": "stands neither in your words nor in anything that the agent has read",
    "own": "stands in your records, but a text that the agent has read singles it out",
}


def describe(tool: str, finding: Finding, lineage: Lineage) -> str:
    """One line of the question: the value, its argument, its origin, and the place."""
    if finding.what == "act":
        return f"- You have not asked for this kind of act ({finding.value})."
    value = to_one_line(shorten(finding.value, 120), 200)
    told = _WORDS.get(finding.origin.label, "was not asked for")
    line = f"- {finding.argument or 'input'}: {value} ({finding.what}) {told}."
    witness = finding.origin.witness
    if witness is None:
        return line
    where = f"{lineage.ledger.get_tool(witness)}{f' → {witness.path}' if witness.path else ''}"
    quote = to_one_line(lineage.ledger.quote(finding.value), 200)
    return f"{line}\n  Read in {to_one_line(where, 120)}" + (f": “…{quote}…”" if quote else ".")


def _list_judged(
    given: Mapping[str, Any], found: Sequence[Finding], lineage: Lineage
) -> list[JudgedValue]:
    """The values that were looked up for a call, as the trail keeps them."""
    origins = {**lineage.found, **{one.value: one.origin for one in found if one.what != "act"}}
    paths = [(path, text) for path, _, text in list_scalars(given)]
    judged = []
    for value, origin in islice(origins.items(), _MOST_JUDGED):
        argument = next((path for path, text in paths if value in text), "")
        one = JudgedValue(
            argument=argument, label=origin.label, digest=digest_text(normalize(value))
        )
        if origin.witness is not None:
            one["tool"] = lineage.ledger.get_tool(origin.witness)
            one["call"] = lineage.ledger.get_call_id(origin.witness)
            if origin.witness.path:
                one["field"] = shorten(to_one_line(origin.witness.path, 120), 120)
        judged.append(one)
    return judged


def _digest(tool: str, finding: Finding) -> str:
    return digest_text(f"{tool}\0{finding.argument}\0{finding.what}\0{finding.value}")


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to remember what is read, and to judge calls by it."""
    settings = parse_config(Config, config, NAME)
    ensure_available(NAME)
    guard = Provenance(coordinator, settings)
    coordinator.register_capability(ORIGINS, guard.list_origins)
    return register_guards(
        coordinator,
        NAME,
        [
            (PROMPT_SUBMIT, guard.on_prompt),
            (TOOL_POST, guard.on_result),
            (TOOL_ERROR, guard.on_error),
            (LIST, guard.on_list),
            (APPROVAL_GRANTED, guard.on_granted),
            (TOOL_PRE, guard.on_tool),
        ],
        priority=settings.priority,
        timeout=settings.timeout,
    )
