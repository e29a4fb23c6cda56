"""An auditor copies one folder and needs nothing but Python."""

from __future__ import annotations

import ast
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import amplifier_audit
from amplifier_audit.anchors import anchor_to_file
from amplifier_audit.settings import AuditSettings
from tests.audit.support import FAST, OTHER, SIGNER, first_segment, write_log

PACKAGE = Path(amplifier_audit.__file__).parent
# Each may use what the standard library lacks, where that is installed.
EXTRAS = {
    "encoding.py": {"pydantic_core"},
    "keys.py": {"cryptography"},
}


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder with the package, and nothing else."""
    shutil.copytree(
        PACKAGE, tmp_path / "alone" / "amplifier_audit", ignore=shutil.ignore_patterns("*.pyc")
    )
    return tmp_path / "alone"


def run_alone(alone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in that folder, without the packages that are installed."""
    return subprocess.run(
        [sys.executable, "-S", "-E", "-s", "-W", "error", *arguments],
        cwd=alone,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_installed_packages_there_are_none(alone: Path) -> None:
    """The other tests here would prove nothing."""
    for name in ("pydantic", "pydantic_core", "cryptography", "yaml", "amplifier_core"):
        assert run_alone(alone, "-c", f"import {name}").returncode == 1


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_file_needs_the_standard_library_only(path: Path) -> None:
    """Apart from the three that make use of more where it is there."""
    allowed = {*sys.stdlib_module_names, "amplifier_audit"}
    allowed |= EXTRAS.get(path.relative_to(PACKAGE).as_posix(), set())
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= allowed


async def test_a_signed_log_is_verified_against_its_anchors(alone: Path, tmp_path: Path) -> None:
    """Signatures too, in plain Python; and another key, an edit and a cut are found."""
    anchors = (anchor_to_file(tmp_path / "anchors"),)
    settings = AuditSettings(segment_bytes=4000, checkpoint_seconds=60)
    await write_log(tmp_path / "log", 30, settings, signer=SIGNER, anchors=anchors)
    log, kept = str(tmp_path / "log"), str(tmp_path / "anchors")
    verify = ("-m", "amplifier_audit", "verify", log, "--anchor", kept)
    done = run_alone(alone, *verify, "--key", SIGNER.public)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("PROVEN")
    assert "0 signatures" not in done.stdout
    assert run_alone(alone, *verify, "--key", OTHER.public).returncode == 5
    content = first_segment(tmp_path / "log").read_bytes()
    first_segment(tmp_path / "log").write_bytes(content.replace(b'"n":3', b'"n":4'))
    done = run_alone(alone, *verify)
    assert done.returncode == 5
    assert "edit at record 5" in done.stdout


async def test_segments_are_verified_side_by_side(alone: Path, tmp_path: Path) -> None:
    """The other processes find the package where it was copied to."""
    await write_log(tmp_path / "log", 30, AuditSettings(segment_bytes=4000), signer=SIGNER)
    program = """
import sys
from amplifier_audit import load_verifier, open_log
from amplifier_audit.parallel import list_tasks
from amplifier_audit.parallel import verify_side_by_side
from amplifier_audit.line_verifier import LineVerifier
paths = open_log(sys.argv[1]).paths
tasks = list_tasks(LineVerifier(key=load_verifier(sys.argv[2])), paths, 0, None)
print(sorted(verify_side_by_side(tasks, 2)) == list(range(len(paths))), len(paths) > 2)
"""
    done = run_alone(alone, "-c", program, str(tmp_path / "log"), SIGNER.public)
    assert (done.stdout, done.stderr) == ("True True\n", "")


async def test_records_and_values_are_read(alone: Path, tmp_path: Path) -> None:
    """Also those of the side store."""
    log = await amplifier_audit.AuditLog.open(tmp_path / "log", AuditSettings(values="committed"))
    log.append("user_message", {"text": "héllo"})
    await log.close()
    program = """
import json, pathlib, sys
from amplifier_audit import open_log, read_records
from amplifier_audit.value_store import reveal
log = pathlib.Path(sys.argv[1])
records = reveal(read_records(open_log(log)), log / "values.db")
print(json.dumps([record["body"] for record in records if record["type"] == "user_message"]))
"""
    done = run_alone(alone, "-c", program, str(tmp_path / "log"))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [{"text": "héllo"}]


def test_a_log_is_written_too(alone: Path, tmp_path: Path) -> None:
    """Unsigned: the encoder of the standard library is slower, not another one."""
    program = """
import asyncio, sys
from amplifier_audit import AuditLog, verify
async def main():
    log = await AuditLog.open(sys.argv[1])
    log.append("dispatch", {"n": 1, "odd": float("nan"), "text": chr(233)})
    await log.close()
    print(verify(sys.argv[1]).verdict)
asyncio.run(main())
"""
    done = run_alone(alone, "-c", program, str(tmp_path / "log"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "consistent\n", "")
    assert amplifier_audit.verify(tmp_path / "log").verdict == "consistent"


def test_signing_says_what_it_needs(alone: Path, tmp_path: Path) -> None:
    """One sentence, not a traceback of imports."""
    program = """
import sys
from amplifier_audit import BadKey, create_key
try:
    create_key(sys.argv[1])
except BadKey as error:
    print(error)
"""
    done = run_alone(alone, "-c", program, str(tmp_path / "key"))
    assert f"pip install -p {shlex.quote(sys.executable)} 'cryptography>=46'" in done.stdout


async def test_verifying_writes_nothing_into_the_log(alone: Path, tmp_path: Path) -> None:
    """It may be evidence, on a volume that cannot be written."""
    await write_log(tmp_path / "log", 5, FAST)

    def look() -> dict[str, tuple[int, int]]:
        paths = [tmp_path / "log", *(tmp_path / "log").rglob("*")]
        return {str(one): (one.stat().st_mtime_ns, one.stat().st_size) for one in paths}

    before = look()
    assert (
        run_alone(alone, "-m", "amplifier_audit", "verify", str(tmp_path / "log")).returncode == 3
    )
    assert look() == before


# What Windows' Python lacks; such a machine is not at hand.
WITHOUT_POSIX = """
import os, runpy, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "grp", "pwd", "resource", "termios"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for module in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules.pop(module, None)
sys.meta_path.insert(0, Absent())
for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "geteuid", "getuid", "fork",
             "register_at_fork", "sched_getaffinity"):
    delattr(os, name)
if hasattr(os, "process_cpu_count"):  # where affinity is not known, as os.py has it
    os.process_cpu_count = os.cpu_count
runpy.run_module("amplifier_audit", run_name="__main__")
"""


async def test_a_log_is_verified_without_what_only_posix_has(alone: Path, tmp_path: Path) -> None:
    """Reading and verifying a trail works wherever Python does."""
    anchors = (anchor_to_file(tmp_path / "anchors"),)
    settings = AuditSettings(segment_bytes=4000, checkpoint_seconds=60)
    await write_log(tmp_path / "log", 30, settings, signer=SIGNER, anchors=anchors)
    verify = [
        *("verify", str(tmp_path / "log"), "--key", SIGNER.public),
        *("--anchor", str(tmp_path / "anchors")),
    ]
    for option in ("--save", "--since"):
        command = [*verify, option, str(tmp_path / "position")]
        done = run_alone(alone, "-c", WITHOUT_POSIX, *command)
        usual = run_alone(alone, "-m", "amplifier_audit", *command)
        assert (done.returncode, done.stdout, done.stderr) == (usual.returncode, usual.stdout, "")
        assert done.stdout.startswith("PROVEN" if option == "--save" else "CONSISTENT")


def test_writing_without_locks_is_refused_in_one_sentence(alone: Path, tmp_path: Path) -> None:
    """Two writers would spoil one log."""
    program = WITHOUT_POSIX.replace(
        'runpy.run_module("amplifier_audit", run_name="__main__")',
        """
import asyncio
from amplifier_audit import AuditLog
from amplifier_audit.errors import AuditError
try:
    asyncio.run(AuditLog.open(sys.argv[1]))
except AuditError as error:
    print(error)
""",
    )
    done = run_alone(alone, "-c", program, str(tmp_path / "log"))
    assert "Writing a log needs file locks" in done.stdout, done.stderr
