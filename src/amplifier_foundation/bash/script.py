"""A shell script read into the simple commands that it would run, in the order they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

from amplifier_foundation.bash.word import Word, read_word, words
from amplifier_foundation.modules.extras import require

MAX_LENGTH = 100_000
MAX_NODES = 10_000
MAX_DEPTH = 60
_ODD_LETTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
    r"|[\ud800-\udfff]"
)
_JOINED_LINES = re.compile(r"[^\s\\]\\\n\S")
_ARGUMENT_TYPES = words(
    "word number string raw_string ansi_c_string translated_string concatenation "
    "simple_expansion expansion command_substitution process_substitution "
    "arithmetic_expansion brace_expression regex extglob_pattern array test_operator"
)  # fmt: skip
_RESERVED = words(
    "{ } ( ) ! if then elif else fi do done case esac while until for function select"
)
"""Where one of these stands for a program, the grammar and a shell read different things."""
_ASSIGNING = frozenset({"declaration_command", "unset_command"})


@dataclass(frozen=True, slots=True)
class Redirect:
    """`operator` as written (`>`, `>>`, `<`, `<<<`, …) and the word behind it."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the target is opened for writing."""
        return ">" in self.operator


@dataclass(frozen=True)
class Command:
    """One simple command. `program` is None when only running it would tell what it is."""

    program: str | None
    words: tuple[Word, ...] = ()
    text: str = ""
    assigns: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    piped_from: tuple[str | None, ...] = ()
    stdin: Word | None = None
    via: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str | None:
        """The program without its directory, in small letters: what a list would call it."""
        return None if self.program is None else self.program.rpartition("/")[2].casefold()

    @cached_property
    def flags(self) -> frozenset[str]:
        """Its options: `-rf` is also `-r` and `-f`, `--depth=1` is also `--depth`."""
        return frozenset(flag for word in self.words for flag in _flags(word))

    @cached_property
    def arguments(self) -> tuple[Word, ...]:
        """Its words that are no options."""
        return tuple(word for word in self.words if not word.is_flag)

    @cached_property
    def certain(self) -> bool:
        """Whether every word is what it reads as."""
        return self.program is not None and all(word.value is not None for word in self.words)

    def inside(self, *wrappers: str) -> Command:
        """The same command, run by another."""
        return replace(self, via=(*wrappers, *self.via))


@dataclass(frozen=True, slots=True)
class Script:
    """The commands, and the sentences saying what could not be understood."""

    commands: tuple[Command, ...]
    unclear: tuple[str, ...] = ()
    functions: frozenset[str] = field(default_factory=frozenset)


def parse_script(source: str, owner: str = "shell parsing") -> Script:
    """Read a script. Never raises on its text: what cannot be read is in `unclear`."""
    if len(source) > MAX_LENGTH:
        return Script((), (f"a command of {len(source)} letters is too long to be judged",))
    encoded = source.encode(errors="replace")
    tree = _parser(owner).parse(encoded)
    nodes = list(_bounded(tree.root_node))
    if len(nodes) > MAX_NODES:
        return Script((), ("the command has too many parts, or they are nested too deep",))
    upstream = _upstreams(nodes, encoded)
    strays = _strays(nodes)
    commands = tuple(
        _command(node, encoded, upstream.get(node.id, ()), strays.get(node.id, ()))
        for node in nodes
        if node.type == "command"
    )
    declared = tuple(_declared(node, encoded) for node in nodes if _declares(node))
    hidden = [parse_script(text, owner) for text in _expanding_texts(nodes, encoded)]
    return Script(
        (*commands, *declared, *(command for script in hidden for command in script.commands)),
        (
            *_unclear(source, tree.root_node),
            *_unclear_nodes(nodes, encoded),
            *(reason for script in hidden for reason in script.unclear),
        ),
        frozenset(_function_name(n, encoded) for n in nodes if n.type == "function_definition"),
    )


def ensure_available(owner: str) -> None:
    """Raise the ModuleLoadError with the sentence what to install, at mount rather than later."""
    _parser(owner)


def _parser(owner: str) -> Any:
    """A parser of its own for every call: they are not made for several threads."""
    engine = require("tree_sitter", owner)
    return engine.Parser(_language(engine, require("tree_sitter_bash", owner)))


@cache
def _language(engine: Any, grammar: Any) -> Any:
    return engine.Language(grammar.language())


