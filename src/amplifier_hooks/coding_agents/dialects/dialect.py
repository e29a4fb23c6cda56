"""The protocol of one agent, as a table of its events and of what else is its own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Call:
    """An occurrence of an event, and where it belongs."""

    event: str  # ours
    native: str
    data: Mapping[str, Any]
    session_id: str
    cwd: str
    transcript: str = ""
    agent_id: str | None = None
    blocked_stops: int = 0
    tool_input: Mapping[str, Any] | None = None  # what an earlier hook of the lane made of it

    @property
    def tool(self) -> str:
        """Our name of the tool."""
        return str(self.data.get("tool_name") or "")

    @property
    def tool_call_id(self) -> str:
        """The id of the tool call, empty where there is none."""
        return str(self.data.get("tool_call_id") or "")

    @property
    def input(self) -> dict[str, Any]:
        """The input of the tool as it stands."""
        given = self.data.get("tool_input") if self.tool_input is None else self.tool_input
        return dict(given) if isinstance(given, Mapping) else {}

    @property
    def response(self) -> Mapping[str, Any]:
        """The tool's result, as an object in any case."""
        result = self.data.get("tool_result")
        return result if isinstance(result, Mapping) else {"success": True, "output": result}

    @property
    def error(self) -> str:
        """Why the tool failed."""
        error = self.data.get("error") or self.response.get("error")
        return str(error.get("message", error)) if isinstance(error, Mapping) else str(error or "")

    @property
    def last_message(self) -> str:
        """The last thing the agent said."""
        return read_text(self.data.get("final_message") or self.data.get("result"))


def read_text(message: Any) -> str:
    """The text of a message or of a sub-agent's result; a list of blocks is joined."""
    if not isinstance(message, dict):
        return ""
    content = message.get("content", message.get("output"))
    if isinstance(content, list):
        blocks = (block for block in content if isinstance(block, dict))
        content = "".join(str(block.get("text", "")) for block in blocks)
    return str(content or "")


@dataclass(frozen=True, slots=True)
class Handler:
    """What to run, when, and what its failure means."""

    dialect: str
    native: str  # the event's name in that dialect
    where: str  # for messages: file and position
    command: str | None = None
    args: tuple[str, ...] | None = None  # run without a shell
    run: str | tuple[str, ...] | None = None  # in their place, with trusted copies of the scripts
    expects: Mapping[Path, bytes | None] = field(default_factory=dict)  # what must not have changed
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    header_vars: frozenset[str] = frozenset()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    matcher: str | None = None
    condition: str | None = None
    timeout: float = 60.0
    fail_closed: bool = False
    background: bool = False
    once: bool = False
    lane: str | None = None  # handlers of one lane run in order
    loop_limit: int = 8

    @property
    def label(self) -> str:
        """The short name a person recognises it by."""
        return self.url or self.command or " ".join(self.args or ())


@dataclass(frozen=True, slots=True)
class Reply:
    """An exit code and two streams, or the reason why there are none."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""
    failure: str | None = None
    timed_out: bool = False


def build_reply(answer: Mapping[str, Any]) -> Reply:
    """One JSON object on stdout, without the keys that hold None; nothing if none is left."""
    said = {key: value for key, value in answer.items() if value is not None}
    return Reply(stdout=_print(said)) if said else Reply()


def _print(answer: dict[str, Any]) -> str:
    """JSON that every parser takes: NaN is none, and one half of a character voids it for some."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, default=str)
    return text.encode("utf-8", "replace").decode("utf-8")


def get_text(payload: Mapping[str, Any], key: str) -> str:
    """The text under a key; empty where there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def require_text(payload: Mapping[str, Any], key: str) -> str:
    """The text under a key that nothing can be judged without."""
    value = payload.get(key)
    if not isinstance(value, str):
        raise TypeError(f"{key!r} must be a text, got {type(value).__name__}")
    return value


def require_object(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under a key that nothing can be judged without."""
    value = payload.get(key)
    if not isinstance(value, Mapping):
        raise TypeError(f"{key!r} must be an object, got {type(value).__name__}")
    return dict(value)


def get_number(payload: Mapping[str, Any], key: str) -> int:
    """The whole number under a key; 0 where there is none."""
    value = payload.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value)


