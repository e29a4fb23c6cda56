"""The syntax tree of a shell script, and its words as a shell reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from amplifier_hooks.modules.installation import require

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


MAX_NODES = 10_000
MAX_DEPTH = 60


# The grammar's scanner looks characters up in tables of 256 entries; one far beyond them, as in
# `{\U0003b558`, ends the process. To bash all bytes from 0x80 on are just letters, so the grammar
# sees each as two letters that are in the tables, and `get_text` puts the bytes back.
_STAND_INS = {
    byte: chr(0xC0 + (byte >> 4 & 7)) + chr(0xE0 + (byte & 15)) for byte in range(128, 256)
}
_BYTES = {letters: chr(byte) for byte, letters in _STAND_INS.items()}


def parse_tree(script: str, owner: str) -> Tree:
    """Parse a script; what is no shell stands in the tree as an error."""
    source = script.encode(errors="replace")
    if not script.isascii():
        source = source.decode("latin-1").translate(_STAND_INS).encode()
    tree: Tree = _create_parser(owner).parse(source)
    return tree


def _restore(source: bytes) -> str:
    if source.isascii():
        return source.decode()
    # Two letters for a byte; half a pair, should the grammar ever cut one, is left as it is.
    written = re.sub("[À-Ç][à-ï]", lambda found: _BYTES[found[0]], source.decode(errors="replace"))
    return written.encode("latin-1", "replace").decode(errors="replace")


def ensure_available(owner: str) -> None:
    """Raise the ModuleLoadError with the sentence what to install, at mount rather than later."""
    _create_parser(owner)


def _create_parser(owner: str) -> Any:
    # One for each call: guards judge in threads, and a parser must not be shared between them.
    engine = require("tree_sitter", owner)
    return engine.Parser(_load_language(engine, require("tree_sitter_bash", owner)))


@cache
def _load_language(engine: Any, grammar: Any) -> Any:
    return engine.Language(grammar.language())


def get_text(node: Node) -> str:
    """The text of a node as it is written."""
    return _restore(node.text or b"")


def slice_text(node: Node, start: int, end: int) -> str:
    """The text between two positions of the script that both lie inside the node."""
    # A node knows its positions in the whole script, its own text begins at 0.
    offset = node.start_byte
    return _restore((node.text or b"")[start - offset : end - offset])


def list_nodes(root: Node) -> list[Node] | None:
    """All nodes in the order they are written; None when there are too many, or too deep."""
    nodes: list[Node] = []
    # A stack of our own: the depth of hostile input must not become the depth of our recursion.
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        nodes.append(node)
        if depth > MAX_DEPTH or len(nodes) > MAX_NODES:
            return None
        stack += [(child, depth + 1) for child in reversed(node.children)]
    return nodes


def walk(root: Node) -> Iterator[Node]:
    """The node and everything below it, in the order it is written."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


@dataclass(frozen=True, slots=True)
class Word:
    """`value` is None when more than the text decides: variables, substitutions, braces."""

    raw: str
    value: str | None
    glob: bool = False
    tilde: bool = False
    runs: tuple[str | None, ...] = ()
    """The programs whose output becomes part of the word; None for one that is not literal."""
    split: bool = False
    """Whether a shell may make several words of it, or none: `$x` and `"$@"`, but not `"$x"`."""

    @property
    def fixed(self) -> bool:
        """Whether it is exactly one word, and known."""
        return self.value is not None and not self.glob

    @property
    def single(self) -> bool:
        """Whether it is exactly one word, known or not."""
        return not self.glob and not self.split

    @property
    def is_flag(self) -> bool:
        """Whether a program would read it as an option."""
        return self.value is not None and len(self.value) > 1 and self.value[0] == "-"


UNKNOWN = Word("?", None, split=True)
"""Words that stand for anything."""


def create_literal(text: str) -> Word:
    """A word of exactly this text."""
    return Word(text, text)


def unquote(raw: str) -> str:
    """A text without the quotes around all of it, and what these had kept from a shell."""
    if len(raw) > 1 and raw[0] == raw[-1] == "'" and "'" not in raw[1:-1]:
        return raw[1:-1]
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', raw, re.DOTALL):
        return re.sub(r'\\(["\\`$])', r"\1", raw[1:-1])
    return raw.strip("\"'")


_REMOTE = re.compile(r"(?:[\w.-]+@)?[\w.-]+::?(?!\\)|rsync://|scp://")


def is_remote(word: Word) -> bool:
    """`host:path`, as rsync and scp read it: nothing of this machine."""
    return _REMOTE.match(word.value or word.raw.strip("\"'")) is not None


def split_names(text: str) -> frozenset[str]:
    """The names of a list that is easier to read in one line."""
    return frozenset(text.split())


