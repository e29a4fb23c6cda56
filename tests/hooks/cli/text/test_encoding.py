"""Output in encodings that lack what we write."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest

import amplifier_hooks.cli
from amplifier_hooks.cli.text.encoding import SIGNS, accept_any_text, replace_unwritable

SOURCES = Path(amplifier_hooks.cli.__file__).parent


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("utf-8", "✓ x → ‹é漢› \\u{DC80}".encode()),
        ("latin-1", b"+ x -> <\xe9\\u{6F22}> \\u{DC80}"),
        ("ascii", b"+ x -> <\\u{E9}\\u{6F22}> \\u{DC80}"),
    ],
)
def test_what_an_encoding_lacks_is_replaced(encoding: str, written: bytes) -> None:
    """Our signs by what looks like them, anything else as it is escaped elsewhere."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    accept_any_text(stream, io.StringIO())
    stream.write("✓ x → ‹é漢› \udc80")
    stream.flush()
    assert raw.getvalue() == written


def test_only_writing_is_forgiven() -> None:
    """A text that cannot be read is still an error."""
    with pytest.raises(UnicodeDecodeError):
        replace_unwritable(UnicodeDecodeError("ascii", b"\xff", 0, 1, "no"))


def test_every_sign_that_the_command_line_prints_has_a_likeness() -> None:
    """A new sign in the source needs a line in the table."""
    used = {
        character
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for character in node.value
        if not character.isascii() and character.isprintable()
    }
    shown_by_escape = {"⇥", "\ufe0f"}
    assert used - SIGNS.keys() - shown_by_escape == set()
    assert all(likeness.isascii() for likeness in SIGNS.values())
