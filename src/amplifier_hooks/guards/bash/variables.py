"""Variables: which commands set them, and where arithmetic evaluates their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.commands import Command, Options, read_options
from amplifier_hooks.guards.bash.redirections import read_redirects
from amplifier_hooks.guards.bash.words import (
    Word,
    get_text,
    read_word,
    slice_text,
    split_names,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node


_COMPARING = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_NUMBER = re.compile(r"[-+]?[0-9]+")
_COUNT = re.compile(r"\$[#?$!]|\$\{#[A-Za-z_0-9]*(?:\[[@*]\])?\}|\$\{[#?$!]\}")
_LITERAL = re.compile(r"(?<![A-Za-z_0-9$])[0-9][A-Za-z0-9#@_]*")
_POSITIONAL = re.compile(r"\$(?:[0-9@*]|\{[0-9@*])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNED = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\s*(?:(?:[-+*/%&^|]|<<|>>)?=(?!=)|\+\+|--)"
    r"|(?:\+\+|--)\s*([A-Za-z_][A-Za-z0-9_]*)"
)
_RANGE = re.compile(r"\{-?[0-9]+\.\.-?[0-9]+\}")
_SEQUENCE = re.compile(r"\$\(seq[0-9 -]+\)")
# Names whose assignments the shell itself evaluates.
_INTEGERS = frozenset({"RANDOM", "SRANDOM", "HISTCMD", "OPTIND", "BASHPID", "SECONDS", "LINENO"})
ALWAYS_TEXT = frozenset(
    {"REPLY", "OPTARG", "MAPFILE", "BASH_REMATCH", "PWD", "OLDPWD", "_", "DIRSTACK"}
)
"""Names that the shell itself sets to texts."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The names that arithmetic evaluates, those that hold texts, and what is in doubt anyway.

    `arrays` are arrays, `redeclared` is given a text by `declare` and its like, which expand the
    text of an array once more: `declare -a x='($(id))'`.
    """

    evaluated: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    doubts: tuple[str, ...] = ()
    arrays: frozenset[str] = frozenset()
    redeclared: frozenset[str] = frozenset()

    def join(self, other: Evaluation) -> Evaluation:
        """Both, as if they were one script."""
        return Evaluation(
            self.evaluated | other.evaluated,
            self.texts | other.texts,
            self.doubts + other.doubts,
            self.arrays | other.arrays,
            self.redeclared | other.redeclared,
        )

    def list_doubts(self) -> Iterator[str]:
        """Sentences about what may run when the arithmetic is evaluated."""
        yield from self.doubts
        for name in sorted(self.evaluated & (self.texts | ALWAYS_TEXT)):
            yield f"arithmetic evaluates {name}, whose text may run a command"
        for name in sorted(self.texts & _INTEGERS):
            yield f"what {name} is set to is evaluated as arithmetic"
        for name in sorted(self.arrays & self.redeclared):
            yield f"the text that the array {name} is set to is expanded once more"


def find_evaluation(nodes: Iterable[Node]) -> Evaluation:
    """What the arithmetic of a script evaluates."""
    evaluated: set[str] = set()
    texts: set[str] = set()
    arrays: set[str] = set()
    doubts: list[str] = []
    for node in nodes:
        for expression in list_expressions(node):
            names, doubt = read_expression(expression)
            evaluated |= names
            doubts += [] if doubt is None else [doubt]
        texts |= set(_list_texts(node))
        arrays |= set(_list_arrays(node))
    unique = tuple(dict.fromkeys(doubts))
    return Evaluation(frozenset(evaluated), frozenset(texts), unique, frozenset(arrays))


def read_expression(text: str) -> tuple[set[str], str | None]:
    """The names in an expression, and why it cannot be judged by its names."""
    bare = _COUNT.sub("0", text).replace('"', "")
    if "$(" in bare.replace("$((", "((") or "`" in bare:
        return set(), "arithmetic evaluates what a command prints"
    if "'" in bare or "\\" in bare:
        return set(), "arithmetic evaluates a quoted text"
    if _POSITIONAL.search(bare):
        return set(), "arithmetic evaluates a parameter of the script or function"
    return set(_NAME.findall(_LITERAL.sub("0", bare))), None


def list_computed_names(text: str) -> Iterator[str]:
    """The names that an expression sets: `x = 1`, `x += 1`, `x++`, `--x`."""
    yield from (found[1] or found[2] for found in _ASSIGNED.finditer(text))


def list_expressions(node: Node) -> Iterator[str]:
    """The texts that a shell evaluates as arithmetic in a node itself, not in its parts."""
    listing = _LISTING.get(node.type)
    return iter(()) if listing is None else listing(node)


def _list_expansion(node: Node) -> Iterator[str]:
    text = get_text(node)
    yield text[3:-2] if text.startswith("$((") else text[2:-1]


def _list_statement(node: Node) -> Iterator[str]:
    if (text := get_text(node)).startswith("(("):
        yield text[2:-2]


def _list_loop(node: Node) -> Iterator[str]:
    yield from (get_text(c) for c in node.children if c.is_named and c.type != "do_group")


def _list_subscript(node: Node) -> Iterator[str]:
    index = node.child_by_field_name("index")
    if index is not None and get_text(index) not in {"@", "*"}:
        yield get_text(index)


def _list_test(node: Node) -> Iterator[str]:
    if get_text(node).startswith("[["):
        yield from (one for inner in walk(node) for one in _list_compared(inner))


def _list_expansion_parts(node: Node) -> Iterator[str]:
    """`${s:offset:length}`, and `${!name}`, which evaluates an index in the text of the name."""
    text = get_text(node)
    if text.startswith("${!") and not re.fullmatch(r"\$\{![A-Za-z_0-9]*(\[?[@*]\]?)\}", text):
        yield text[3:-1]
    colon = next((child for child in node.children if get_text(child) == ":"), None)
    if colon is not None:
        yield slice_text(node, colon.end_byte, node.end_byte - 1).replace(":", " ")


def _list_indices(array: Node) -> Iterator[str]:
    """`([index]=x)`."""
    for child in array.named_children:
        index, found, _ = get_text(child).partition("]=")
        if found and index.startswith("["):
            yield index[1:]


def _list_arrays(node: Node) -> Iterator[str]:
    """The names that a node makes an array of."""
    if node.type == "variable_assignment":
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        is_array = value is not None and value.type == "array"
        if name is not None and (is_array or name.type == "subscript"):
            yield get_text(name).partition("[")[0]


def _list_compared(node: Node) -> Iterator[str]:
    """`[[ a -eq b ]]` evaluates both sides, `[[ -v a[b] ]]` the index."""
    if node.type not in {"binary_expression", "unary_expression"}:
        return
    operator = node.child_by_field_name("operator")
    sign = "" if operator is None else get_text(operator)
    if sign in _COMPARING:
        yield from (get_text(c) for c in node.children if c != operator)
    elif sign in {"-v", "-R"}:
        yield from (get_text(c).partition("[")[2] or _bare_name(c) for c in node.children[1:])


def _bare_name(node: Node) -> str:
    """A literal name is looked up, not evaluated; a variable in its place holds anything."""
    return "0" if node.type == "word" else f"{get_text(node)}"


def _list_texts(node: Node) -> Iterator[str]:
    """The names that a node sets to something else than numbers."""
    if node.type == "variable_assignment":
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        values = [] if value is None else [value]
    elif node.type == "for_statement":
        name = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        values = values or [node]  # without any, the parameters of the script
    elif node.type == "expansion" and _sets_default(node):
        name = node.named_children[0]
        values = node.named_children[1:]
    else:
        return
    if name is not None and not all(map(_is_numeric, values)):
        yield get_text(name).partition("[")[0]


def _sets_default(node: Node) -> bool:
    """`${x:=1}`."""
    signs = {get_text(child) for child in node.children if not child.is_named}
    return bool(node.named_children and signs & {"=", ":="})


def _is_numeric(node: Node) -> bool:
    text = get_text(node)
    if node.type == "array":
        return all(_is_numeric(child) for child in node.named_children)
    if node.type == "arithmetic_expansion" or any(inner.type == "ERROR" for inner in walk(node)):
        return node.type == "arithmetic_expansion"
    known = _NUMBER.fullmatch(text) or _COUNT.fullmatch(text) or _RANGE.fullmatch(text)
    return bool(known or _SEQUENCE.fullmatch(text))


_LISTING: Mapping[str, Callable[[Node], Iterator[str]]] = {
    "arithmetic_expansion": _list_expansion,
    "compound_statement": _list_statement,
    "c_style_for_statement": _list_loop,
    "array": _list_indices,
    "subscript": _list_subscript,
    "expansion": _list_expansion_parts,
    "test_command": _list_test,
}


_DECLARATION_NODES = frozenset({"declaration_command", "unset_command"})


def read_declarations(nodes: Iterable[Node], strays: Mapping[int, list[Node]]) -> Iterator[Command]:
    """Each as a command; its program is `export`, `declare` …, or the shell's no-operation."""
    for node in nodes:
        if node.type in _DECLARATION_NODES:
            words = (*_read_words(node), *(read_word(word) for word in strays.get(node.id, ())))
            yield _create(node, get_text(node.children[0]), tuple(list_assigned(node)), words)
        elif node.type == "test_command" and not get_text(node).startswith("[["):
            yield _create(node, "[", words=tuple(_list_operands(node)))
        elif _is_bare_redirect(node):
            yield _create(node, ":")
        names = (*_list_named(node), *_list_computed(node))
        if names:
            yield _create(node, ":", names)


