"""The recipes in examples/: each folder runs, and shows what its README says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.examples.readme_console import CONSOLE, fits, read_commands, run_command

ROOT = Path(__file__).resolve().parents[2]
READMES = ROOT.glob("examples/*/README.md")
RECIPES = sorted(one.parent for one in READMES if one.parent.name != "hooks")
PAGES = ROOT / "docs" / "recipes"
LONGEST = 40


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person without keys, servers or sessions."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AMPLIFIER_PROVIDER", "AMPLIFIER_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("SLACK_WEBHOOK_URL", "AMPLIFIER_SERVER", "AMPLIFIER_TOKEN"):
        monkeypatch.setenv(name, "")  # programs set them; this takes that back
        monkeypatch.delenv(name)
    monkeypatch.setenv("TERM", "dumb")  # nobody is asked, wherever the tests run
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def recipe(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of a recipe's folder, which is the current one."""
    ignored = shutil.ignore_patterns("__pycache__", "out", "anchor", ".amplifier")
    given: Path = request.param
    folder = shutil.copytree(given, tmp_path / given.name, ignore=ignored)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("recipe", RECIPES, indirect=True, ids=lambda folder: folder.name)
def test_a_recipe_shows_what_its_readme_says(
    recipe: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each command of the README, in order, in a copy of the folder, without a key."""
    for command in read_commands(recipe / "README.md"):
        run_command(command)
        printed = "\n".join(capfd.readouterr())
        assert not command.list_missing(printed), printed[-4_000:]
    assert_customers_are_unknown(home)


def assert_customers_are_unknown(home: Path) -> None:
    """Nothing that was kept has an address of a customer in it, whichever recipe ran."""
    kept = [file for file in home.rglob("*") if file.is_file() and "trust" not in file.parts]
    assert not [file for file in kept if b"lovelace.example" in file.read_bytes()]


@pytest.mark.parametrize("folder", RECIPES, ids=lambda folder: folder.name)
def test_a_readme_is_short_and_leads_to_its_recipe(folder: Path) -> None:
    """A page explains it, shows the same consoles, and links back to the folder."""
    readme = (folder / "README.md").read_text(encoding="utf-8")
    page = (PAGES / f"{folder.name}.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= LONGEST
    assert f"(../../docs/recipes/{folder.name}.md)" in readme
    assert f"(../../examples/{folder.name}/README.md)" in page
    assert CONSOLE.findall(readme)
    for console in CONSOLE.findall(page):
        assert console in readme


def test_every_recipe_has_a_folder() -> None:
    """And every folder a recipe."""
    assert {page.stem for page in PAGES.glob("*.md")} - {"index"} == {one.name for one in RECIPES}


@pytest.mark.parametrize(
    ("shown", "line", "does"),
    [
        ("a … c", "a b c", True),
        ("a … c", "a b", False),
        ("a.c", "abc", False),
        ("…denied…", "it is denied here", True),
        ("denied", "it is denied here", False),
    ],
)
def test_a_line_fits_only_as_a_whole(shown: str, line: str, does: bool) -> None:
    """`…` stands for anything; everything else stands for itself."""
    assert fits(shown, line) is does
