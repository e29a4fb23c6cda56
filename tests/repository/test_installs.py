"""What each documented installation brings is all that it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from amplifier_hooks.modules.installation import list_requirements
from tests.docs.blocks import markdown_blocks
from tests.docs.test_examples import NEEDS_A_MODEL

ROOT = Path(__file__).parents[2]

# Only the named packages can be imported, as in an environment that has no others.
ONLY = """
import importlib.abc, sys

class Absence(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absence())
"""
OURS = ("amplifier-core", "amplifier-audit", "amplifier-hooks")
COMMAND = """
from amplifier_hooks.cli.main import main
sys.exit(main())
"""


def normalize(requirement: str) -> str:
    """The name of a package in a requirement, in the one spelling."""
    return re.split(r"[^\w.-]", requirement)[0].replace("_", "-").lower()


def collect_distributions(names: list[str]) -> set[str]:
    """The packages, and all that they need."""
    found: set[str] = set()
    waiting = [normalize(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # for another system
        found.add(name)
        waiting += [normalize(one) for one in needs if "extra ==" not in one]
    return found


def run_with(
    extras: list[str],
    arguments: list[str],
    folder: Path,
    program: str = COMMAND,
    distribution: str = "amplifier-hooks",
) -> subprocess.CompletedProcess[str]:
    """`amplifier`, or another program, where only some extras are installed."""
    wanted = [one for extra in extras for one in list_requirements(extra)]
    brought = collect_distributions([distribution, "pip", *wanted])
    others = {
        module
        for module, owners in metadata.packages_distributions().items()
        if not brought & {normalize(owner) for owner in owners}
    }
    # The files of what is used in place are not listed.
    others |= {one.replace("-", "_") for one in OURS if one not in brought}
    prepared = f"OTHERS = {others!r}\nimport sys; sys.argv[1:] = {arguments!r}\n{ONLY}{program}"
    return subprocess.run(
        [sys.executable, "-c", prepared],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )


# Those that ask a model are run with one: tests/docs/test_own_loop.py.
EMBEDDING = [
    one
    for one in markdown_blocks(ROOT / "docs" / "embedding.md")
    if not NEEDS_A_MODEL.search(one.source)
]


@pytest.mark.parametrize(
    ("distribution", "extras", "number"),
    [
        ("amplifier-core", [], 0),
        ("amplifier-core", [], 1),
        ("amplifier-hooks", [], 0),
        ("amplifier-hooks", [], 1),
        ("amplifier-hooks", ["policy"], 2),
    ],
)
def test_the_programs_for_embedding_run_with_what_their_page_says(
    distribution: str, extras: list[str], number: int, tmp_path: Path
) -> None:
    """The kernel alone for the first two, the guards' packages for the session."""
    block = EMBEDDING[number]
    done = run_with(extras, [], tmp_path, block.source, distribution)
    assert (done.returncode, done.stdout) == (0, block.output), done.stderr


def test_a_session_without_the_packages_of_its_guards_does_not_start(tmp_path: Path) -> None:
    """The last line says which package, and how to install it; nothing of the agent has run."""
    done = run_with([], [], tmp_path, EMBEDDING[2].source)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"tree_sitter.*pip install .*\[policy\]'", done.stderr.splitlines()[-1])
    assert not (tmp_path / "hello.txt").exists()
    assert len(EMBEDDING) == 3


def test_the_extra_cli_brings_the_guards_of_the_demonstration(tmp_path: Path) -> None:
    """A person who installs '.[cli]' is guarded, and sees all of it."""
    done = run_with(["cli"], ["demo"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "denied by hooks-command-guard" in done.stderr
    assert "the key from notes.txt is in no transcript or trail" in done.stdout
    assert "install it with" not in done.stdout + done.stderr


def test_without_any_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    """`pip install .` is for libraries."""
    done = run_with([], ["demo"], tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"The command line needs more packages: .*pip install .*\[cli\]'\n", done.stderr
    )


@pytest.mark.parametrize("extra", ["cli", "http", "anthropic", "openai", "policy", "audit"])
def test_the_environment_of_make_demo_has_what_the_readme_shows_next(extra: str) -> None:
    """After `make demo`, `amplifier run` works with a key of either provider."""
    text = (ROOT / "requirements.lock").read_text()
    pinned = {normalize(line) for line in text.splitlines() if not line.startswith(" ")}
    assert {normalize(one) for one in list_requirements(extra)} <= pinned


def test_nobody_is_told_to_install_us_by_name() -> None:
    """The name is on no public index: the command would fail, or install a stranger's package."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    by_name = re.compile(r"(pip|uv) install [^\n]*(?<!/)amplifier[-_]hooks|amplifier-hooks\[\w")
    assert [page.name for page in pages if by_name.search(page.read_text(encoding="utf-8"))] == []
