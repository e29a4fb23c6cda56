"""A project with a repository, archives and patches, some of which bring an agent's settings."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

from amplifier_hooks.guards.bash import list_all_commands, look_up_writes
from amplifier_hooks.guards.bash.file_lookup import Lookup

SETTINGS = ".claude/settings.json"
_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": "x@example.invalid"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


def git(folder: Path, *words: str) -> str:
    """Run git without anybody's settings."""
    ran = subprocess.run(
        ["git", *words], cwd=folder, env=_ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def write(path: Path, text: str) -> None:
    """A file with the folders around it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build(folder: Path) -> Path:
    """Branches: `same` and `feature` keep the settings, `evil` changes them, `gone` has none."""
    write(folder / SETTINGS, "{}\n")
    write(folder / "src" / "a.py", "1\n")
    write(folder / "README", "1\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    git(folder, "branch", "same")
    _branch(folder, "feature", "src/a.py", "2\n")
    _branch(folder, "evil", SETTINGS, '{"disableAllHooks": true}\n')
    git(folder, "checkout", "-q", "-b", "gone")
    git(folder, "rm", "-q", SETTINGS)
    git(folder, "commit", "-qm", "gone")
    git(folder, "checkout", "-q", "main")
    write(folder / SETTINGS, "{} \n")
    git(folder, "stash", "-q")
    _build_archives(folder)
    write(folder / "dot" / "settings.json", "{}")
    write(folder / "evil.patch", f"--- a/{SETTINGS}\n+++ b/{SETTINGS}\n@@ -1 +1 @@\n-x\n+y\n")
    write(folder / "fine.patch", "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-1\n+2\n")
    return folder


def _branch(folder: Path, name: str, path: str, text: str) -> None:
    git(folder, "checkout", "-q", "-b", name, "main")
    write(folder / path, text)
    git(folder, "commit", "-qam", name)
    git(folder, "checkout", "-q", "main")


def _build_archives(folder: Path) -> None:
    source = folder / "README"
    for name, inside in (("evil", SETTINGS), ("fine", "pkg/readme"), ("deep", f"one/{SETTINGS}")):
        for ending, mode in ((".tar", "w"), (".tgz", "w:gz"), (".txz", "w:xz")):
            with tarfile.open(folder / f"{name}{ending}", mode) as archive:  # type: ignore[call-overload]
                archive.add(source, inside)
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as packed:
            packed.write(source, inside)
    for name, inside in (("evil", SETTINGS), ("fine", "pkg/readme")):
        (folder / f"{name}.cpio").write_bytes(_write_cpio("README", inside, "TRAILER!!!"))
    with tarfile.open(folder / "link.tar", "w") as archive:
        link = tarfile.TarInfo(".claude")
        link.type, link.linkname = tarfile.SYMTYPE, "pkg"
        archive.addfile(link)


def _write_cpio(*names: str) -> bytes:
    """An archive of small files, in the form of `cpio -H newc`."""
    packed = b""
    for name in names:
        facts = (0, 0o100644, 0, 0, 1, 0, 3, 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % fact for fact in facts) + name.encode() + b"\0"
        packed += head + bytes(-len(head) % 4) + b"abc\0"
    return packed


def look_up(folder: Path, command: str) -> Lookup:
    """What a command would write of an agent's settings."""
    commands = list_all_commands(command)
    return look_up_writes(commands, [folder], folder / "home", lambda path: ".claude" in path)
