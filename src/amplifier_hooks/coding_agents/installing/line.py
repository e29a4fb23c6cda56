"""The shell line that is written into an agent's settings: the client, and what if it fails."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from amplifier_core.errors import AmplifierError
from amplifier_hooks.coding_agents.client import client

MARK = "# amplifier-guest"
"""At the end of every line of ours."""
OWN_FOLDER = Path(client.OWN_FOLDER.decode())
"""In the place of a folder, in a line for every user: the client finds that of its caller."""

_CLIENT = Path(__file__).parents[1] / "client" / "command.py"
_NOT_JUDGED = "amplifier: this was not judged, so it is not allowed"
# At a stop, the exit codes 2 and 127 make some agents go on for ever.
_ENDS = {True: f"{{ echo '{_NOT_JUDGED}' >&2; exit 2; }}", False: "exit 1"}


class UnusablePath(AmplifierError):
    """A path that cannot be written into a settings file."""


@dataclass(frozen=True, slots=True)
class GuestCommand:
    """What every line of an installation begins with."""

    python: Path
    client: Path
    folder: Path

    def build_line(
        self,
        agent: str,
        event: str,
        seconds: float,
        *,
        gate: bool,
        bundle: Path | None = None,
        refusal: str = "",
    ) -> str:
        """The line for one event. A gate that cannot judge blocks, by its exit code or by what it
        prints; anything else only fails."""
        words = [_quote(self.python), "-I", "-S", _quote(self.client), _quote(self.folder)]
        words += [agent, event, f"{seconds:g}"]
        if bundle is not None:
            words.append(_quote(bundle))
        end = f"echo {shlex.quote(refusal)}" if refusal else _ENDS[gate]
        return f"{' '.join(words)} || {end} {MARK}"


def make_guest_command(folder: Path) -> GuestCommand:
    """Of this installation of ours: its client, and an interpreter that is not a shim."""
    base = getattr(sys, "_base_executable", "") or sys.executable
    return GuestCommand(Path(os.path.realpath(base)), _CLIENT, folder)


def list_words(line: str) -> list[str]:
    """The words of a line of ours before its `||`, from the interpreter to the bundle."""
    try:
        words = shlex.split(line.removesuffix(MARK))
    except ValueError:
        return []
    return words[: words.index("||")] if "||" in words else []


def resolve_folder(word: str | Path) -> Path:
    """The folder that a line names, or that of the caller, where it is a line for every user."""
    if Path(word) != OWN_FOLDER:
        return Path(word)
    return Path(os.fsdecode(client.find_own_folder()))


def is_line(text: object) -> bool:
    """Whether a command is ours."""
    return isinstance(text, str) and text.rstrip().endswith(MARK)


def _quote(path: Path) -> str:
    """A path as one word of the shell."""
    text = str(path)
    if any(ord(one) < 32 or ord(one) == 127 or 0xD800 <= ord(one) < 0xE000 for one in text):
        raise UnusablePath(
            f"{text!r} holds characters that settings files and shells cannot carry; "
            "move it to a path without them"
        )
    return "'" + text.replace("'", "'\"'\"'") + "'"