def list_assigned(node: Node) -> Iterator[str]:
    """The names that stand before a command, or behind `export` and its like."""
    for child in node.children:
        if child.type == "variable_assignment":
            yield read_assigned_name(child)


def read_assigned_name(node: Node) -> str:
    """`a[1]=x` assigns to a."""
    name = node.child_by_field_name("name")
    return "" if name is None else get_text(name).partition("[")[0]


def _create(
    node: Node, program: str, assigns: tuple[str, ...] = (), words: tuple[Word, ...] = ()
) -> Command:
    return Command(
        program=program,
        words=words,
        text=get_text(node),
        assigns=assigns,
        redirects=read_redirects(node),
    )


def _is_bare_redirect(node: Node) -> bool:
    return node.type == "redirected_statement" and node.child_by_field_name("body") is None


def _list_named(node: Node) -> tuple[str, ...]:
    if node.type == "variable_assignment":
        around = node.parent.type if node.parent is not None else ""
        alone = around != "command" and around not in _DECLARATION_NODES
        return (read_assigned_name(node),) if alone else ()
    if node.type == "for_statement":  # `select`, too
        name = node.child_by_field_name("variable")
        return () if name is None else (get_text(name),)
    if node.type == "expansion":
        return _list_defaulted(node)
    return ()


