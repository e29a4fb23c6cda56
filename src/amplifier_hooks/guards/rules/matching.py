"""Whether a rule's match holds for an event; what cannot be told is an `Unclear`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NoReturn

from amplifier_core.events import TOOL_PRE
from amplifier_core.utils.nested import convert, is_container, iterate_parts
from amplifier_hooks.guards.bash import (
    Command,
    CommandPattern,
    Reads,
    Script,
    Workspace,
    build_search,
    ensure_available,
    find_script_run,
    is_harmless,
    list_all_commands,
    list_directories,
    look_up_reads,
    unwrap_command,
)
from amplifier_hooks.guards.policy.guarded_paths import GuardedPaths
from amplifier_hooks.guards.policy.patterns import Pattern, compile_pattern, replace_surrogates
from amplifier_hooks.guards.policy.tool_calls import (
    COMMAND_KEYS,
    EDITING_TOOLS,
    FILE_KEYS,
    PATH_KEYS,
    is_reading,
    list_commands,
    list_paths,
)
from amplifier_hooks.guards.production_guard import Config as GuardConfig
from amplifier_hooks.guards.production_guard import ProductionGuard
from amplifier_hooks.guards.rules.rule import (
    Access,
    Match,
    as_list,
    find_access,
    list_excepted_paths,
    list_origins,
    read_command_patterns,
)
from amplifier_hooks.machine.text import to_text
from amplifier_hooks.modules.installation import require

_LARGEST = 2**63 - 1
_DEEPEST = 64


class ConditionError(ValueError):
    """An expression that is not valid, or that has no answer."""


class Condition:
    """A compiled expression over `event`, `tool_name`, `tool_input`, `data` and `origin`."""

    def __init__(self, source: str, owner: str) -> None:
        self._cel = require("cel_expr_python.cel", owner)
        self.asks_for_origins = False
        """Whether it says `origin`: as the variable, not within a text or as a name of its own."""
        try:
            self._expression = _make_environment(self._cel).compile(source)
        except RuntimeError:
            self.asks_for_origins = True
            self._expression = self._compile_with_origin(source)
        kind = self._expression.return_type()
        if kind not in [self._cel.Type.BOOL, self._cel.Type.DYN]:
            raise ConditionError(f"its answer is {kind.name()}, not true or false")

    def _compile_with_origin(self, source: str) -> Any:
        try:
            return _make_environment(self._cel, with_origin=True).compile(source)
        except RuntimeError as wrong:
            raise ConditionError(_get_first_line(wrong)) from None

    def holds(self, event: str, data: Mapping[str, Any], origins: Callable[[], Any] = dict) -> bool:
        """Its answer; everything but true or false is a ConditionError."""
        tool_input = data.get("tool_input")
        values = {
            "event": event,
            "tool_name": str(data.get("tool_name") or ""),
            "tool_input": tool_input if isinstance(tool_input, dict) else {},
            "data": data,
        }
        if self.asks_for_origins:
            values["origin"] = origins()
        try:
            result = self._expression.eval(data=_convert(values))
        except RuntimeError as wrong:
            raise ConditionError(_get_first_line(wrong)) from None
        # An error is a value here, and a truthy one.
        if result.type() != self._cel.Type.BOOL:
            raise ConditionError(str(result.value()))
        return bool(result.value())


@cache
def _make_environment(cel: Any, *, with_origin: bool = False) -> Any:
    kinds = cel.Type
    variables = {
        "event": kinds.STRING,
        "tool_name": kinds.STRING,
        "tool_input": kinds.Map(kinds.STRING, kinds.DYN),
        "data": kinds.Map(kinds.STRING, kinds.DYN),
    }
    if with_origin:
        variables["origin"] = kinds.Map(kinds.STRING, kinds.STRING)
    return cel.NewEnv(variables=variables)


def _convert(values: dict[str, Any]) -> Any:
    """The same in kinds that CEL has; what it has none for, as text."""
    return convert(
        values, _convert_leaf, key=_convert_key, max_depth=_DEEPEST, at_limit=_refuse_depth
    )


def _refuse_depth() -> NoReturn:
    raise ConditionError("the event's data is nested too deep for an expression")


def _convert_key(key: Any) -> Any:
    return key if isinstance(key, bool) else _convert_leaf(key)


def _convert_leaf(value: Any) -> Any:
    if value is None or isinstance(value, bool | float | bytes):
        return value
    if isinstance(value, int):
        return value if -_LARGEST <= value <= _LARGEST else float(value)
    return replace_surrogates(value if isinstance(value, str) else str(value))


def _get_first_line(wrong: Exception) -> str:
    text = str(wrong).partition("[INVALID_ARGUMENT]")[0]
    return " ".join(text.replace("INVALID_ARGUMENT: ERROR:", "").split())


OWNER = "hooks-rules"
_MAX_PARTS = 10_000


@dataclass
class EventView:
    """An event's name and data, seen from the working directory."""

    event: str
    data: dict[str, Any]
    base: Path
    path_keys: tuple[str, ...] = PATH_KEYS
    command_keys: tuple[str, ...] = ("command",)
    notes: dict[str, str] = field(default_factory=dict)
    """What matching found out, for the templates of the answer: `path`, `program`."""
    find_origins: Callable[[str, Any], Mapping[str, str]] | None = None
    """What hooks-provenance knows of the arguments of a call, where it is mounted."""

    @property
    def tool(self) -> str:
        return str(self.data.get("tool_name") or "")

    @cached_property
    def paths(self) -> list[str]:
        """The paths that the event is about, as given."""
        keys = dict.fromkeys([*self.path_keys, *FILE_KEYS])
        found = list(list_paths(self.data.get("tool_input"), keys))
        own = self.data.get("path")
        return [*found, own] if isinstance(own, str) else found

    @cached_property
    def scripts(self) -> list[Script]:
        """The shell commands that the event is about, read."""
        return [_read_command(text) for text in self.commands]

    @cached_property
    def origins(self) -> Mapping[str, str]:
        """The label of each argument."""
        if self.find_origins is None:
            raise Unclear("hooks-provenance is not there to tell where values come from")
        return self.find_origins(self.tool, self.data.get("tool_input"))

    @cached_property
    def runs(self) -> bool:
        """Whether the input has a command, or something in its place."""
        try:
            return bool(self.commands)
        except ValueError:
            return True

    @cached_property
    def changes(self) -> bool:
        """Whether the tool may change a file that its input names."""
        return not is_reading(self.tool) and bool(self.paths)

    def accesses(self, access: Access | None) -> bool:
        """Whether the tool uses the files that its input names in this way, as far as known."""
        if access is None or not self.paths:
            return True
        writes = self.tool in EDITING_TOOLS or not is_reading(self.tool)
        reads = self.tool != "Write"
        return writes if access == "write" else reads

    @property
    def commands(self) -> list[str]:
        """The texts of the shell commands that the event is about."""
        keys = dict.fromkeys([*self.command_keys, *COMMAND_KEYS])
        return list_commands(self.data.get("tool_input"), list(keys), self.tool)

    def look_up(self, dotted: str) -> Any:
        """The value at `tool_input.command` and the like; None if there is none."""
        value: Any = self.data
        for step in dotted.split("."):
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value

    def iterate_texts(self, value: Any) -> Iterator[str]:
        """Every text in a value, keys included; more than can be looked through is an error."""
        for _, part in iterate_parts(value, _MAX_PARTS):
            if isinstance(part, Mapping):
                yield from map(to_text, part)
            elif part is not None and not is_container(part):
                yield to_text(part)


