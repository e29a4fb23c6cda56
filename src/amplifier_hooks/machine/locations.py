"""Locations of the person's settings and data, and of this program with what it uses."""

from __future__ import annotations

import os
import site
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

PACKAGES = ("amplifier_core", "amplifier_audit", "amplifier_hooks")
"""What this program consists of."""

_PARTS = ("stdlib", "platstdlib", "purelib", "platlib")


def is_installed(path: Path) -> bool:
    """Whether a path belongs to the program itself or to the environment that it runs in.

    Nothing that we load could be trusted if that were changed, so it is none of a project's files,
    even where the environment lies in the project's folder.
    """
    return any(path.is_relative_to(place) for place in _list_places())


@cache
def _list_places() -> tuple[Path, ...]:
    found = [*_iterate_places()]
    return tuple(dict.fromkeys(Path(os.path.normpath(one)) for place in found for one in place))


def _iterate_places() -> Iterator[tuple[str, str]]:
    """Each place as it is named, and as what it is behind links."""
    paths = sysconfig.get_paths()
    named = [paths[part] for part in _PARTS if part in paths]
    named += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    named += [str(Path(__file__).parents[2] / name) for name in PACKAGES]
    yield from ((one, os.path.realpath(one)) for one in named)


def get_user_name() -> str:
    """The owner of this process: at a terminal, that is who answers."""
    import pwd  # not on every system, and not needed for the folders

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def find_config_home(env: Mapping[str, str] | None = None) -> Path:
    """The folder for settings."""
    return _find("XDG_CONFIG_HOME", ".config", env)


def find_data_home(env: Mapping[str, str] | None = None) -> Path:
    """The folder for data."""
    return _find("XDG_DATA_HOME", ".local/share", env)


def _find(variable: str, below_home: str, env: Mapping[str, str] | None) -> Path:
    env = os.environ if env is None else env
    configured = Path(env.get(variable, ""))
    # A relative path must be ignored; an empty one is the same as none.
    if configured.is_absolute():
        return configured
    return Path(env.get("HOME") or Path.home()) / below_home
