"""A place where scripts run against programs that only leave marks, isolated from the machine.

Every program that a script can name is a stub of ours. Listed ones do their work; the others, and
programs of a listed name in another directory, are traps.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.hooks.guards.bash.generator.script_maker import PLAIN, WRAPPERS
from tests.support.isolation import isolate

_BUILTINS_ONLY = frozenset({":", "cd", "set", "shift", "wait", "hash", "jobs", "type", "let"})
_MARKS_ITSELF = "#!/bin/sh\necho {name} >> '{log}'\n"
_DOES_ITS_WORK = "#!/bin/sh\necho {name} >> '{log}'\nexec {real} \"$@\"\n"
_LOOKED_UP = tuple(name for name in PLAIN if name not in _BUILTINS_ONLY)
_FILES = {
    "f": "f\n",
    "g": "trapa\n",
    "names": "trapa\n",
    "script": "trapa\n",
    "-exec": "",
    ".git/config": "x\n",
    "trapa;trapa": "",
}
_PROTECTED = (".git/config", ".git/hooks", "../home/.bashrc", "../home/.profile", "../home/.ssh")


@dataclass(frozen=True, slots=True)
class Run:
    """What a script did: the traps it ran, and the protected files it changed."""

    script: str
    traps: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def is_bad(self) -> bool:
        return bool(self.traps or self.changed)


class Yard:
    """A folder with programs, a home and a working directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.home = root / "home"
        self._log = root / "log"
        self._build_programs()
        self._build_files(root / "template")

    def run_all(self, scripts: list[str], timeout: float = 500) -> list[Run]:
        """Run each script in a fresh working directory, all in one isolation."""
        settings = {"root": str(self.root), "bash": shutil.which("bash"), "protected": _PROTECTED}
        done = subprocess.run(
            isolate(
                [sys.executable, "-I", "-S", Path(__file__).with_name("yard_runner.py")],
                writable=[self.root],
            ),
            input=json.dumps({**settings, "scripts": scripts}),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found = json.loads(done.stdout)
        return [
            Run(script, tuple(m for m in marks if m.startswith("TRAP")), tuple(changed))
            for script, (marks, changed) in zip(scripts, found, strict=True)
        ]

    def _build_programs(self) -> None:
        for name in (*PLAIN, *WRAPPERS, "xxd"):
            real = shutil.which(name)
            if real is not None and name not in _BUILTINS_ONLY:
                self._write(f"bin/{name}", _DOES_ITS_WORK, name=name, real=real)
        for name in (
            "trapa",
            "trapb",
            "lS",
            "ls.sh",
            "a",
            "b",
            "f",
            "g",
            "EOF",
            "-n",
            "B",
            "x",
            "text",
        ):
            self._write(f"bin/{name}", _MARKS_ITSELF, name=f"TRAP-{name}")
        for name in ("ls", "cat", "echo", "sort", "grep", "trapc"):
            self._write(f"evil/{name}", _MARKS_ITSELF, name=f"TRAP-evil/{name}")

    def _build_files(self, root: Path) -> None:
        for folder in ("work/.git/hooks", "home/.ssh", "home/bin"):
            (root / folder).mkdir(parents=True)
        for name, text in _FILES.items():
            (root / "work" / name).write_text(text)
        (root / "home" / ".bashrc").write_text("trapa\n")
        # Wherever PATH may lead, programs of listed names are traps.
        self._write("trap", _MARKS_ITSELF, name="TRAP-$0")
        for folder in ("work", "work/evil", "work/0", "work/1", "work/2", "work/10", "home/bin"):
            (root / folder).mkdir(exist_ok=True)
            for name in (*_LOOKED_UP, "trapc"):
                (root / folder / name).symlink_to(self.root / "trap")

    def _write(self, path: str, text: str, **values: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(log=self._log, **values))
        file.chmod(0o755)