@lru_cache(maxsize=64)
def _read_command(text: str) -> Script:
    return unwrap_command(text, OWNER)


Test = Callable[[EventView], bool]


class Unclear(ValueError):
    """The event does not tell whether the rule applies."""


def _has_origins(origins: Mapping[str, str], wanted: Mapping[str, frozenset[str]]) -> bool:
    """Whether each argument that a rule names has one of the labels; `*` is any argument."""
    return all(
        any(label in labels for path, label in origins.items() if name in ("*", path))
        for name, labels in wanted.items()
    )


class Matcher:
    """The tests of a match beside its tool, cheapest first."""

    def __init__(
        self, match: Match, base: Path, owner: str, excepted_from: Match | None = None
    ) -> None:
        """`excepted_from` is what the match is an exception from, if it is one."""
        self._tests: list[Test] = []
        self.looks_at_files = match.path is not None
        if match.regex is not None:
            self._tests += _make_regex_tests(match.regex, owner)
        if match.command is not None:
            ensure_available(owner)
            self._tests.append(_make_command_test(match, excepted_from))
        if match.path is not None:
            self._tests.append(
                _make_path_test(
                    match.path, find_access(match), base, excepted_from, list_excepted_paths(match)
                )
            )
        if match.when is not None:
            condition = Condition(match.when, owner)
            self._tests.append(
                lambda view: condition.holds(view.event, view.data, lambda: view.origins)
            )
        if wanted := list_origins(match):
            self._tests.append(lambda view: _has_origins(view.origins, wanted))

    def holds(self, view: EventView) -> bool:
        """Whether every test holds. A clear no beats an unclear part."""
        unclear: Unclear | None = None
        for test in self._tests:
            try:
                if not test(view):
                    return False
            except Unclear as doubt:
                unclear = unclear or doubt
        if unclear:
            raise unclear
        return True


