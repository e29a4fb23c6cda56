"""Which hooks want an event, and the event as each of them is to see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amplifier_core import events
from amplifier_core.interfaces import Host
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler
from amplifier_hooks.coding_agents.dialects.matcher import passes_rule
from amplifier_hooks.coding_agents.shell_hooks.config import Config
from amplifier_hooks.modules.registration import get_working_dir

Job = tuple[Handler, Call]


class Selector:
    """Holds the handlers, by the events of ours at which they run."""

    def __init__(self, host: Host, config: Config, handlers: Iterable[Handler]) -> None:
        self._host = host
        self._config = config
        self._by_event: dict[str, list[Handler]] = {}
        for handler in handlers:
            for occasion in DIALECTS[handler.dialect].events[handler.native].occasions:
                self._by_event.setdefault(occasion.event, []).append(handler)
        self._spent: set[str] = set()
        self._inputs: dict[str, dict[str, Any]] = {}

    @property
    def by_event(self) -> Mapping[str, Sequence[Handler]]:
        """The handlers of each event that has any."""
        return self._by_event

    def remember_input(self, data: Mapping[str, Any]) -> None:
        """Keep the input of a tool call: a question about the call does not carry it."""
        if events.APPROVAL_REQUIRED in self._by_event:
            given = data.get("tool_input")
            known = dict(given) if isinstance(given, Mapping) else {}
            self._inputs[str(data.get("tool_name"))] = known

    def select(self, event: str, data: dict[str, Any], blocked_stops: int = 0) -> list[Job]:
        """The hooks that this occurrence is for; those that run once are now spent."""
        if event == events.APPROVAL_REQUIRED:
            data = self._add_input(data)
        found = []
        for handler in self._by_event.get(event, ()):
            call = self._build_call(event, handler, data, blocked_stops)
            if handler.where not in self._spent and _wants(handler, call):
                found.append((handler, call))
        self._spent |= {handler.where for handler, _ in found if handler.once}
        return found

    def _add_input(self, data: dict[str, Any]) -> dict[str, Any]:
        known = self._inputs.get(str(data.get("tool_name")))
        return data if known is None or "tool_input" in data else {**data, "tool_input": known}

    def _build_call(
        self, event: str, handler: Handler, data: dict[str, Any], blocked_stops: int
    ) -> Call:
        own = str(self._host.session_id or data.get("session_id") or "")
        session = str(data.get("session_id") or own)
        return Call(
            event=event,
            native=handler.native,
            data=data,
            session_id=own,
            cwd=str(self._config.find_base(get_working_dir(self._host))),
            transcript=str(self._host.get_capability("session.transcript_path") or ""),
            agent_id=session if session != own else None,
            blocked_stops=blocked_stops,
        )


def _wants(handler: Handler, call: Call) -> bool:
    """Whether this is an occasion of the hook, and its matcher and its rule let it pass."""
    dialect = DIALECTS[handler.dialect]
    if not dialect.events[handler.native].happens_at(call.event, call.data):
        return False
    values = dialect.list_matched(call)
    if values and not dialect.matches(handler.matcher, values):
        return False
    names = (call.tool, dialect.translate_tool(call.tool))
    return not call.tool or passes_rule(handler.condition, names, call.input, call.cwd)