_HOME = frozenset({"$HOME", "${HOME}"})
_HERE = frozenset({"$PWD", "${PWD}"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_BARE = frozenset({"word", "number", "test_operator", "extglob_pattern"})
# `$'…'`: the only quotes in which bash resolves escapes as C does.
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_BASES = ((1, 16), (2, 16), (3, 16), (4, 8))  # group of the expression, base of its digits
_LAST_ASCII = 127
_ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a word between two changes of quoting. `text` is None if it is not certain."""

    text: str | None
    glob: bool = False
    tilde: bool = False
    braces: bool = False


_UNCERTAIN = _Piece(None)


def read_word(node: Node) -> Word:
    """The word of a node of the syntax tree."""
    raw = get_text(node)
    pieces = _read_pieces(node)
    return Word(
        raw,
        _join(pieces, raw),
        glob=any(piece.glob for piece in pieces),
        tilde=bool(pieces) and pieces[0].tilde,
        runs=tuple(_find_substituted_programs(node)),
        split=_may_split(node, pieces),
    )


def _may_split(node: Node, pieces: list[_Piece]) -> bool:
    """Quoted text is one word, unless `@` makes several of it."""
    if all(piece.text is not None and not piece.braces for piece in pieces):
        return False
    if node.type in {"concatenation", "command_name"}:
        return any(_may_split(child, _read_pieces(child)) for child in node.children)
    if node.type in {"string", "translated_string"}:
        return "@" in get_text(node)
    return node.type not in {"ansi_c_string", "process_substitution", "arithmetic_expansion"}


def _join(pieces: list[_Piece], raw: str) -> str | None:
    # `{a,b}` and `{1..3}` become several words; a lone brace is a letter like any other.
    if any(piece.braces for piece in pieces) and ("," in raw or ".." in raw):
        return None
    texts = [piece.text for piece in pieces if piece.text is not None]
    return "".join(texts) if len(texts) == len(pieces) else None


def _read_pieces(node: Node) -> list[_Piece]:
    kind = node.type
    if kind in {"concatenation", "command_name"}:
        return [piece for child in node.children for piece in _read_pieces(child)]
    if kind in {"string", "translated_string"}:
        return _read_string(node)
    text = get_text(node)
    if kind in {"simple_expansion", "expansion"}:
        return [_read_variable(text)]
    return [_read_plain(kind, text)]


def _read_plain(kind: str, text: str) -> _Piece:
    if kind == "raw_string":
        return _Piece(text[1:-1])
    if kind == "ansi_c_string":
        return _read_ansi(text[2:-1])
    # Signs such as `[` or `=` are nodes whose type is the sign itself.
    if kind in _BARE or not kind[:1].isalpha():
        return _read_unquoted(text)
    return _UNCERTAIN


def _read_unquoted(text: str) -> _Piece:
    """Outside quotes a backslash quotes one letter."""
    bare = re.sub(r"\\.", "", text, flags=re.DOTALL)
    if "$" in bare or "`" in bare:
        return _UNCERTAIN
    return _Piece(
        re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL),
        glob=any(letter in bare for letter in "*?[") or "(" in bare,
        tilde=text.startswith("~"),
        braces="{" in bare or "}" in bare,
    )


def _read_variable(text: str) -> _Piece:
    """Only two variables are taken at their word: where home is, and where the script runs."""
    if text in _HOME:
        return _Piece("~", tilde=True)
    return _Piece(".") if text in _HERE else _UNCERTAIN


def _read_ansi(text: str) -> _Piece:
    """What every bash reads alike: `\\x{…}`, `\\c`, NUL, letters beyond ASCII are not certain."""
    try:
        return _Piece(_ANSI.sub(_resolve_escape, text))
    except KeyError:
        return _UNCERTAIN


def _resolve_escape(match: re.Match[str]) -> str:
    for group, base in _ANSI_BASES:
        if match[group]:
            code = int(match[group], base)
            if not 0 < code <= _LAST_ASCII:
                raise KeyError(code)
            return chr(code)
    return _ANSI_LETTERS[match[5]]


def _read_string(node: Node) -> list[_Piece]:
    """Between the children of a string stands text, which the grammar does not always name."""
    pieces: list[_Piece] = []
    position = node.start_byte
    end = node.end_byte - 1
    position += 2 if node.type == "translated_string" else 1
    for child in node.children:
        if child.type in {'"', '$"', "$", "string_content"}:
            continue
        if child.type == "string":  # `$"…"` holds the string a second time
            return _read_string(child)
        pieces.append(_read_quoted(slice_text(node, position, child.start_byte)))
        pieces += _read_pieces(child) if "expansion" in child.type else [_UNCERTAIN]
        position = child.end_byte
    pieces.append(_read_quoted(slice_text(node, position, end)))
    return [piece for piece in pieces if piece.text != ""]


def _read_quoted(text: str) -> _Piece:
    """Inside `"…"` a backslash quotes only these letters; before a line break both vanish."""
    return _Piece(re.sub(r"\\([$`\"\\\n])", lambda match: match[1].strip("\n"), text))


def _find_substituted_programs(node: Node) -> list[str | None]:
    """The programs inside `$(…)`, backquotes and `<(…)`; None for one that is not literal."""
    found: list[str | None] = []
    stack = [(node, node.type in _SUBSTITUTIONS)]
    while stack:
        current, inside = stack.pop()
        if inside and current.type == "command_name":
            found.append(read_word(current).value)
        inside = inside or current.type in _SUBSTITUTIONS
        stack += [(child, inside) for child in current.children]
    return found
