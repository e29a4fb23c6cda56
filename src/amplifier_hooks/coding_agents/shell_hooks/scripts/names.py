"""The files that a command line names anywhere: in quotes, behind options, in code for a shell.

They are trusted with the command, and a hook does not run when one of them has changed since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from amplifier_hooks.coding_agents.shell_hooks.scripts.places import is_own, is_script, resolve
from amplifier_hooks.machine.files import normalize, read_regular

_PIECE = re.compile(r"""(>{1,2}&?\s*)?([^\s;&|<>()"'`=,{}]+)""")
_EXPANSIONS = re.compile(r"^[^/]*\$[^/]*(?=/)|^\)*(?=/)")
_MODULE = re.compile(r"-m\s+([A-Za-z_][\w.]*)")
_PYTHON = re.compile(r"\bpython[\d.]*\s(?:.*\s)?-\w*[mc]\b")
_MOST = 400


def list_named(texts: Sequence[str], folder: Path) -> list[Path]:
    """Every file that the texts may name, whether it is there or not."""
    pieces = [piece for text in texts for piece in _list_pieces(text)][:_MOST]
    found = [path for piece in pieces for path in _resolve(piece, folder)]
    # Behind `cd`, names start from the folder that was gone to.
    gone_to = [path for path in dict.fromkeys(found) if path != folder and path.is_dir()][:5]
    found += [path for place in gone_to for piece in pieces for path in _resolve(piece, place)]
    found += list_modules(texts, folder)
    return [path for path in dict.fromkeys(found) if is_own(path)]


def _list_pieces(text: str) -> Iterator[str]:
    for redirected, piece in _PIECE.findall(text):
        if not redirected:  # that one is written, not run
            yield piece


def _resolve(piece: str, folder: Path) -> Iterator[Path]:
    """A name as it is, and what is left of it when a value that nobody knows is taken away."""
    for text in dict.fromkeys((piece, _EXPANSIONS.sub(".", piece))):
        path = resolve(text, folder)
        if path is not None:
            yield path


def list_modules(texts: Sequence[str], folder: Path) -> list[Path]:
    """The files of modules that Python is told to run, were they in the folder."""
    names = _MODULE.findall(" ".join(texts))
    return [path for name in names for path in _list_module_files(name, folder)]


def _list_module_files(name: str, folder: Path) -> list[Path]:
    place = normalize(folder.joinpath(*name.split(".")))
    top = normalize(folder / name.partition(".")[0])
    return [
        place.with_name(f"{place.name}.py"),
        place / "__main__.py",
        place / "__init__.py",
        top.with_name(f"{top.name}.py"),
        top / "__init__.py",
    ]


def runs_modules(texts: Sequence[str]) -> bool:
    """Whether Python is given a module or code, and would look for modules in the folder first."""
    return _PYTHON.search(" ".join(texts)) is not None


def find_changed(expected: Mapping[Path, bytes | None]) -> Path | None:
    """The first file that is not what it was; one that was no script must not have become one."""
    return next((path for path, content in expected.items() if _is_other(path, content)), None)


def _is_other(path: Path, content: bytes | None) -> bool:
    if content is None:
        return is_script(path)
    try:
        return read_regular(path) != content
    except OSError:
        return True