class _PathTest:
    """A path that a tool names, or that a command would read or write."""

    def __init__(
        self,
        guarded: GuardedPaths,
        in_commands: GuardedPaths,
        access: Access | None,
        base: Path,
    ) -> None:
        self._guarded = guarded
        self._in_commands = in_commands
        self._access = access
        self._base = base
        self._writes = ProductionGuard(GuardConfig(), in_commands, base)

    def __call__(self, view: EventView) -> bool:
        found = next(self._find_paths(view), None)
        if found is None and view.event == TOOL_PRE:
            found = self._find_in_commands(view)
        if found is not None:
            view.notes["path"] = str(found)
        return found is not None

    def _find_paths(self, view: EventView) -> Iterator[Path]:
        if not view.accesses(self._access):
            return
        for given in view.paths:
            if hit := self._guarded.find_hit(given):
                yield hit.resolved

    def _find_in_commands(self, view: EventView) -> Path | None:
        search = build_search(view.data.get("tool_input")) if view.tool == "Grep" else None
        if search is not None and self._access != "write":
            reads = self._look_up([search]).files
            return next((one.path for one in reads if one.comes_out(OWNER)), None)
        if not view.runs:
            return None
        try:
            return next((found for text in view.commands if (found := self._judge(text))), None)
        except ValueError as wrong:
            raise Unclear(str(wrong)) from wrong

    def _judge(self, text: str) -> Path | None:
        """The path that one command uses; ValueError if what it says cannot be read."""
        commands = list_all_commands(text, OWNER)
        reads = self._look_up(commands) if self._access != "write" else Reads()
        if reads.files:
            return reads.files[0].path
        written = self._writes.find_hits_in_command(text) if self._access != "read" else []
        if not written and reads.doubts:
            raise ValueError(reads.doubts[0])
        return written[0].resolved if written else None

    def _look_up(self, commands: Sequence[Command]) -> Reads:
        start = Workspace(self._base, Path.home())
        bases = dict.fromkeys([self._base, *list_directories(commands, start).known])
        return look_up_reads(commands, list(bases), Path.home(), self._in_commands)


class _ExceptedPathTest:
    """One path that is excepted does not except those beside it."""

    def __init__(self, guarded: GuardedPaths, judged: GuardedPaths | None) -> None:
        self._guarded = guarded
        self._judged = judged

    def __call__(self, view: EventView) -> bool:
        paths = [one for one in view.paths if self._judged is None or self._judged.find_hit(one)]
        return bool(paths) and all(self._guarded.find_hit(one) for one in paths)


