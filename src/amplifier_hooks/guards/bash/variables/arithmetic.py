"""Arithmetic evaluates the text of variables, and whatever substitution is written in it.

After `x='a[$(id)]'`, `$((x))` runs `id`. So a name may be evaluated only if the script sets it to
nothing but numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.tree import get_text, slice_text, walk

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
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
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
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        values = [] if value is None else [value]
    elif node.type == "for_statement":
        name, values = node.child_by_field_name("variable"), node.children_by_field_name("value")
        values = values or [node]  # without any, the parameters of the script
    elif node.type == "expansion" and _sets_default(node):
        name, values = node.named_children[0], node.named_children[1:]
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
