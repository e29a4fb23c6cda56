"""Every `amplifier …` on a page is a command line that the program takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from amplifier_hooks.cli.program import cli
from tests.docs.blocks import FENCE
from tests.hooks.cli.test_lazy_group import find_mistake

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
_LINE = re.compile(r"^(?:\$ |❯ )?(?:[A-Z_]+=\S* )*(amplifier .*)$", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`((?:[A-Z_]+=\S* )*amplifier [^`\n]+)`")
# What follows belongs to the shell, or is a remark.
_END = re.compile(r"\s#\s|\s{3,}#|\s[|>&]|\s2>|;|\s<")
# The rest of the line stands for something else.
_PLACEHOLDER = re.compile(r"…|\.\.\.|\[|^[A-Z]{2,}$|^[A-Z_]+=|^<")


def list_lines(page: Path) -> Iterator[str]:
    """What a reader would copy from a block into a shell."""
    for _, text in FENCE.findall(page.read_text(encoding="utf-8")):
        joined = re.sub(r" *\\\n\s*", " ", text)
        yield from (_END.split(line)[0].strip() for line in _LINE.findall(joined))


def list_inline(page: Path) -> Iterator[str]:
    """What the text names, which may be only the beginning of a command line."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    yield from (re.sub(r"^(?:[A-Z_]+=\S* )*", "", one) for one in _INLINE.findall(text))


def list_options(command: click.Command) -> dict[str, click.Parameter]:
    """The options of a command by every name that they have."""
    return {name: one for one in command.params for name in (*one.opts, *one.secondary_opts)}


def find_unknown(words: list[str], command: click.Command = cli) -> str:
    """The first word that is no command, or no option of the one that it follows; or none."""
    options = {**list_options(cli), **list_options(command), "--help": None}
    for place, word in enumerate(words):
        rest = words[place + 1 :]
        if word == "--":
            return ""
        if word.startswith("-"):
            name, _, value = word.partition("=")
            if name not in options:
                return word
            takes = getattr(options[name], "is_flag", True) is False and not value
            if takes and rest:
                return find_unknown(rest[1:], command)
        elif isinstance(command, click.Group):
            inner = list_inner(command, word)
            return word if not inner else min(find_unknown(rest, one) for one in inner)
    return ""


def list_inner(group: click.Group, word: str) -> list[click.Command]:
    """The command of that name; all of them, if the word stands for one."""
    context = click.Context(group)
    names = group.list_commands(context) if _PLACEHOLDER.search(word) else [word]
    return [one for name in names if (one := group.get_command(context, name))]


LINES = {(page, line) for page in PAGES for line in list_lines(page)}
NAMED = {(page, line) for page in PAGES for line in list_inline(page)}


def describe(case: object) -> str:
    return str(case.relative_to(ROOT)) if isinstance(case, Path) else str(case)


@pytest.mark.parametrize(("page", "line"), sorted(LINES), ids=describe)
def test_a_command_of_a_block_is_one_that_runs(page: Path, line: str) -> None:
    """A reader who copies it gets past the parser."""
    words = shlex.split(line)[1:]
    if any(_PLACEHOLDER.search(word) for word in words):
        assert find_unknown(words) == ""
    else:
        assert find_mistake(words) is None


@pytest.mark.parametrize(("page", "line"), sorted(NAMED), ids=describe)
def test_a_command_in_the_text_has_these_options(page: Path, line: str) -> None:
    """It may leave out what it needs, but it names nothing that is not there."""
    assert find_unknown(shlex.split(line)[1:]) == ""
