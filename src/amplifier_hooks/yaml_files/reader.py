"""Reading bundle text: YAML in which lines are remembered and variables filled in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol

import yaml

from amplifier_hooks.machine.files import read_regular
from amplifier_hooks.yaml_files.node import BundleError, Node, Place, Problem, Scalar

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::([-+])(.*))?\Z", re.DOTALL)
_SENSITIVE = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 6


class SubstitutionError(ValueError):
    """A reference that cannot be resolved."""


class Variables(Protocol):
    """Where the values of variables come from."""

    def get(self, name: str) -> str | None:
        """The value of one; None if it is not set."""
        ...


def substitute(text: str, env: Variables) -> str:
    """The text with every reference replaced."""
    return _REFERENCE.sub(lambda match: _resolve(match, env), text) if "${" in text else text


def find_secrets(text: str, env: Variables) -> frozenset[str]:
    """The values of variables in the text whose names say that they are secret."""
    names = {match[1].partition(":")[0] for match in _REFERENCE.finditer(text) if match[1]}
    values = (env.get(name) or "" for name in names if _SENSITIVE.search(name))
    return frozenset(value for value in values if len(value) >= _SHORTEST_SECRET)


def _resolve(match: re.Match[str], env: Variables) -> str:
    if match[0] == "$${":
        return "${"
    if match[1] is None:
        raise SubstitutionError("'${' is never closed; write '$${' for the characters themselves")
    parsed = _NAME.match(match[1])
    if parsed is None:
        raise SubstitutionError(
            f"{match[0]!r} names no variable; use ${{NAME}}, ${{NAME:-default}} or ${{NAME:+word}}"
        )
    return _choose_value(parsed[1], parsed[2], parsed[3], env)


def _choose_value(name: str, operator: str | None, word: str, env: Variables) -> str:
    value = env.get(name)
    if operator == "+":
        return word if value else ""
    if operator == "-":
        return value or word
    if value is None:
        raise SubstitutionError(
            f"environment variable {name!r} is not set; set it or write ${{{name}:-default}}"
        )
    return value


MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 60

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TYPES = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "str"))
_yaml_scalars = yaml.SafeLoader("")


def read_file(
    path: Path,
    env: Mapping[str, str] | None,
    secrets: set[str],
    read: Callable[[Path], bytes] = read_regular,
) -> Node:
    """Read one bundle file, without its includes; `read` gets its bytes."""
    return read_text(_read_content(path, read), str(path), env, secrets)


def read_text(text: str, file: str, env: Mapping[str, str] | None, secrets: set[str]) -> Node:
    """Read one document; `secrets` collects what must not be shown.

    Without `env`, texts stay as they are written.
    """
    found = _find_reading(text, file, env) or _read_anew(text, file, env)
    secrets |= found.secrets
    return found.document


@dataclass(frozen=True, slots=True)
class _Reading:
    """A document as it was read, and the variables that were looked up, with what they were."""

    document: Node
    secrets: frozenset[str]
    looked_up: Mapping[str, str | None] | None
    """None if there was no environment to look in."""

    def holds(self, env: Mapping[str, str] | None) -> bool:
        """Whether reading the same text would find the same."""
        if env is None or self.looked_up is None:
            return env is None and self.looked_up is None
        return all(env.get(name) == value for name, value in self.looked_up.items())


_MOST_READINGS = 16
_LONGEST_KEPT = 100_000
_readings: dict[tuple[str, str], _Reading] = {}
"""The last readings, by the name of the file and its whole text: sessions read the same bundles."""


def _find_reading(text: str, file: str, env: Mapping[str, str] | None) -> _Reading | None:
    known = _readings.get((file, text))
    return known if known is not None and known.holds(env) else None


def _read_anew(text: str, file: str, env: Mapping[str, str] | None) -> _Reading:
    try:
        document = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise BundleError([_describe_syntax_error(error, file)]) from error
    except RecursionError as error:
        raise BundleError([Problem(Place(file), "", "is nested too deeply")]) from error
    converter = _Converter(file, None if env is None else _Lookups(env))
    root = Node({}, Place(file, 1)) if document is None else converter.convert(document)
    seen = None if converter.env is None else converter.env.seen
    reading = _Reading(root, frozenset(converter.secrets), seen)
    if len(text) <= _LONGEST_KEPT:
        _readings.pop((file, text), None)
        _readings[file, text] = reading
        for oldest in list(_readings)[:-_MOST_READINGS]:
            _readings.pop(oldest, None)
    return reading


class _Lookups:
    """An environment that notes what it was asked for, and what it said."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.seen: dict[str, str | None] = {}

    def get(self, name: str) -> str | None:
        """The value of a variable, the same each time; None if it is not set."""
        if name not in self.seen:
            self.seen[name] = self._env.get(name)
        return self.seen[name]