def _list_computed(node: Node) -> Iterator[str]:
    """`((NAME = 1))`, and arithmetic anywhere else."""
    for expression in list_expressions(node):
        yield from list_computed_names(expression)


def _list_defaulted(node: Node) -> tuple[str, ...]:
    """`${NAME:=x}`."""
    signs = {get_text(child) for child in node.children if not child.is_named}
    first = next((child for child in node.children if child.is_named), None)
    if first is None or not signs & {"=", ":="}:
        return ()
    return (get_text(first).partition("[")[0],)


def _list_operands(node: Node) -> Iterator[Word]:
    """The words between `[` and `]`, which the grammar reads as an expression."""
    for child in node.children[1:-1] if node.type == "test_command" else node.children:
        if child.type.endswith("_expression"):
            yield from _list_operands(child)
        else:
            yield read_word(child)


def _read_words(node: Node) -> tuple[Word, ...]:
    """The words behind the program; what stands without a gap between is one word."""
    words: list[Word] = []
    end = -1
    for child in node.children[1:]:
        word = _read_part(child)
        if child.start_byte == end and words:
            word = _join_words(words.pop(), word)
        words.append(word)
        end = child.end_byte
    return tuple(words)


def _read_part(node: Node) -> Word:
    if node.type != "variable_assignment":
        text = get_text(node)
        return Word(text, text) if node.type == "variable_name" else read_word(node)
    value = node.child_by_field_name("value")
    text = get_text(node)
    if value is None:
        return Word(text, text)
    read = read_word(value)
    name = text[: len(text) - len(get_text(value))]
    return Word(text, None if read.value is None else name + read.value)


def _join_words(one: Word, other: Word) -> Word:
    known = one.value is not None and other.value is not None
    value = f"{one.value}{other.value}" if known else None
    return Word(one.raw + other.raw, value, glob=one.glob or other.glob)


DECLARING = split_names("export declare typeset local readonly unset")
_ASSIGNMENT_ARGUMENTS = frozenset({"env", "sudo", "doas", "make"})
_ASSIGNED_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(?:\+?=|$)")
_READ = Options.read("ersE", "adinNptu")
_MAPFILE = Options.read("t", "dnOsuCc")
_WAIT = Options.read("fn", "p")
_PRINTF = Options.read("", "v")


def list_set_names(command: Command) -> Iterator[str | None]:
    """The names that it sets or takes away; None for one that only running it would tell."""
    yield from command.assigns
    if command.name in DECLARING:
        yield from (read_name(word) for word in command.words if not word.is_flag)
    elif command.name in _ASSIGNMENT_ARGUMENTS:
        yield from (read_name(word) for word in command.words if "=" in word.raw)
    elif command.name in _SETTERS:
        yield from _SETTERS[command.name](command)


def read_name(word: Word) -> str | None:
    """The name in `NAME`, `NAME=x` and `NAME[1]+=x`; None if it is not literal."""
    found = _ASSIGNED_NAME.match(word.raw.removeprefix('"') if word.value is None else word.value)
    if found is None or word.glob or (word.value is None and "=" not in found[0]):
        return None
    return found[1]


