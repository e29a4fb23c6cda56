"""launch.json: how to start the resident process, as the installation wrote it down."""

from __future__ import annotations

import json
import os
import stat
from typing import Any, NamedTuple

_LONGEST = 1_000_000
NAME = "launch.json"
SYSTEM = "/etc/amplifier/guests/launch.json"
"""For users who have installed nothing themselves; no variable moves it."""


class Launch(NamedTuple):
    """A command line and its whole environment, and where HTTP is served, if it is."""

    argv: list[str]
    env: dict[str, str]
    http: dict[str, Any] | None = None


def read_launch(folder: bytes) -> Launch:
    """What the file says; ValueError is a sentence about what is wrong with it.

    In a folder without one, what the administrator of the machine has written down holds.
    """
    path = os.fsdecode(folder) + "/" + NAME
    if not os.path.lexists(path) and os.path.lexists(SYSTEM):
        shared = _read(SYSTEM, owner=0)
        return Launch([*shared.argv, os.fsdecode(folder)], {**shared.env, **_describe_user()})
    return _read(path, owner=os.geteuid())


def _read(path: str, owner: int) -> Launch:
    try:
        data = json.loads(_read_private(path, owner))
    except OSError as failure:
        raise ValueError(f"{path}: {failure.strerror}; install the guard again") from failure
    except (ValueError, RecursionError) as failure:
        raise ValueError(f"{path} is no JSON ({failure}); install the guard again") from failure
    if not _is_launch(data):
        raise ValueError(f"{path} does not say what to start; install the guard again")
    return Launch(data["argv"], data["env"], data.get("http"))


def _describe_user() -> dict[str, str]:
    """What a login would set, whatever the environment says."""
    import pwd

    user = pwd.getpwuid(os.geteuid())
    names = {"USER": user.pw_name, "LOGNAME": user.pw_name}
    return {"HOME": user.pw_dir, "SHELL": user.pw_shell or "/bin/sh", **names}


def _read_private(path: str, owner: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LONGEST:
            raise PermissionError(1, "this is not a small file")
        if facts.st_uid != owner or facts.st_mode & 0o022:
            raise PermissionError(1, "somebody else can write to it")
        return file.read()


def _is_launch(data: Any) -> bool:
    if not isinstance(data, dict):
        return False
    argv = data.get("argv")
    env = data.get("env")
    return (
        isinstance(argv, list)
        and bool(argv)
        and isinstance(env, dict)
        and all(isinstance(word, str) and "\0" not in word for word in (*argv, *env, *env.values()))
        and argv[0].startswith("/")
    )
