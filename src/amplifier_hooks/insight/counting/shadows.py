"""What hooks in shadow mode would have done: how often, and in which cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from amplifier_core.records import AnswerShadowed, plain
from amplifier_hooks.guards.policy.tool_calls import find_path
from amplifier_hooks.trails import Item, Note, RecordedEvent

MOST_HOOKS = 500
LONGEST = 300
_MAIN_FIELDS = ("command", "url", "query", "pattern", "prompt")


@dataclass(slots=True)
class Example:
    """One thing that did not happen."""

    time: str
    trail: str
    session: str
    sequence: int
    event: str
    tool: str
    about: str
    would: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Shadows:
    """The latest examples of each hook, by the action that was kept from happening."""

    def __init__(self, most: int = 3) -> None:
        self.examples: dict[str, dict[str, list[Example]]] = {}
        self.trail = ""
        """The path of the trail that is being read."""
        self._most = most

    def take(self, item: Item) -> None:
        """Look at one item; what a hook would have done is told behind its event."""
        if isinstance(item, RecordedEvent):
            for answer in item.answers:
                if answer.shadowed:
                    self._keep(answer.hook, answer.shadowed, _describe(item, self.trail))
        elif isinstance(item, Note) and isinstance(item.body, AnswerShadowed):
            self._complete(item, item.body)

    def _keep(self, hook: str, action: str, example: Example) -> None:
        if hook not in self.examples and len(self.examples) >= MOST_HOOKS:
            return
        kept = self.examples.setdefault(hook, {}).setdefault(action, [])
        kept.append(example)
        del kept[: -self._most]

    def _complete(self, note: Note, body: AnswerShadowed) -> None:
        action = body.action
        kept = self.examples.get(note.hook, {}).get(action, [])
        open_ones = (one for one in kept if not one.would and one.session == note.session)
        found = next(open_ones, None)
        if found is None:  # a trail of decisions has the notes only
            where = (note.time, self.trail, note.session, note.sequence, note.event)
            found = Example(*where, tool="", about="")
            self._keep(note.hook, action, found)
        found.would = plain(body.would)[:LONGEST]


def _describe(item: RecordedEvent, trail: str) -> Example:
    tool, about = item.data.get("tool_name"), item.data.get("tool_input")
    return Example(
        item.time,
        trail,
        item.session,
        item.sequence,
        item.event,
        tool if isinstance(tool, str) else "",
        _summarize(about) if isinstance(about, Mapping) else "",
    )


def _summarize(tool_input: Mapping[str, Any]) -> str:
    main = find_path(tool_input)
    if main is None:
        main = next((str(tool_input[key]) for key in _MAIN_FIELDS if key in tool_input), "")
    return main.split("\n", 1)[0][:LONGEST]