def _make_path_test(
    path: str | list[str],
    access: Access | None,
    base: Path,
    excepted_from: Match | None,
    excepted: Sequence[str],
) -> Test:
    guarded = GuardedPaths(as_list(path), base)
    if excepted_from is None:
        in_commands = GuardedPaths(as_list(path), base, excepted)
        return _PathTest(guarded, in_commands, access, base)
    judged = excepted_from.path
    return _ExceptedPathTest(
        guarded, None if judged is None else GuardedPaths(as_list(judged), base)
    )


class _CommandTest:
    def __init__(self, patterns: tuple[CommandPattern, ...]) -> None:
        self._patterns = patterns

    def __call__(self, view: EventView) -> bool:
        for script in _read_scripts(view):
            for command in script.commands:
                if any(pattern.matches(command) for pattern in self._patterns):
                    view.notes["program"] = command.name or ""
                    return True
        self._refuse_to_guess(view)
        return False

    def _refuse_to_guess(self, view: EventView) -> None:
        for script in view.scripts:
            if script.unclear:
                raise Unclear(script.unclear[0])
            for command in script.commands:
                if self._could_be(command):
                    raise Unclear(f"only running it would tell what {command.text!r} is")

    def _could_be(self, command: Command) -> bool:
        """Whether running it might show that the rule is about it."""
        if command.program is None:
            return True
        script = find_script_run(command)
        names = (command.name, None if script is None else script.name)
        named = any(pattern.matches_name(name) for pattern in self._patterns for name in names)
        return named and not command.certain


class _ExceptedCommandTest:
    """One command that is excepted does not except those beside it, but for what only looks."""

    def __init__(
        self, patterns: tuple[CommandPattern, ...], judged: tuple[CommandPattern, ...]
    ) -> None:
        self._patterns = patterns
        self._judged = judged

    def __call__(self, view: EventView) -> bool:
        commands = _list_clear_commands(view)
        excepted = list(filter(self._is_excepted, commands))
        return bool(excepted) and not any(
            self._is_judged(one) for one in commands if one not in excepted
        )

    def _is_excepted(self, command: Command) -> bool:
        return any(pattern.covers(command) for pattern in self._patterns)

    def _is_judged(self, command: Command) -> bool:
        if self._judged:
            return any(pattern.matches(command) for pattern in self._judged)
        return not is_harmless(command)


def _list_clear_commands(view: EventView) -> list[Command]:
    """All commands; Unclear if there may be more of them."""
    scripts = _read_scripts(view)
    for script in scripts:
        if script.unclear:
            raise Unclear(script.unclear[0])
    return [command for script in scripts for command in script.commands]


def _make_command_test(match: Match, excepted_from: Match | None) -> Test:
    patterns = read_command_patterns(match.command)
    if excepted_from is None:
        return _CommandTest(patterns)
    return _ExceptedCommandTest(patterns, read_command_patterns(excepted_from.command))


def _read_scripts(view: EventView) -> list[Script]:
    try:
        return view.scripts
    except ValueError as wrong:
        raise Unclear(str(wrong)) from wrong


def _make_regex_tests(regex: str | dict[str, str], owner: str) -> list[Test]:
    if isinstance(regex, str):
        return [_AnywhereTest(compile_pattern(regex, owner))]
    return [_FieldTest(field, compile_pattern(text, owner)) for field, text in regex.items()]


class _AnywhereTest:
    """A pattern without a field: in any text of the tool's input, or else of the data."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def __call__(self, view: EventView) -> bool:
        where = view.data.get("tool_input", view.data)
        return any(self._pattern.occurs_in(text) for text in view.iterate_texts(where))


class _FieldTest:
    def __init__(self, field: str, pattern: Pattern) -> None:
        self._field = field
        self._pattern = pattern

    def __call__(self, view: EventView) -> bool:
        value = view.look_up(self._field)
        return any(self._pattern.occurs_in(text) for text in view.iterate_texts(value))