def _read_content(path: Path, read: Callable[[Path], bytes]) -> str:
    place = Place(str(path))
    try:
        data = read(path)
        if len(data) > MAX_BYTES:
            raise BundleError([Problem(place, "", f"has {len(data)} bytes; {MAX_BYTES} at most")])
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        place = Place(str(path), line)
        raise BundleError([Problem(place, "", "is not UTF-8 text")]) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise BundleError([Problem(place, "", f"cannot be read: {reason}")]) from error


def _describe_syntax_error(error: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    line = None if mark is None else mark.line + 1
    return Problem(Place(file, line), "", f"not valid YAML: {message}")


@dataclass
class _Converter:
    """Converts one document. Aliases are written out, so the number of nodes is limited."""

    file: str
    env: _Lookups | None
    secrets: set[str] = field(default_factory=set)
    seen: int = 0

    def convert(
        self, raw: yaml.Node, key: str = "", place: Place | None = None, depth: int = 0
    ) -> Node:
        place = place or self._locate(raw)
        self.seen += 1
        if self.seen > MAX_NODES or depth > MAX_DEPTH:
            self._fail(raw, key, "is too large or nested too deeply, perhaps through its aliases")
        if isinstance(raw, yaml.MappingNode):
            return Node(self._convert_mapping(raw, key, depth), place)
        if isinstance(raw, yaml.ScalarNode):
            return Node(self._convert_scalar(raw, key, place), place)
        items = enumerate(raw.value)
        return Node(tuple(self.convert(e, f"{key}[{n}]", depth=depth + 1) for n, e in items), place)

    def _locate(self, raw: yaml.Node) -> Place:
        return Place(self.file, raw.start_mark.line + 1)

    def _fail(self, raw: yaml.Node, key: str, message: str) -> NoReturn:
        raise BundleError([Problem(self._locate(raw), key, message)])

    def _convert_mapping(self, raw: yaml.MappingNode, path: str, depth: int) -> dict[str, Node]:
        merged: dict[str, Node] = {}
        own: dict[str, Node] = {}
        for key, value in raw.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fail(key, path, "a key must be a text, not a list or a mapping")
            inner = f"{path}.{key.value}" if path else key.value
            if key.tag == _TAG + "merge":
                for parent in self._read_merged(value, inner, depth):
                    merged = {**parent, **merged}
            elif key.value in own:
                first = own[key.value].place.line
                self._fail(key, inner, f"key is written twice; the first is in line {first}")
            else:
                own[key.value] = self.convert(value, inner, self._locate(key), depth + 1)
        return {**merged, **own}

    def _read_merged(self, raw: yaml.Node, key: str, depth: int) -> Iterator[dict[str, Node]]:
        sources = raw.value if isinstance(raw, yaml.SequenceNode) else [raw]
        for source in sources:
            if not isinstance(source, yaml.MappingNode):
                self._fail(source, key, "merges mappings only")
            yield self.convert(source, key, depth=depth + 1).mapping()

    def _convert_scalar(self, raw: yaml.ScalarNode, key: str, place: Place) -> Scalar | Problem:
        if raw.tag.startswith("!"):
            self._fail(raw, key, f"tag {raw.tag!r} is not supported")
        text: str = raw.value
        if self.env is not None and "${" in text:
            self.secrets |= find_secrets(raw.value, self.env)
            try:
                text = substitute(raw.value, self.env)
            except SubstitutionError as error:
                return Problem(place, key, str(error))
        if raw.style or (text == raw.value and raw.tag == _TAG + "str"):
            return text
        return _read_scalar(text)


def _read_scalar(text: str) -> Scalar:
    """The value of an unquoted text; dates and 12:30 stay texts, as JSON has no others."""
    tag = _yaml_scalars.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    if tag not in _TYPES or ":" in text:
        return text
    value: Scalar = _yaml_scalars.construct_object(yaml.ScalarNode(tag, text))
    return value
