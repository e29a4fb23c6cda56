"""Tools whose inputs no mounted guard can read, so that people know what is not judged.

A guard says what it reads with `offer_reader`. A tool is unread if its options describe it nowhere
and its input has no key that a guard takes for a command or a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from amplifier_core.interfaces import Host
from amplifier_core.records import UserMessage
from amplifier_core.utils.nested import iterate_parts
from amplifier_hooks.guards.policy.tool_calls import ARGUMENT_KEYS, TOOLS, fold_key, is_reading

CHANNEL = "guards.inputs"
_MOST_NAMED = 8
_MOST_PARTS = 100_000
Schema = Mapping[str, Any] | None
_ARGUMENTS = frozenset(map(fold_key, ARGUMENT_KEYS))


@dataclass(frozen=True, slots=True)
class InputReader:
    """What one guard reads of the inputs of tools."""

    keys: frozenset[str]
    """Where it looks in the input of any tool; empty if it judges nothing by its input."""
    describes: Callable[[str], bool]
    """Whether its options describe the tool of this name."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that a model may call."""

    name: str
    schema: Schema | Callable[[], Schema] = None
    """The JSON schema of its input, or what makes it; None if nothing is known of it."""
    only_reads: bool = False
    """Whether its server or framework says that it changes nothing."""

    def read_keys(self) -> set[str] | None:
        """The keys that its input may have, at any depth; None if it may have any."""
        schema = self.schema() if callable(self.schema) else self.schema
        if schema is None:
            return None
        keys = _list_keys(schema)
        is_closed = schema.get("additionalProperties") is False or "properties" in schema
        return keys if keys or is_closed else None


def offer_reader(
    host: Host, owner: str, keys: Iterable[str], describes: Callable[[str], bool]
) -> None:
    """Have a guard counted among those that read inputs."""
    reader = InputReader(frozenset(map(fold_key, keys)), describes)
    host.register_contributor(CHANNEL, owner, lambda: reader)


def make_offered(name: str, tool: Any) -> OfferedTool:
    """A tool of a session."""

    def read_schema() -> Schema:
        schema = getattr(tool, "input_schema", None)
        return schema if isinstance(schema, Mapping) else None

    # Read only if the name says too little: some tools make it anew each time.
    return OfferedTool(name, read_schema, only_reads=getattr(tool, "only_reads", False) is True)


def says_read_only(annotations: Any) -> bool:
    """Whether the annotations of an MCP tool say that it changes nothing."""
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True


class RecordingHost(Host, Protocol):
    """A session with its trail, which modules do not see."""

    @property
    def trail(self) -> Any: ...


class UnreadTools:
    """Finds the tools of one session that no guard can read, each once."""

    def __init__(self, host: RecordingHost, shown: set[str] | None = None) -> None:
        self._host = host
        self._met: set[str] = set()
        self._readers: list[InputReader] | None = None
        self._shown = set() if shown is None else shown
        """Sentences that people have been shown; shared by the sessions of one program."""

    async def report(self, tools: Iterable[OfferedTool], *, waits: bool = False) -> None:
        """Show and record which of these are unread.

        With `waits`, a tool without a schema is looked at again when it is called.
        """
        fresh = [one for one in tools if one.name not in self._met]
        if not fresh or not (readers := await self._find_readers()):
            return
        if waits:
            fresh = [one for one in fresh if one.read_keys() is not None]
        self._met.update(one.name for one in fresh)
        text = describe_unread(fresh, readers)
        if text is None:
            return
        self._host.trail.write(UserMessage(text=text, level="warning"))
        if text not in self._shown:
            self._shown.add(text)
            await self._host.show(text, "warning", "guards")

    async def report_call(self, name: str, given: Mapping[str, Any]) -> None:
        """The same for a tool that is called before anything was said of its input."""
        if name not in self._met:
            keys = [key for key, _ in iterate_parts(given, _MOST_PARTS) if isinstance(key, str)]
            shape = {"properties": dict.fromkeys(keys), "additionalProperties": False}
            await self.report([OfferedTool(name, shape)])

    async def _find_readers(self) -> list[InputReader]:
        if self._readers is None:
            self._readers = await collect_readers(self._host)
        return self._readers


async def collect_readers(host: Host) -> list[InputReader]:
    """What the mounted guards read."""
    found = await host.collect_contributions(CHANNEL)
    return [one for one in found if isinstance(one, InputReader)]


def describe_unread(tools: Iterable[OfferedTool], readers: Sequence[InputReader]) -> str | None:
    """One line about the tools that no guard can read; None if there are none."""
    keys = frozenset[str]().union(*(one.keys for one in readers))
    if not keys:
        return None
    suspects = {one.name: one.read_keys() for one in tools if not _is_known(one, readers)}
    unknown = [name for name, found in suspects.items() if found is None]
    unread = [
        name for name, found in suspects.items() if found is not None and keys.isdisjoint(found)
    ]
    parts = []
    if unread:
        parts.append(f"no guard can read the input of {_name(unread)}")
    if unknown:
        parts.append(f"nothing tells which input {_name(unknown)} would get")
    if not parts:
        return None
    text = "; ".join(parts)
    return (
        f"{text[:1].upper()}{text[1:]}: a rule of hooks-rules that names such a tool judges it, "
        "and so does a guard whose `tools` says where its command or path stands."
    )


def _is_known(tool: OfferedTool, readers: Sequence[InputReader]) -> bool:
    if tool.name in TOOLS or tool.only_reads or is_reading(tool.name):
        return True
    return any(one.describes(tool.name) for one in readers)


def _list_keys(schema: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    for key, part in iterate_parts(schema, _MOST_PARTS):
        if key == "properties" and isinstance(part, Mapping):
            for name, described in part.items():
                folded = fold_key(str(name))
                if folded not in _ARGUMENTS or _may_be_list(described):
                    found.add(folded)
    return found


def _may_be_list(described: Any) -> bool:
    """Arguments are read as a command if they are a list, see `list_commands`."""
    if not isinstance(described, Mapping):
        return True
    kinds = {part for key, part in iterate_parts(described, _MOST_PARTS) if key == "type"}
    return not kinds or "array" in kinds


def _name(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    rest = len(names) - _MOST_NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown
