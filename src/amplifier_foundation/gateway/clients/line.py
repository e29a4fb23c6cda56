"""The command with which a client starts the gateway, and what was in the entry before it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_foundation.mcp.names import make_server_name

_MARK = "amplifier-mcp="
_MODULE = "amplifier_apps.cli.main"
_START = ("mcp", "gateway")
_OPTIONS = frozenset({"--name", "--bundle", "--new-tools", "--http", "--header-env"})
_MEMO = re.compile(r"[A-Za-z_]+(?::[A-Za-z0-9_.-]*)?(?:,[A-Za-z_]+(?::[A-Za-z0-9_.-]*)?)*")


@dataclass(frozen=True, slots=True)
class Gateway:
    """How the gateway is to be started: by which interpreter, with which bundle."""

    python: Path
    bundle: Path | None = None
    new_tools: str = ""
    """What to do about tools that were never seen: `ask`, `allow`, or what is usual."""

    def build(self, name: str, memo: Mapping[str, str], words: Sequence[str]) -> list[str]:
        """The command and its arguments, for a server that the client calls `name`.

        The memo says what the entry was like, for the way back. Python passes over it. Neither
        the current folder nor PYTHONPATH can put other code in the place of ours.
        """
        start = [str(self.python), "-I", "-X", _MARK + _write_memo(memo), "-m", _MODULE, *_START]
        options = ["--name", make_server_name(name)]
        options += [] if self.bundle is None else ["--bundle", str(self.bundle)]
        options += ["--new-tools", self.new_tools] if self.new_tools else []
        return [*start, *options, *words]


@dataclass(frozen=True, slots=True)
class Line:
    """A command of ours, read back."""

    python: Path
    memo: Mapping[str, str]
    bundle: Path | None
    server: tuple[str, ...] = ()
    """The server's own command, if it has one."""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=())
    """The headers' names, and the variables with their values; a word may stand before one."""


def make_gateway(bundle: Path | None, new_tools: str = "") -> Gateway:
    """That of this installation, with the interpreter that runs now, under its usual name."""
    # Not resolved: the link in an environment is what finds the packages of that environment.
    running = Path(os.path.abspath(sys.executable))  # noqa: PTH100
    usual = running.with_name("python3")
    is_same = os.path.realpath(usual) == os.path.realpath(running)
    return Gateway(usual if is_same else running, bundle, new_tools)


def read_line(command: object, args: object) -> Line | None:
    """What a command says, if we wrote it; None if we did not, or somebody has changed it."""
    if not isinstance(command, str) or not isinstance(args, list):
        return None
    if not all(isinstance(one, str) for one in args):
        return None
    start, words = args[:7], args[7:]
    if start[:2] != ["-I", "-X"] or start[3:] != ["-m", _MODULE, *_START]:
        return None
    memo = _read_memo(start[2])
    if memo is None:
        return None
    return _read_words(Path(command), memo, words)


def is_gateway(command: object, args: object) -> bool:
    """Whether a command starts the gateway, also if a person has written it."""
    if read_line(command, args) is not None:
        return True
    if not isinstance(command, str) or not isinstance(args, list):
        return False
    begins = 0 if Path(command).name == "amplifier" else _find_module(args)
    return begins >= 0 and args[begins : begins + 2] == [*_START]


def _find_module(args: list[Any]) -> int:
    """Where the words for our program begin, if an interpreter starts it; else -1."""
    if "-m" not in args or args[args.index("-m") + 1 :][:1] != [_MODULE]:
        return -1
    return args.index("-m") + 2


def _read_words(python: Path, memo: Mapping[str, str], words: list[str]) -> Line | None:
    options, server = words, tuple[str, ...]()
    if "--" in words:
        at = words.index("--")
        options, server = words[:at], tuple(words[at + 1 :])
    if len(options) % 2:
        return None
    pairs = list(zip(options[::2], options[1::2], strict=True))
    found = dict(pairs)
    if not set(found) <= _OPTIONS:
        return None
    if bool(server) == ("--http" in found):
        return None
    return Line(
        python=python,
        memo=memo,
        bundle=Path(found["--bundle"]) if "--bundle" in found else None,
        server=server,
        url=found.get("--http", ""),
        headers=tuple(_split_headers(pairs)),
    )


def _split_headers(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for option, value in pairs:
        if option == "--header-env":
            name, _, variable = value.partition("=")
            yield name, variable


def _write_memo(memo: Mapping[str, str]) -> str:
    text = ",".join(f"{key}:{value}" if value else key for key, value in memo.items())
    assert _MEMO.fullmatch(text), text
    return text


def _read_memo(text: str) -> dict[str, str] | None:
    if not text.startswith(_MARK) or not _MEMO.fullmatch(text.removeprefix(_MARK)):
        return None
    parts = (one.partition(":") for one in text.removeprefix(_MARK).split(","))
    return {key: value for key, _, value in parts}
