"""An agent under attack: it runs every attack behind a wall and reports what came of it.

It is a program of its own, so that a test can run it in isolation:

    run_attacks(["shell", "python"], tmp_path, kind="landlock", abi=7)
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from amplifier_hooks.sandbox import landlock, process
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall
from tests.support import attacks
from tests.support.isolation import isolate, require_isolation

KEY = "the-key-itself"
_SHOWN_AT = "/mnt"  # not in /tmp, which some walls replace by another one
_TABLES: dict[str, dict[str, str]] = {
    "shell": attacks.SHELL,
    "python": attacks.PYTHON,
    "limits": attacks.LIMITS,
    "network": attacks.NETWORK,
    "usual": attacks.USUAL,
}


def run_attacks(tables: Sequence[str], folder: Path, **how: Any) -> dict[str, tuple[int, str]]:
    """The status of every attack and what it printed; nothing outside may have changed."""
    require_isolation()
    folder.mkdir(parents=True, exist_ok=True)
    order = json.dumps({"tables": list(tables), "folder": _SHOWN_AT, **how})
    program = [sys.executable, "-m", "tests.support.attack_driver", order]
    done = subprocess.run(
        isolate(program, writable=[folder], user=1000, shown_at=_SHOWN_AT),
        capture_output=True,
        text=True,
        timeout=50,
        env={**os.environ, "HOME": f"{_SHOWN_AT}/home", "SECRET_OF_AGENT": KEY},
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told["untouched"], told["reports"]
    return {name: (code, printed) for name, (code, printed) in told["reports"].items()}


def main() -> None:
    """Run what the argument says and print the reports."""
    order = json.loads(sys.argv[1])
    if order.get("abi"):
        for module in (landlock, process):
            module.query_abi = lambda: order["abi"]  # type: ignore[attr-defined]
    print(json.dumps(asyncio.run(_attack(order))))  # noqa: T201


async def _attack(order: dict[str, Any]) -> dict[str, Any]:
    folder = Path(order["folder"])
    for name in ("outside", "hidden", "temporary", "home", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "hidden" / "key").write_text(KEY)
    (folder / "home" / ".bashrc").write_text("")
    (folder / "outside" / "victim").write_text("untouched")
    reports: dict[str, Any] = {}
    with _serve(folder) as services:
        for table in order["tables"]:
            reports |= await _run(folder, table, services, order)
    return {"reports": reports, "untouched": _is_untouched(folder)}


async def _run(
    folder: Path, table: str, services: dict[str, str], order: dict[str, Any]
) -> dict[str, Any]:
    wall = Wall(
        writable=(folder / "root",),
        hidden=(folder / "hidden",),
        sealed=(),
        temporary=folder / "temporary",
        network=order.get("network", "allow"),
        kind=order.get("kind", "landlock"),
    )
    env = {
        **{key: os.environ[key] for key in ("PATH", "HOME")},
        **services,
        "OUT": str(folder / "outside"),
        "HIDDEN": str(folder / "hidden"),
        "AGENT": str(os.getpid()),
    }
    write = attacks.write_python if table in ("python", "network") else attacks.write_shell
    left_out = order.get("without", ())
    command = write({k: v for k, v in _TABLES[table].items() if k not in left_out})
    root = folder / "root" / table
    root.mkdir()
    outcome = await run_command(command, cwd=root, env=env, wall=wall, timeout=40)
    assert outcome.returncode in (0, 1), outcome
    return attacks.read_reports(outcome.stdout)


def _is_untouched(folder: Path) -> bool:
    outside, hidden = folder / "outside", folder / "hidden"
    names = [path.name for place in (outside, hidden) for path in place.iterdir()]
    return (
        names == ["victim", "key"]
        and (outside / "victim").read_text() == "untouched"
        and (hidden / "key").read_text() == KEY
        and (folder / "home" / ".bashrc").read_text() == ""
    )


@contextmanager
def _serve(folder: Path) -> Iterator[dict[str, str]]:
    """Services of the person that a command must not reach."""
    with (
        socket.socket(socket.AF_UNIX) as service,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket() as port,
    ):
        # Relative: the path of a Unix socket has to be short.
        os.chdir(folder)
        service.bind("service")
        datagrams.bind("datagrams")
        abstract.bind("\0amplifier-test")
        port.bind(("127.0.0.1", 0))
        for one in (service, abstract, port):
            one.listen()
        yield {
            "SERVICE": "../../service",
            "DATAGRAMS": "../../datagrams",
            "ABSTRACT": "amplifier-test",
            "PORT": str(port.getsockname()[1]),
        }


if __name__ == "__main__":
    main()
