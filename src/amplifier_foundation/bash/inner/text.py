"""Scripts inside the words of a command, as in `bash -c TEXT` and `eval WORDS`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.script import Script, parse_script
from amplifier_foundation.bash.word import Word, create_literal


def parse_inner(command: Command, word: Word | None, owner: str) -> Script:
    """The script inside a word, parsed once more; nothing when there is no word."""
    if word is None:
        return Script(())
    if word.value is None:
        return Script(
            (), (f"the text that {command.name} runs, {_shorten(word.raw)}, is not literal",)
        )
    script = parse_script(word.value, owner)
    wrapper = command.name or "?"
    commands = tuple(found.run_by(*command.via, wrapper) for found in script.commands)
    return replace(script, commands=commands)


def parse_joined(command: Command, words: Iterable[Word], owner: str) -> Script:
    """`eval a b` and its like: the words with blanks between them are a script."""
    parts = list(words)
    if not parts:
        return Script(())
    raw = " ".join(word.raw for word in parts)
    values = [word.value for word in parts if word.value is not None]
    whole = len(values) == len(parts)
    return parse_inner(command, Word(raw, " ".join(values) if whole else None), owner)


def find_first_argument(command: Command) -> Word | None:
    """The first word that is no option; `-o` and `-O` of a shell take a value."""
    skip = False
    for word in command.words:
        if skip:
            skip = False
        elif word.is_flag or word.raw.startswith("+"):
            skip = word.value is not None and word.value[-1] in "oO" and len(word.value) == 2
        else:
            return word
    return None


def find_option_value(words: Iterable[Word], short: str, long: str) -> Word | None:
    """The value of an option, in any of `-S x`, `-Sx`, `--long x`, `--long=x`."""
    rest = iter(words)
    for word in rest:
        if word.value in {short, long}:
            return next(rest, None)
        attached = _read_attached(word, short, long)
        if attached is not None:
            return attached
    return None


def _read_attached(word: Word, short: str, long: str) -> Word | None:
    if word.value is None:  # `-S"$x"`: the option itself is certain, its value is not
        return word if word.raw.lstrip("\"'").startswith((short, long)) else None
    if word.value.startswith(f"{long}="):
        return create_literal(word.value.partition("=")[2])
    if word.value.startswith(short) and not word.value.startswith("--"):
        return create_literal(word.value[len(short) :])
    return None


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