def _unclear(source: str, root: Any) -> Iterator[str]:
    if root.has_error:
        yield "the command does not parse as shell"
    if odd := _ODD_LETTERS.search(source):
        yield f"it holds the invisible letter U+{ord(odd[0]):04X}"
    # A shell joins these two halves into one word; the grammar reads two.
    if _JOINED_LINES.search(source):
        yield "a backslash at the end of a line joins two halves of a word"


def _unclear_nodes(nodes: Iterable[Any], source: bytes) -> Iterator[str]:
    """A test evaluates `'a[$(…)]'` although it is quoted; `${x@P}` runs what is in x."""
    for node in nodes:
        if node.type == "test_command":
            quoted = (_text(n, source) for n in _preorder(node) if n.type == "raw_string")
            if any("$(" in text or "`" in text for text in quoted):
                yield "a test evaluates a substitution that is quoted"
        elif node.type in {"command", "word"} and _spans_lines(node, source):
            yield "the grammar and a shell see the ends of its lines differently"
        elif node.type == "expansion" and _text(node, source).endswith(("@P}", "@E}")):
            yield "a variable is expanded as a prompt"


def _spans_lines(node: Any, source: bytes) -> bool:
    """A command goes on in the next line only behind a backslash; a bare word never does."""
    if node.type == "word":
        return "\n" in _text(node, source).replace("\\\n", "")
    children = node.children
    gaps = (source[a.end_byte : b.start_byte] for a, b in pairwise(children))
    return any(b"\n" in gap.replace(b"\\\n", b"") for gap in gaps)


def _expanding_texts(nodes: Iterable[Any], source: bytes) -> Iterator[str]:
    """Here-documents with substitutions, as strings: the grammar overlooks some of them."""
    for node in nodes:
        if node.type != "heredoc_redirect":
            continue
        starts = [c for c in node.children if c.type == "heredoc_start"]
        quoted = any(sign in _text(start, source) for start in starts for sign in "'\"\\")
        for body in node.children:
            text = _text(body, source) if body.type == "heredoc_body" else ""
            if not quoted and ("$(" in text or "`" in text):
                yield f': "{text.replace(chr(34), "")}"'


def _bounded(root: Any) -> Iterator[Any]:
    """All nodes in order; more than MAX_NODES of them as soon as a limit is passed."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            yield from [node] * (MAX_NODES + 1)
            return
        yield node
        stack += [(child, depth + 1) for child in reversed(node.children)]


def _preorder(root: Any) -> Iterator[Any]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def _command(
    node: Any, source: bytes, upstream: tuple[str | None, ...], strays: Iterable[Any]
) -> Command:
    name = node.child_by_field_name("name")
    redirects = tuple(_redirects(node, source))
    return Command(
        program=None if name is None else program_of(read_word(name, source)),
        words=(*_arguments(node, source), *(read_word(word, source) for word in strays)),
        text=_text(node, source),
        assigns=tuple(_assigned(node, source)),
        redirects=redirects,
        piped_from=upstream,
        stdin=_stdin(node, redirects, source),
    )


def program_of(word: Word) -> str | None:
    """The program that a word in the first place names; None if only running it would tell."""
    if word.glob or word.tilde or word.value in _RESERVED:
        return None
    return word.value or None


def _arguments(node: Any, source: bytes) -> Iterator[Word]:
    for child in node.children_by_field_name("argument"):
        if child.type in _ARGUMENT_TYPES or not child.is_named:
            yield read_word(child, source)
        else:
            yield Word(_text(child, source), None)


def _strays(nodes: Iterable[Any]) -> dict[int, list[Any]]:
    """`rm > log -rf /`: the grammar takes words behind a redirection for more targets of it.

    They are words of the last command before the redirection.
    """
    strays: dict[int, list[Any]] = {}
    for node in nodes:
        if node.type in {"redirected_statement", "command"}:
            owner = _last_command(node)
            strays.setdefault(owner.id, []).extend(_words_behind(node))
    return strays


def _words_behind(statement: Any) -> Iterator[Any]:
    for redirect in _redirect_nodes(statement):
        yield from _targets(redirect)[1:]
    for child in statement.children:
        if child.type == "heredoc_redirect":
            yield from (word for word in child.children if word.type in _ARGUMENT_TYPES)


def _last_command(node: Any) -> Any:
    while node.type in {"redirected_statement", "list", "negated_command", "pipeline"}:
        body = node.child_by_field_name("body") or node.named_children[-1]
        node = body
    return node


def _targets(redirect: Any) -> list[Any]:
    return [c for c in redirect.children if c.is_named and c.type != "file_descriptor"]


def _declares(node: Any) -> bool:
    """What runs no program, but sets a name or empties a file: `PATH=…`, `export …`, `> file`."""
    if node.type == "redirected_statement":
        return node.child_by_field_name("body") is None
    if node.type == "variable_assignment":
        return node.parent.type not in {"command", *_ASSIGNING}
    return node.type in _ASSIGNING


def _declared(node: Any, source: bytes) -> Command:
    """Its program is `export`, `declare` …, or else the shell's own no-operation."""
    single = node.type == "variable_assignment"
    names = [_assigned_name(node, source)] if single else list(_assigned(node, source))
    return Command(
        program=_text(node.children[0], source) if node.type in _ASSIGNING else ":",
        text=_text(node, source),
        assigns=tuple(names),
        redirects=tuple(_redirects(node, source)),
    )


