"""Which files of a command line are somebody's to change, and what their names mean."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from amplifier_hooks.machine.files import normalize
from amplifier_hooks.machine.locations import is_installed

_SCRIPT = re.compile(
    r"\.(?:sh|bash|zsh|ksh|fish|py|[cm]?js|[cm]?ts|tsx|rb|pl|php|lua|awk|sed|jq|ps1)$"
)
_SETTINGS = re.compile(r"\.(?:json|ya?ml|toml|ini|cfg)$")
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc", "/nix")))
_ENVIRONMENTS = frozenset({".venv", "venv", "node_modules", ".tox"})
_PROJECT = re.compile(r"\$\{?(?:CLAUDE|GEMINI|CURSOR|CODEX|COPILOT)_PROJECT_DIR\}?|\$\{?PWD\}?")
_HOME = re.compile(r"^(?:~|\$\{?HOME\}?)(?=/)")
_LONGEST = 1_000


def resolve(word: str, folder: Path) -> Path | None:
    """The file that a word of bash names, if that can be said."""
    text = re.sub(r"""["'\\]""", "", word)
    text = _HOME.sub(str(Path.home()), _PROJECT.sub(str(folder), text))
    if not text or set("$`\0*?[") & set(text) or len(text) > _LONGEST:
        return None
    return normalize(folder / text)


def is_own(path: Path) -> bool:
    """Whether a file may be somebody's of this project or home, and not the system's.

    What is installed in an environment of the project cannot be told apart from the rest of it,
    which no copy of one file would hold: it is run as it is.
    """
    outside = any(path.is_relative_to(place) for place in _SYSTEM)
    return not outside and not is_in_environment(path) and not is_installed(path)


def is_in_environment(path: Path) -> bool:
    """Whether a file belongs to packages that are installed in a project."""
    return not _ENVIRONMENTS.isdisjoint(path.parts)


def is_script(path: Path) -> bool:
    """Whether a file is a script: by its name, its mode or its first bytes."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return False
        if _SCRIPT.search(path.name) or found.st_mode & stat.S_IXUSR:
            return True
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(2) == b"#!"
    except (OSError, ValueError):
        return False


def is_part_of_script(path: Path) -> bool:
    """Whether a file that lies beside a script is one too, or may hold its settings."""
    return bool(_SETTINGS.search(path.name)) or is_script(path)
