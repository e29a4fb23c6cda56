"""The person whose process this is: what the machine calls them, and where their files are.

The folders follow the XDG rules.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


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
