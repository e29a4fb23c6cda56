"""The protocol of one agent, as a table of its events and of what else is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.fields import rename_keys
from amplifier_hooks.coding_agents.dialects.handler import Handler
from amplifier_hooks.coding_agents.dialects.reply import Reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict

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
