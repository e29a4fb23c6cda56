"""Scripts inside the words of a command, as in `bash -c TEXT` and `eval WORDS`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.options import Reading
from amplifier_hooks.guards.bash.script import Script, parse_script
from amplifier_hooks.guards.bash.word import Word


def parse_inner(command: Command, word: Word | None, owner: str) -> Script:
    """The script inside a word, parsed once more; nothing when there is no word."""
    if word is None:
        return Script(())
    if word.value is None or word.glob:
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
    values = [word.value for word in parts if word.value is not None and not word.glob]
    whole = len(values) == len(parts)
    return parse_inner(command, Word(raw, " ".join(values) if whole else None), owner)


def add_doubt(script: Script, command: Command, reading: Reading) -> Script:
    """The script, and in doubt if the options of the command that runs it are."""
    if reading.doubt is None:
        return script
    doubt = f"what {command.name} runs is not certain: {reading.doubt}"
    return replace(script, unclear=(*script.unclear, doubt))


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
