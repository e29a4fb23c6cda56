"""What is out of the agent's reach, however it is called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from amplifier_hooks.guards.policy.places import (
    Places,
    is_above_project_place,
    is_project_place,
    lies_at_project_place,
    list_places,
)

HIDDEN = "neither read nor write"
SEALED = "can make programs run"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home, with our folders in it."""
    folder = tmp_path.resolve() / "home"
    (folder / ".local/share/amplifier/audit").mkdir(parents=True)
    (folder / ".config/amplifier").mkdir(parents=True)
    (folder / ".local/share/amplifier/audit.key").write_text("key")
    return folder


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "project"
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/config").touch()
    return folder


def list_for(home: Path, *roots: Path, hidden: tuple[Path, ...] = ()) -> Places:
    return list_places(roots, {"HOME": str(home)}, hidden=hidden)


@pytest.mark.parametrize(
    "path",
    [
        ".local/share/amplifier",
        ".local/share/amplifier/audit/s-1/log",
        ".local/share/amplifier/audit.key",
        ".local/share/Amplifier/x",
        ".local/share/amplifier./x",
        "project/../.local/share/amplifier/x",
    ],
)
@pytest.mark.parametrize("writing", [True, False])
def test_our_data_is_hidden(home: Path, path: str, writing: bool) -> None:
    """Trail, keys, sessions and what was trusted: neither read nor written."""
    assert HIDDEN in str(list_for(home, home).find_refusal(home / path, writing=writing))


def test_a_trail_or_key_elsewhere_is_hidden(home: Path, tmp_path: Path) -> None:
    """Wherever the bundle says that it is."""
    places = list_for(home, home, hidden=(tmp_path / "trail",))
    assert HIDDEN in str(places.find_refusal(tmp_path / "trail" / "log", writing=False))


@pytest.mark.parametrize(
    "path",
    [
        ".config/amplifier/amplifier.yaml",
        ".bashrc",
        ".ssh/authorized_keys",
        ".config/systemd/user/x.service",
        ".config/fish/config.fish",
        ".local/bin/ls",
        ".claude/settings.json",
        ".gitconfig",
        "project/.git/hooks/pre-commit",
        "project/.git/config",
        "project/.git/commondir",
        "project/.GIT/Hooks/pre-commit",
        "project/.git./config",
        "project/.git::$INDEX_ALLOCATION/config",
        "project/git~1/config",
        "project/.claude/settings.json",
        "project/.CLAUDE/Settings.JSON",
        "project/deep/er/.claude/settings.local.json",
        "project/deep/er/.git/config",
        "project/deep/er/.mcp.json",
    ],
)
def test_what_runs_programs_is_sealed(home: Path, project: Path, path: str) -> None:
    """It can be read, and no tool writes there."""
    places = list_for(home, home)
    assert places.find_refusal(home / path, writing=False) is None
    assert SEALED in str(places.find_refusal(home / path, writing=True))


@pytest.mark.parametrize(
    "path",
    [
        "project/a.py",
        "project/.gitignore",
        "project/.github/workflows/ci.yml",
        "project/.claude/notes.md",
        "project/.vscode/snippets.json",
        "project/CLAUDE.md",
        "project/.envrc",
        "project/Makefile",
        ".cache/x",
    ],
)
def test_what_the_agent_works_on_is_free(home: Path, project: Path, path: str) -> None:
    """What the project itself runs is the agent's ordinary work."""
    assert list_for(home, home).find_refusal(home / path, writing=True) is None


@pytest.mark.parametrize("path", [".git", "sub/.git", ".claude", ".github", "sub/.vscode", ".hg"])
def test_no_file_takes_the_place_of_a_folder_on_the_way(home: Path, path: str) -> None:
    """`.git` as a file would send git elsewhere; `.claude` as one would be a link's beginning."""
    (home / "project").mkdir()
    places = list_for(home, home / "project")
    assert places.find_refusal(home / "project" / path, writing=True) is not None


@pytest.mark.parametrize("name", ["team.code-workspace", "sub/Team.Code-Workspace"])
def test_workspaces_of_an_editor_are_known_by_their_ending(
    home: Path, project: Path, name: str
) -> None:
    """File tools write none; of those at the top, commands change none that is there."""
    (project / "team.code-workspace").touch()
    places = list_for(home, project)
    assert SEALED in str(places.find_refusal(project / name, writing=True))
    assert places.find_refusal(project / name, writing=False) is None
    assert project / "team.code-workspace" in places.sealed


def test_what_an_editor_writes_all_the_time_is_not_put_back(home: Path, project: Path) -> None:
    """But no file tool writes it."""
    places = list_for(home, project)
    path = project / ".idea" / "workspace.xml"
    assert SEALED in str(places.find_refusal(path, writing=True))
    assert path not in places.sealed


@pytest.mark.parametrize(
    ("path", "anywhere", "at_top", "above"),
    [
        (".claude/settings.json", True, True, False),
        (".claude/hooks/x.sh", True, True, False),
        ("sub/.Claude/settings.json", True, False, False),
        (".claude", False, False, True),
        (".claude/notes.md", False, False, False),
        ("src/main.py", False, False, False),
        ("sub/x.code-workspace", True, False, False),
    ],
)
def test_places_of_a_project_are_known_by_their_names(
    path: str, anywhere: bool, at_top: bool, above: bool
) -> None:
    """Without looking at the disk."""
    one = Path(path)
    found = (is_project_place(one), lies_at_project_place(one), is_above_project_place(one))
    assert found == (anywhere, at_top, above)