def _assigned(node: Any, source: bytes) -> Iterator[str]:
    for child in node.children:
        if child.type == "variable_assignment":
            yield _assigned_name(child, source)


def _assigned_name(node: Any, source: bytes) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else _text(name, source).partition("[")[0]


def _statements(node: Any) -> Iterator[Any]:
    """The node itself and the statements around it that redirect it."""
    yield node
    while (node := node.parent) is not None:
        if node.type == "redirected_statement":
            yield node


def _redirects(node: Any, source: bytes) -> Iterator[Redirect]:
    for statement in _statements(node):
        for child in _redirect_nodes(statement):
            yield Redirect(_operator(child, source), _destination(child, source))


def _redirect_nodes(statement: Any) -> Iterator[Any]:
    for child in statement.children:
        if child.type in {"file_redirect", "herestring_redirect"}:
            yield child
        elif child.type == "heredoc_redirect":
            yield from _redirect_nodes(child)


def _operator(node: Any, source: bytes) -> str:
    signs = [child for child in node.children if not child.is_named]
    return _text(signs[0], source) if signs else "<<<"


def _destination(node: Any, source: bytes) -> Word:
    targets = _targets(node)
    return read_word(targets[0], source) if targets else Word(_text(node, source), None)


def _stdin(node: Any, redirects: tuple[Redirect, ...], source: bytes) -> Word | None:
    """The text of a here-document or here-string that the command reads."""
    for redirect in redirects:
        if redirect.operator == "<<<":
            return redirect.target
    bodies = (body for around in _statements(node) for body in _heredoc_bodies(around))
    return next((_heredoc(body, source) for body in bodies), None)


def _heredoc_bodies(statement: Any) -> Iterator[Any]:
    for child in statement.children:
        if child.type == "heredoc_redirect":
            yield from (inner for inner in _preorder(child) if inner.type == "heredoc_body")


def _heredoc(body: Any, source: bytes) -> Word:
    text = _text(body, source)
    # An expansion only changes the text further; what stands there is judged as it is.
    return Word(text, text if not body.named_children else None)


def _upstreams(nodes: Iterable[Any], source: bytes) -> dict[int, tuple[str | None, ...]]:
    """Per command, the programs whose output it can read through a pipe."""
    upstream: dict[int, tuple[str | None, ...]] = {}
    for node in nodes:
        if node.type not in {"pipeline", "heredoc_redirect"}:
            continue
        before = _programs_before(node, source) if node.type == "heredoc_redirect" else {}
        for child in node.children:
            _note(child, tuple(before), upstream)
            before |= dict.fromkeys(_programs_in(child, source))
    return upstream


def _note(
    node: Any, before: tuple[str | None, ...], upstream: dict[int, tuple[str | None, ...]]
) -> None:
    if before:
        for inner in _preorder(node):
            if inner.type == "command":
                upstream[inner.id] = (*before, *upstream.get(inner.id, ()))


def _programs_before(node: Any, source: bytes) -> dict[str | None, None]:
    """The command that a here-document belongs to stands before it."""
    earlier = (c for c in node.parent.children if c.start_byte < node.start_byte)
    return dict.fromkeys(name for child in earlier for name in _programs_in(child, source))


def _programs_in(node: Any, source: bytes) -> Iterator[str | None]:
    for inner in _preorder(node):
        if inner.type == "command_name":
            yield read_word(inner, source).value


def _function_name(node: Any, source: bytes) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else _text(name, source)


def _flags(word: Word) -> Iterator[str]:
    if not word.is_flag or word.value is None:
        return
    value = word.value
    yield value
    yield value.partition("=")[0]
    if not value.startswith("--"):
        yield from (f"{value[0]}{letter}" for letter in value[1:])


def _text(node: Any, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")