def rename_keys(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The fields under their new names; none hides behind another that had this name before."""
    renamed = {names[key]: value for key, value in fields.items() if key in names}
    return {**{key: value for key, value in fields.items() if key not in names}, **renamed}


TOOL = "tool"
"""In the column `matched`: the matchers of this event name tools."""


Power = Literal["deny", "rewrite", "replace", "inject", "ask", "allow", "stop", "tell"]
"""What an answer can bring about at an event of the agent:

deny     what was about to happen does not, or (at a stop) the agent goes on working
rewrite  the tool's input or the prompt is changed
replace  the tool's output is changed or withheld
inject   text reaches the model
ask      the agent asks its person
allow    the agent does not ask its person
stop     the turn ends
tell     the person reads a message
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """The names of the fields that every payload of an agent has."""

    session: str = "session_id"
    cwd: str = "cwd"
    roots: str = "workspace_roots"
    """Where `cwd` is missing or empty: a list whose first entry is the project."""

    transcript: str = "transcript_path"
    call: str = "tool_use_id"
    agent: str = "agent_id"
    parent: str = "parent_agent_id"
    event: str = "hook_event_name"


@dataclass(frozen=True, slots=True)
class Occasion:
    """One of our events, or only those of certain tools or outcomes. `tools` may hold globs."""

    event: str
    tools: frozenset[str] | None = None
    success: bool | None = None

    def fits(self, data: Mapping[str, Any]) -> bool:
        """Whether this occurrence is one of them."""
        name = str(data.get("tool_name") or "")
        if self.tools is not None and not any(fnmatchcase(name, tool) for tool in self.tools):
            return False
        return self.success is None or _has_succeeded(data) is self.success


def _has_succeeded(data: Mapping[str, Any]) -> bool:
    finished = data.get("status") in (None, "success")
    return finished and bool(data.get("success", True)) and "error" not in data


@dataclass(frozen=True, slots=True)
class NativeEvent:
    """One event of an agent: a row of its table."""

    occasions: tuple[Occasion, ...]
    """When it happens here."""

    build_fields: Callable[[Call], dict[str, Any]]
    """What its hooks are told beside the fields that every event has."""

    matched: str | None = None
    """The field that a matcher is compared with, or TOOL; without one, every matcher fits."""

    read_fields: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    """The data of our event, from what the agent tells at this one of its own."""

    powers: frozenset[Power] = frozenset()
    """What an answer can do here."""

    gate: bool = False
    """Whether something must not happen when nobody could judge it."""

    refusal: str = ""
    """What a hook prints at a gate when nobody could judge, where exit code 2 does not block."""

    noisy: bool = False
    """Whether it happens so often that listening to it costs; nobody is told unless asked for."""

    becomes: str = ""
    """Our event, where it is not that of the first occasion."""

    since: str = ""
    """The first version that knows it; empty if every version does in which hooks are supported."""

    keys: Keys | None = None
    """The names of the common fields, where this event has other ones than the rest."""

    def happens_at(self, event: str, data: Mapping[str, Any]) -> bool:
        """Whether an occurrence of one of our events is one of this, too."""
        return any(one.event == event and one.fits(data) for one in self.occasions)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Names, units, order, payload, answer and failure direction."""

    name: str
    events: Mapping[str, NativeEvent]
    build_common: Callable[[Call], dict[str, Any]]  # the fields that every event has
    build_environment: Callable[[Call], dict[str, str]]
    read_reply: Callable[[Handler, Call, Reply], Verdict]
    matches: Callable[[str | None, Iterable[str]], bool]
    timeout: float  # seconds, where neither the hook nor `timeouts` says otherwise
    timeouts: Mapping[str, float] = field(default_factory=dict)  # by native event
    unit: float = 1.0  # seconds in one unit of a written timeout
    in_order: bool = False  # all hooks of a file run one after the other
    passes_input_on: bool = False  # hooks in order see what those before made of the input
    closed: frozenset[str] = frozenset()  # native events whose commands fail closed
    tool_names: Mapping[str, str] = field(default_factory=dict)  # ours to theirs
    input_keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by our tool's name
    keys: Keys = field(default_factory=Keys)
    write_reply: Callable[[Incoming, Verdict], Reply] | None = None  # the reverse of `read_reply`
    find_parts: Callable[[Incoming], tuple[dict[str, Any], ...]] = lambda incoming: ()
    older_names: Mapping[str, str] = field(default_factory=dict)  # further ones of theirs, to ours
    tried: str = ""  # the newest version that `make agents` has run; a test compares the two
    variant: Dialect | None = None  # how the agent treats events that are written otherwise

    def find_form(self, native: str) -> Dialect | None:
        """This dialect or its variant, whichever has the event and we too; None if neither does."""
        if native in self.events and self.events[native].occasions:
            return self
        return None if self.variant is None else self.variant.find_form(native)

    def list_events(self) -> list[str]:
        """The agent's names of the events that we have, in either way of writing."""
        own = [name for name, row in self.events.items() if row.occasions]
        return [*own, *(self.variant.list_events() if self.variant is not None else ())]

    def can(self, power: Power) -> bool:
        """Whether an answer can do this at any event that happens often enough to wait for."""
        return any(power in row.powers for row in self.events.values() if not row.noisy)

    @property
    def asks_its_person(self) -> bool:
        """Whether the agent asks its person when a hook wants it before a tool."""
        rows = self.events.values()
        return any(row.matched == TOOL and "ask" in row.powers for row in rows)

    def build_payload(self, call: Call) -> dict[str, Any]:
        """What a hook reads on stdin."""
        return {**self.build_common(call), **self.events[call.native].build_fields(call)}

    def list_matched(self, call: Call) -> tuple[str, ...]:
        """The values that a matcher is compared with; none means that every matcher fits."""
        row = self.events[call.native]
        if row.matched == TOOL:
            # Matchers are written with our names as well as with theirs, old and new.
            older = (old for old, ours in self.older_names.items() if ours == call.tool)
            return tuple({call.tool, self.translate_tool(call.tool), *older} - {""})
        return () if row.matched is None else (str(row.build_fields(call)[row.matched]),)

    def translate_tool(self, name: str) -> str:
        """Their name of a tool."""
        return self.tool_names.get(name, name)

    def recognize_tool(self, name: str) -> str:
        """Our name of one of their tools."""
        names = {theirs: ours for ours, theirs in self.tool_names.items()}
        return names.get(name) or self.older_names.get(name, name)

    def translate_input(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The input of a tool of ours, with their names of its fields."""
        return rename_keys(given, self.input_keys.get(tool, {}))

    def recognize_input(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The input of a tool of ours, from what one of theirs was given."""
        names = {theirs: ours for ours, theirs in self.input_keys.get(tool, {}).items()}
        return rename_keys(given, names)

    def get_timeout(self, native: str) -> float:
        """Seconds that a hook of this event has unless it says otherwise."""
        return self.timeouts.get(native, self.timeout)

    def fails_closed(self, handler: Handler) -> bool:
        """Whether the failure of a hook blocks: because it says so, or because its agent does."""
        return handler.fail_closed or (handler.native in self.closed and handler.url is None)
