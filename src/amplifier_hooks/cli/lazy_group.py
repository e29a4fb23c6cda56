"""Groups of commands that are imported when they are wanted, and their help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import ClassVar

import click

from amplifier_hooks.cli.text.output import get_width, paint

WIDEST = 80
_GAP = 2
_ROOM_BESIDE = 20
"""With less of it beside the name of the command, click writes the arguments below."""


class HelpPage(click.HelpFormatter):
    """Click's help, with our styles; at any width no line is longer than the terminal."""

    def __init__(self) -> None:
        super().__init__(width=max(min(get_width(), WIDEST) - 2, 20))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        title = "Usage: "
        room = self.width - self.current_indent - len(f"{title}{prog} ")
        shown = _paint("tool", prog)
        painted = _paint("title", title.strip()) + " "
        # Only what click would leave in one line: what breaks lines takes long to import.
        if not self.current_indent and room >= _ROOM_BESIDE and _fits(args, room):
            self.write(f"{painted}{shown} {args}\n")
        else:
            super().write_usage(shown, args, painted)

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        if _fits(text, self.width - self.current_indent):
            self.write(f"{'':>{self.current_indent}}{text}\n")
        else:
            super().write_text(text)

    def write_heading(self, heading: str) -> None:
        """Write the title of a section."""
        self.write(f"{'':>{self.current_indent}}{_paint('title', heading + ':')}\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = _GAP
    ) -> None:
        """Write terms with what they mean beside them, or below where there is no room."""
        rows = list(rows)
        column = min(max(len(term) for term, _ in rows), col_max, self.width // 3) + col_spacing
        for term, meaning in rows:
            self._write_term(term, meaning, column)

    def _write_term(self, term: str, meaning: str, column: int) -> None:
        indent = " " * self.current_indent
        room = self.width - len(indent) - column
        lines = _wrap(meaning, room)
        if len(term) + _GAP <= column:
            beside = lines.pop(0) if lines else ""
            self.write(f"{indent}{_paint('key', term)}{' ' * (column - len(term))}{beside}\n")
        else:
            for row in _wrap(term, self.width - len(indent)):
                self.write(f"{indent}{_paint('key', row)}\n")
        for line in lines:
            self.write(f"{indent}{' ' * column}{line}\n")

    def write_epilog(self, epilog: str) -> None:
        """Write what stands at the end: texts, and lists of examples behind a title."""
        text = cleandoc(epilog.replace("\b\n", ""))
        for paragraph in text.split("\n\n") if text else ():
            first, *others = paragraph.split("\n")
            self.write("\n")
            if first.endswith(":") and others:
                self.write_heading(first.removesuffix(":"))
                self.write("".join(f"{row}\n" for row in self._lay_out_examples(others)))
            else:
                rows = _wrap(" ".join(paragraph.split()), self.width)
                self.write("".join(f"{row}\n" for row in rows))

    def _lay_out_examples(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            command, remark = _split_example(line.strip(" "))
            if not command:
                continue
            if len(f"  {command}{remark}") <= self.width:
                yield f"  {_paint('tool', command)}{_paint('dim', remark)}"
                continue
            yield from self._break_command(command)
            rows = _wrap(remark.strip(), self.width - 6)
            yield from (f"      {_paint('dim', one)}" for one in rows)

    def _break_command(self, command: str) -> Iterator[str]:
        """A command over several lines, which can still be pasted."""
        from shlex import split

        row = ""
        indent = "  "
        for word in split(command, posix=False):
            longer = f"{row} {word}".strip()
            if row and len(indent) + len(longer) + 2 > self.width:
                yield f"{indent}{_paint('tool', row)} \\"
                row = word
                indent = "      "
            else:
                row = longer
        yield f"{indent}{_paint('tool', row)}"


def _split_example(line: str) -> tuple[str, str]:
    """A command, and the remark behind it: after two spaces, or a `#` as in a shell."""
    ends = [at for sign in ("  ", " # ") if (at := line.find(sign)) > 0]
    end = min(ends, default=len(line))
    return line[:end], line[end:]


def _fits(text: str, room: int) -> bool:
    return 0 < len(text) <= room and text.isprintable() and text == text.strip()


def _wrap(text: str, room: int) -> list[str]:
    """Break lines as `textwrap` does, which takes long to import: usual words need none of it."""
    if not text:
        return []
    room = max(room, 10)
    words = text.split(" ")
    if not text.isprintable() or "" in words or max(map(len, words)) > room:
        from textwrap import wrap

        return wrap(text, room, break_on_hyphens=False)
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if len(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _paint(style: str, text: str) -> str:
    return paint([(style, text)]) if text.strip() else text


class HelpContext(click.Context):
    """Draws the help of its command on a page of ours."""

    def get_help(self) -> str:
        """The help of the command, with its examples at the end."""
        page = HelpPage()
        command = self.command
        command.format_usage(self, page)
        command.format_help_text(self, page)
        command.format_arguments(self, page)
        command.format_options(self, page)
        page.write_epilog(command.epilog or "")
        if "Examples:" not in (command.epilog or ""):
            page.write_epilog("\n".join(["Examples:", *list_examples(self.command_path)]))
        return page.getvalue().rstrip("\n")


def adopt(command: click.Command) -> click.Command:
    """Give a command and those below it our context, and a summary that is never cut."""
    command.context_class = HelpContext
    if command.help and not command.short_help:
        command.short_help = " ".join(command.help.split("\n\n")[0].split())
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        adopt(inner)
    return command


EXAMPLES = {
    "sessions list": ("sessions list", "sessions list --json"),
    "sessions show": ('sessions show "fix the parser"', "sessions show 3f0c --json"),
    "sessions resume": ('sessions resume "fix the parser"',),
    "sessions delete": ("sessions delete 3f0c", 'sessions delete "fix the parser" --yes'),
    "trust list": ("trust list", "trust list --json"),
    "hooks list": ("hooks list", "hooks list --event tool:pre", "hooks list --json"),
    "hooks trace": (
        'hooks trace "delete the old logs"',
        """hooks trace --tool Bash --input '{"command": "rm -rf build"}'""",
        "hooks trace --event session:start",
    ),
    "hooks stats": (
        "hooks stats",
        "hooks stats --since 2026-11-01 --json",
        "hooks stats --shadow",
        "hooks stats --live",
    ),
    "hooks test": (
        "hooks test hooks/first_hook.py",
        "hooks test hooks/first_hook.py --watch",
        "hooks test hooks/first_hook.py --write hooks/first_hook.cases.yaml",
        "hooks test hooks/first_hook.cases.yaml",
    ),
    "modules list": ("modules list", "modules list --kind hook"),
    "modules validate": ("modules validate ./my_hook.py", "modules validate hooks-redaction"),
    "audit checkpoint": ("audit checkpoint",),
    "audit create-key": ("audit create-key ~/audit.key",),
    "audit prove": ("audit prove ./trail 17",),
    "audit redact": ("audit redact ./trail 9f3c2a --by kim --reason 'holds a name'",),
    "audit serve": ("audit serve /var/lib/amplifier --socket /run/amplifier.sock --user kim",),
    "audit stats": ("audit stats",),
    "audit verify": ("audit verify",),
    "backups": ("backups list", "backups restore 20261117"),
    "backups list": ("backups list", "backups list --file notes.txt"),
    "backups restore": ("backups restore 20261117",),
    "approvals list": ("approvals list", "approvals list --all --json"),
    "approvals show": ("approvals show 3f2a", "approvals show 3f2a --json"),
    "approvals allow": (
        "approvals allow 3f2a",
        "approvals allow 3f2a --always exact --days 7",
    ),
    "approvals deny": ("approvals deny 3f2a --comment 'not on a Friday'",),
    "approvals watch": ("approvals watch", "approvals watch --json"),
    "approvals rules": ("approvals rules", "approvals rules --all"),
    "approvals revoke": ("approvals revoke 6a0a16fc",),
    "mcp tools list": ("mcp tools list", "mcp tools list --json"),
    "mcp tools show": ("mcp tools show time", "mcp tools show time get_current_time"),
    "mcp tools allow": ("mcp tools allow time get_current_time",),
    "mcp tools forget": ("mcp tools forget time", "mcp tools forget time convert_time --yes"),
    "tokens logout": ("tokens logout ann",),
    "tokens add": (
        "tokens add build-7 --scope agent",
        "tokens add ann --scope read --scope decide",
    ),
    "tokens list": ("tokens list", "tokens list --all --json"),
    "tokens revoke": ("tokens revoke 6a0a16fc",),
    "completion": ("completion bash", "completion zsh"),
    "doctor": ("doctor", "doctor --json"),
}


def list_examples(command_path: str) -> list[str]:
    """The examples of a command, as they are typed."""
    program, _, command = command_path.partition(" ")
    return [f"  {program} {one}" for one in EXAMPLES.get(command, ())]


class LazyGroup(click.Group):
    """Knows its commands by name and imports one when it is wanted."""

    context_class = HelpContext
    summaries: ClassVar[Mapping[str, str]]
    """Each command, with what it is for."""
    package: ClassVar[str]
    """Where they are: the module and the function of a command have its name."""
    places: ClassVar[Mapping[str, str]] = {}
    """The modules of commands that are elsewhere below the package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.summaries:
            return None
        place = self.places.get(cmd_name, cmd_name)
        module = import_module(f"{self.package}.{place}")
        return adopt(getattr(module, cmd_name.replace("-", "_")))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.summaries:
            raise click.UsageError(_suggest(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def _suggest(name: str, known: Sequence[str]) -> str:
    from amplifier_core.utils.text import find_closest
    from amplifier_hooks.text.escape import escape

    close = find_closest(name, known)
    meant = f" Did you mean {close!r}?" if close else f" There are {', '.join(known)}."
    return f"No command '{escape(name)}'.{meant}"
