"""Programs of a project: its own tools before those of the machine."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator


def _check_not_empty(command: str | tuple[str, ...]) -> str | tuple[str, ...]:
    program = command if isinstance(command, str) else "".join(command[:1])
    if not program.strip():
        raise ValueError("must be a command line such as 'pytest -q', or a list of arguments")
    return command


Command = Annotated[str | tuple[str, ...], AfterValidator(_check_not_empty)]


def build_search_path(directory: str) -> str:
    """The project's node modules, then the PATH, then the tools that are installed beside us."""
    own = str(Path(directory) / "node_modules" / ".bin")
    return os.pathsep.join(
        [own, os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    )


def find_program(name: str, directory: str) -> str | None:
    """The full path of a program, or None."""
    return shutil.which(name, path=build_search_path(directory))


def list_binding_words(path: str | None = None) -> Sequence[str]:
    """Words before a command that end it when our process is killed, where there are such."""
    setpriv = shutil.which("setpriv", path=path) if sys.platform == "linux" else None
    words = () if setpriv is None else (setpriv, "--pdeathsig", "KILL", "--")
    return words if words and _is_understood(words) else ()


@cache
def _is_understood(words: tuple[str, ...]) -> bool:
    """Whether the program knows these options: not every one of this name does."""
    try:
        ran = subprocess.run([*words, "true"], capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return False
    return ran.returncode == 0


def build_environment(directory: str) -> dict[str, str]:
    """Our environment, with the search path of the project and without colours."""
    return {**os.environ, "PATH": build_search_path(directory), "NO_COLOR": "1", "PY_COLORS": "0"}


def fill_command(command: Command, **values: str) -> str | list[str]:
    """Fill in `{file}` and the like; in shell text, the values are quoted."""
    if isinstance(command, str):
        return _replace(command, {key: shlex.quote(value) for key, value in values.items()})
    return [_replace(part, values) for part in command]


def _replace(text: str, values: dict[str, str]) -> str:
    # Not `str.format`: commands hold braces of their own. In one pass: so may the values.
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def get_program_name(command: Command | Sequence[str]) -> str:
    """The program's name, for messages."""
    words = command.split() if isinstance(command, str) else list(command)
    return Path(words[0]).name if words else "?"