def test_a_root_may_itself_lie_below_such_a_name(home: Path) -> None:
    """Names count from the root."""
    root = home / ".opencode" / "plugin" / "project"
    root.mkdir(parents=True)
    places = list_for(home, root)
    assert places.find_refusal(root / "a", writing=True) is None
    assert places.find_refusal(root / ".opencode/plugin/a", writing=True) is not None


def test_a_link_leads_to_what_it_leads_to(home: Path, project: Path) -> None:
    """Links to a folder or a file, and chains of them."""
    (project / "data").symlink_to(home / ".local/share/amplifier")
    (project / "chain").symlink_to("data")
    (project / "h").symlink_to(".git/hooks")
    places = list_for(home, project)
    assert HIDDEN in str(places.find_refusal(project / "chain/audit.key", writing=False))
    assert SEALED in str(places.find_refusal(project / "h/pre-commit", writing=True))


def test_another_name_of_a_file_is_that_file(home: Path, project: Path) -> None:
    """A hard link to a key is not read, one to a hook is not written."""
    (project / "copy").hardlink_to(home / ".local/share/amplifier/audit.key")
    (project / "settings").hardlink_to(project / ".git/config")
    places = list_for(home, project)
    assert HIDDEN in str(places.find_refusal(project / "copy", writing=False))
    assert SEALED in str(places.find_refusal(project / "settings", writing=True))
    assert places.find_refusal(project / "settings", writing=False) is None


def test_a_sealed_place_that_is_a_link_is_sealed_at_both_ends(home: Path, project: Path) -> None:
    """The link itself must not be led elsewhere, and what it leads to must not be changed."""
    (project / "shared").mkdir()
    (project / ".claude").symlink_to("shared")
    (home / ".bashrc").symlink_to(project / "bashrc")
    sealed = list_for(home, project).sealed
    assert {project / ".claude", project / "shared/settings.json"} <= set(sealed)
    assert project / "bashrc" in sealed
    assert all(path.parent == path.parent.resolve() for path in sealed)


def test_links_above_the_roots_are_not_listed(home: Path, tmp_path: Path) -> None:
    """Sealing `/home` where that is a link would seal everything behind it."""
    (tmp_path / "alias").symlink_to(home)
    (home / "project").mkdir()
    places = list_places([tmp_path / "alias" / "project"], {"HOME": str(tmp_path / "alias")})
    assert places.roots == (home / "project",)
    assert home / ".bashrc" in places.sealed
    assert not any(path.is_relative_to(tmp_path / "alias") for path in places.sealed)


def test_the_code_that_runs_the_agent_is_out_of_reach_where_it_lies_in_a_root() -> None:
    """Nobody rewrites a guard from inside; elsewhere nothing is listed."""
    package = Path(sys.modules["amplifier_hooks"].__file__ or "").parent
    places = list_places([package.parent])
    assert "the code that runs this agent" in str(
        places.find_refusal(package / "guards" / "policy" / "places.py", writing=True)
    )
    assert places.find_refusal(package / "guards" / "policy" / "places.py", writing=False) is None
    assert list_places([Path("/nowhere")]).code == ()


def test_settings_of_git_name_further_places(home: Path, project: Path) -> None:
    """Also those of the person."""
    (home / ".gitconfig").write_text("[core]\nhooksPath = ~/hooks\n")
    assert home / "hooks" in list_for(home, project).sealed


def test_zsh_reads_elsewhere_if_it_is_told_to(home: Path, project: Path) -> None:
    """ZDOTDIR."""
    env = {"HOME": str(home), "ZDOTDIR": str(project / "zsh")}
    assert project / "zsh/.zshrc" in list_places([project], env).sealed


def test_programs_at_home_are_sealed_where_shells_look_for_them(home: Path) -> None:
    """`~/bin` only if it is in PATH: a home may be a project with a `bin` of its own."""
    env = {"HOME": str(home), "PATH": f"/usr/bin:{home}/bin"}
    assert home / "bin" in list_places([home], env).sealed
    assert home / "bin" not in list_for(home, home).sealed
    assert home / ".local/bin" in list_for(home, home).sealed


def test_hidden_wins_where_a_place_is_both(tmp_path: Path) -> None:
    """A key below a sealed folder stays hidden, and the other way round."""
    inner = Places((tmp_path / "a/key",), (tmp_path / "a",))
    outer = Places((tmp_path / "a",), (tmp_path / "a/b",))
    assert inner.is_hidden(tmp_path / "a/key")
    assert not inner.is_hidden(tmp_path / "a")
    assert outer.is_hidden(tmp_path / "a/b/c")


def test_a_path_that_is_none_is_no_error(home: Path) -> None:
    """Too long, a loop of links: the tool itself says what is wrong."""
    (home / "loop").symlink_to("loop")
    places = list_for(home, home)
    assert places.find_refusal(home / ("a" * 5000), writing=True) is None
    assert places.find_refusal(home / "loop" / "x", writing=True) is None
    assert os.path.lexists(home / "loop")
