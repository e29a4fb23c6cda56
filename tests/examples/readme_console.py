"""The console blocks of a README: commands, and lines of what they print."""

from __future__ import annotations

import re
import runpy
import shlex
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.cli.main import run
from tests.support.trust import trust_project

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """One command, and the lines below it; `…` stands for anything within a line."""

    words: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def bundle(self) -> Path | None:
        """The bundle that it uses, if it uses one."""
        named = dict(zip(self.words, self.words[1:], strict=False)).get("--bundle")
        runs = self.words[:2] in {("amplifier", "run"), ("amplifier", "hooks")}
        return Path(named or "amplifier.yaml").resolve() if runs else None

    def list_missing(self, printed: str) -> list[str]:
        """The lines that the command should have printed and did not."""
        lines = [line.rstrip() for line in printed.splitlines()]
        return [one for one in self.shown if not any(fits(one, line) for line in lines)]


def fits(shown: str, line: str) -> bool:
    """Whether a line is what the README shows of it."""
    return bool(re.fullmatch(".*".join(map(re.escape, shown.rstrip().split("…"))), line))


def read_commands(readme: Path) -> list[Command]:
    """All commands of the console blocks, in order."""
    found = []
    for block in CONSOLE.findall(readme.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            found.append(Command(tuple(shlex.split(command)), tuple(shown)))
    return found


def run_command(command: Command) -> None:
    """Run it in this process, in the current folder, for a person who trusts what is there."""
    program, *arguments = command.words
    if command.bundle is not None:
        trust_project(Path.cwd(), command.bundle)
    if program == "amplifier":
        run(arguments)
        return
    assert program == "python", f"{program}: only amplifier and python are run"
    runpy.run_path(str(Path(arguments[0]).resolve()), run_name="__main__")