def _list_read(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _READ)
    words = (*reading.rest, *(value for name, value in reading.given if name == "a" and value))
    yield from (read_name(word) for word in words)
    yield None if reading.doubt else "REPLY"


def _list_mapfile(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _MAPFILE)
    yield from (read_name(word) for word in reading.rest)
    yield None if reading.doubt else "MAPFILE"


def _list_getopts(command: Command) -> Iterator[str | None]:
    yield from (read_name(word) for word in command.words[1:2])
    yield "OPTARG"


def _list_wait(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _WAIT)
    yield from (read_name(value) for _, value in reading.given if value is not None)
    if reading.doubt:
        yield None


def _list_printf(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _PRINTF)
    yield from (read_name(value) for _, value in reading.given if value is not None)
    if command.words and command.words[0].value is None and not _is_surely_text(command.words[0]):
        yield None


def _is_surely_text(word: Word) -> bool:
    """`"%s $x"` begins with a letter that no option begins with, whatever x is."""
    begin = word.raw.lstrip("\"'")[:1]
    return word.single and begin not in {"", "$", "-", "`"}


def _list_let(command: Command) -> Iterator[str | None]:
    for word in command.words:
        if word.value is None or word.glob:
            yield None
        else:
            yield from list_computed_names(word.value)


def _list_coproc(command: Command) -> Iterator[str | None]:
    yield from (read_name(word) for word in command.words[:1] if len(command.words) > 1)


_SETTERS: dict[str | None, Callable[[Command], Iterator[str | None]]] = {
    "read": _list_read,
    "mapfile": _list_mapfile,
    "readarray": _list_mapfile,
    "getopts": _list_getopts,
    "wait": _list_wait,
    "printf": _list_printf,
    "coproc": _list_coproc,
    "let": _list_let,
}


_TAKING_NAMES = DECLARING | split_names("read mapfile readarray printf wait getopts test [")
_ASSIGNMENT_PREFIXES = frozenset({"env", "sudo", "doas"})


def evaluate_words(command: Command) -> Evaluation:
    """What the words of one command evaluate, and the names that it sets to texts."""
    evaluated: set[str] = set()
    doubts: list[str] = []
    for expression in _list_evaluated_words(command):
        names, doubt = read_expression(expression)
        evaluated |= names
        doubts += [] if doubt is None else [doubt]
    return Evaluation(
        frozenset(evaluated),
        frozenset(_list_text_names(command)),
        tuple(doubts),
        frozenset(_list_declared_arrays(command)),
        frozenset(_list_redeclared(command)),
    )


def _list_evaluated_words(command: Command) -> Iterator[str]:
    if command.name == "let":
        yield from (word.raw if word.value is None else word.value for word in command.words)
    elif command.name in _TAKING_NAMES:
        yield from (_read_index(word) for word in command.words if word.value)
    if command.name in {"test", "["}:
        yield from _list_tested(command.words)


def _list_tested(words: tuple[Word, ...]) -> Iterator[str]:
    """The variables behind `-v`."""
    for before, word in pairwise(words):
        if before.value in {"-v", "-R"} and word.value is None:
            yield word.raw


def _read_index(word: Word) -> str:
    """The index in `name[index]`; a word of another form has none."""
    name, bracket, rest = (word.value or "").partition("[")
    return rest.partition("]")[0] if bracket and name.isidentifier() else "0"


def _list_declared_arrays(command: Command) -> Iterator[str]:
    """The names that the command makes an array of."""
    declares = command.name in DECLARING and command.flags & {"-a", "-A"}
    if declares or command.name in {"read", "mapfile", "readarray"}:
        yield from (name for name in list_set_names(command) if name)


def _list_redeclared(command: Command) -> Iterator[str]:
    """The names that get a text which may be that of an array: unknown, or in parentheses."""
    for word in command.words if command.name in DECLARING else ():
        name = read_name(word)
        given = (word.raw if word.value is None else word.value).partition("=")[2]
        is_visible = word.raw.partition("=")[2].startswith("(")  # `x=(…)`, whose parts are read
        if name and given and not is_visible and (word.value is None or given.startswith("(")):
            yield name


def _list_text_names(command: Command) -> Iterator[str]:
    """The names that words set to texts; the grammar has the assignments that it can see."""
    if command.name in DECLARING | _ASSIGNMENT_PREFIXES:
        pairs = [word for word in command.words if "=" in word.raw]
        if all((word.value or "").partition("=")[2].isdigit() for word in pairs):
            return
    elif command.name in {":", None}:
        return
    named = set(list_set_names(command)) - set(command.assigns)
    yield from (name for name in named if name)
