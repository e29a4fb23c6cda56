"""scripts/packages: what fills the environment, also behind a company's proxy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.package_index import Index, serve_index
from tests.support.scripts import load_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "packages"
UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
each_way = pytest.mark.parametrize("way", ["pip.conf", "the system's store"])


@pytest.fixture(scope="module")
def packages() -> ModuleType:
    """The script, as a module."""
    return load_script(SCRIPT)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index that only this machine trusts."""
    with serve_index(tmp_path) as index:
        yield index


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment without pip, as where ensurepip is missing."""
    venv.create(tmp_path / "my env", symlinks=True)
    return tmp_path / "my env"


def install(environment: Path, index: Index, way: str) -> subprocess.CompletedProcess[str]:
    """With nothing in the environment but what leads to the index."""
    config = environment.parent / "pip.conf"
    config.write_text(f"[global]\nindex-url = {index.address}\ncert = {index.authority}\n")
    ways = {
        "pip.conf": {"PIP_CONFIG_FILE": str(config)},
        "the system's store": {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": index.address,
            "SSL_CERT_FILE": str(index.authority),
            "PIP_USER": "1",
        },
    }
    lock = environment.parent / "some.lock"
    lock.write_text(f"tiny-package==1.0 --hash=sha256:{index.digest}\n")
    own = {"PATH": os.defpath, "HOME": str(environment.parent), "PIP_RETRIES": "0"}
    python = str(environment / "bin" / "python")
    command = [python, str(SCRIPT), "install", str(lock)]
    return subprocess.run(
        command,
        env=own | ways[way],
        capture_output=True,
        text=True,
        timeout=100,
    )


def has_package(environment: Path) -> bool:
    return any(environment.glob("lib/python*/site-packages/tiny_package.py"))


@each_way
def test_uv_uses_the_index_and_the_certificates_that_pip_does(
    way: str, environment: Path, index: Index
) -> None:
    """Nothing has to be configured twice."""
    if UV is None:
        pytest.skip("uv is not installed")
    (environment / "bin" / "uv").symlink_to(UV)
    done = install(environment, index, way)
    assert (done.returncode, done.stderr) == (0, "")
    assert has_package(environment)
    assert index.clients == {"uv"}


def test_what_uv_cannot_pip_does(environment: Path, index: Index) -> None:
    """And one line says so, with the cause."""
    broken = environment / "bin" / "uv"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exit\n'
        "printf 'error: no luck\\n  Caused by: odd weather\\n' >&2; exit 2\n"
    )
    broken.chmod(0o755)
    done = install(environment, index, "the system's store")
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "scripts/packages: uv could not do it (odd weather); pip does it now, which takes longer\n"
    )
    assert has_package(environment)
    assert index.clients == {"pip"}


@pytest.mark.slow
def test_where_uv_cannot_be_had_pip_does_all(environment: Path, index: Index) -> None:
    """This index does not have it, for one."""
    done = install(environment, index, "pip.conf")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("scripts/packages: there is no uv for this machine; pip does ")
    assert index.clients == {"pip"}


@pytest.mark.slow
def test_a_wrong_hash_is_refused_by_both(environment: Path, index: Index) -> None:
    """Falling back loosens nothing."""
    index.digest = "0" * 64
    if UV is not None:
        (environment / "bin" / "uv").symlink_to(UV)
    done = install(environment, index, "pip.conf")
    assert done.returncode != 0
    assert "hash" in done.stderr.lower()
    assert not has_package(environment)


def test_a_variable_is_stronger_than_a_section_and_that_than_all(packages: ModuleType) -> None:
    """As pip itself sorts its settings."""
    listed = (
        "global.index-url='https://a.test'\n"
        "install.index-url='https://b.test'\n"
        ":env:.cert='/c.pem'\n"
        "global.cert='/d.pem'\n"
        "download.index-url='https://e.test'\n"
        "global.find-links='\\nx\\ny'\n"
        "a line that is none"
    )
    assert packages.parse_settings(listed) == {
        "index-url": "https://b.test",
        "cert": "/c.pem",
        "find-links": "x\ny",
    }


def test_uv_is_told_in_its_own_words(packages: ModuleType) -> None:
    """Lists have the separators of uv; what it was told by name stays."""
    settings = {
        "index-url": "https://a.test",
        "extra-index-url": "https://b.test\nhttps://c.test",
        "find-links": "/x\n/y",
        "proxy": "http://proxy.test:3128",
        "cert": "/company.pem",
        "quiet": "1",
    }
    told = packages.choose_uv_environment(settings, {"PATH": "/bin", "UV_INDEX": "https://d.test"})
    assert told.pop("UV_SYSTEM_CERTS", "true") == "true"
    assert told == {
        "PATH": "/bin",
        "UV_DEFAULT_INDEX": "https://a.test",
        "UV_INDEX": "https://d.test",
        "UV_FIND_LINKS": "/x,/y",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "ALL_PROXY": "http://proxy.test:3128",
        "SSL_CERT_FILE": "/company.pem",
    }


def test_neither_pip_nor_uv_is_a_sentence(environment: Path, index: Index) -> None:
    """It says what would do."""
    program = f"""
import runpy, sys
sys._base_executable = ""
sys.argv = ["packages", "install", "tiny-package"]
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")
"""
    command = [str(environment / "bin" / "python"), "-c", program]
    done = subprocess.run(command, env={"PATH": "/nowhere"}, capture_output=True, text=True)
    assert done.returncode == 1
    assert "there is neither pip nor uv; install one of them" in done.stderr
    assert "Traceback" not in done.stderr
