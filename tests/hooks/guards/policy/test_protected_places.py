"""Names that a file system, or a person, may take for one another."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_hooks.guards.policy import protected_places
from amplifier_hooks.guards.policy.protected_places import (
    FileIdentities,
    ProtectedPlaces,
    find_mounted,
    fold_name,
    fold_path,
    get_identity,
    is_above_project_place,
    is_project_place,
    lies_at_project_place,
    list_aliases,
    list_places,
)
from amplifier_hooks.sandbox.landlock import query_abi
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall


@pytest.mark.parametrize(
    "name",
    [
        ".GIT",
        ".Git",
        ".git.",
        ".git ",
        ".git. .",
        ".git::$INDEX_ALLOCATION",
        ".git:stream",
        ".g\u200cit",
        "\ufeff.git",
        ".ｇｉｔ",
        "GIT~1",
        "git~12",
    ],
)
def test_a_disguise_folds_to_the_name(name: str) -> None:
    """Letter case, trailing dots, streams, unseen and full-width letters, short names."""
    assert fold_name(name) == ".git"


@pytest.mark.parametrize("name", [".gitignore", "git", ".gitea", "gitconfig", "git~x", ".github"])
def test_another_name_stays_another_name(name: str) -> None:
    """Only what some file system takes for the same is the same."""
    assert fold_name(name) != ".git"


@pytest.mark.parametrize("name", ["...", ":", " ", ".", "::$DATA"])
def test_a_name_of_nothing_but_tricks_stays_itself(name: str) -> None:
    """An empty component would match too much."""
    assert fold_name(name) == name


@given(st.text(min_size=1))
@example(":Ù")
def test_composition_and_case_never_matter(name: str) -> None:
    """Both forms of an accented letter are one name."""
    folded = fold_name(name)
    assert fold_name(unicodedata.normalize("NFD", name)) == fold_name(
        unicodedata.normalize("NFC", name)
    )
    assert fold_name(folded) == folded or folded == name


def test_a_path_folds_by_component() -> None:
    """Without its anchor."""
    assert fold_path(Path("/Home/A/.Git/Config")) == ("home", "a", ".git", "config")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of which everything is on another disk."""
    folder = tmp_path / "data/amplifier"
    (folder / "sessions").mkdir(parents=True)
    disk = tmp_path / "disk"
    for name in ("audit", "one", "further"):
        (disk / name).mkdir(parents=True)
        (disk / name / "record").write_text("secret of ours")
    (disk / "audit.key").write_text("secret of ours")
    (folder / "audit").symlink_to(disk / "audit")
    (folder / "audit.key").symlink_to(disk / "audit.key")
    (folder / "sessions/one").symlink_to(disk / "one")
    (disk / "one/more").symlink_to(disk / "further")
    return folder


def test_targets_of_links_are_hidden(data: Path, tmp_path: Path) -> None:
    """Folders and files, one and two levels down, and what they link to in turn."""
    disk = tmp_path.resolve() / "disk"
    wanted = {disk / name for name in ("audit", "audit.key", "one", "further")}
    assert set(list_aliases([data])) == wanted
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    places = list_places([tmp_path / "project"], env)
    assert wanted <= set(places.hidden)
    assert places.find_refusal(disk / "audit/record", writing=False)


def test_what_holds_the_project_stays_open(data: Path, tmp_path: Path) -> None:
    """A link to it would otherwise close everything."""
    (data / "backups").symlink_to(tmp_path)
    assert tmp_path.resolve() not in list_aliases([data], [tmp_path.resolve() / "project"])


def test_a_link_in_a_circle_ends(data: Path) -> None:
    """Each folder is looked at once."""
    (data / "circle").symlink_to(data)
    (data / "nowhere").symlink_to(data / "nowhere")
    assert len(list_aliases([data])) >= 4


@pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
async def test_a_command_reads_nothing_of_it(data: Path, tmp_path: Path) -> None:
    """Behind the wall, by the link and by the name on the other disk."""
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    project.mkdir()
    temporary.mkdir()
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    hidden = list_places([project], env).hidden
    files = [*data.rglob("*"), *(tmp_path / "disk").rglob("*")]
    wall = Wall((project.resolve(),), hidden, (), temporary.resolve())
    command = ["cat", *map(str, files), str(data / "audit/record"), "/etc/hostname"]
    outcome = await run_command(command, cwd=project, timeout=30, wall=wall)
    assert outcome.returncode != 0
    assert "secret of ours" not in outcome.stdout
    assert outcome.stdout  # other files can be read


MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 254:0 /disk\\040two/audit /home/me/data/audit rw,relatime - ext4 /dev/vda rw
31 22 254:16 /trails /home/me/data/store rw,relatime - ext4 /dev/vdb rw
32 22 254:16 / /mnt/b rw,relatime - ext4 /dev/vdb rw
33 22 0:5 / /home/me/other rw - tmpfs tmpfs rw
"""


def test_mounts_are_found_where_else_they_are() -> None:
    """A folder of the same disk, and a part of another disk that is mounted elsewhere."""
    found = set(find_mounted(Path("/home/me/data"), MOUNTS))
    assert found == {Path("/disk two/audit"), Path("/mnt/b/trails")}
    assert set(find_mounted(Path("/home/me/other"), MOUNTS)) == set()


def test_a_bind_mount_is_seen(tmp_path: Path) -> None:
    """In a mount namespace of its own, as the kernel reports it."""
    place, disk = tmp_path / "data/audit", tmp_path / "disk"
    place.mkdir(parents=True)
    disk.mkdir()
    code = (
        "from pathlib import Path; "
        "from amplifier_hooks.guards.policy.protected_places import list_aliases; "
        f"print(*list_aliases([Path({str(place.parent)!r})]))"
    )
    script = f"mount --bind '{disk}' '{place}' && exec '{sys.executable}' -P -c \"{code}\""
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    if done.returncode and "Traceback" not in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert str(disk.resolve()) in done.stdout.split(), done.stderr


def test_a_place_is_found_by_what_it_is(tmp_path: Path) -> None:
    """A file or a folder; one that does not exist is nothing."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "other").touch()
    known = FileIdentities([tmp_path / "folder", tmp_path / "file", tmp_path / "none"])
    assert known.find((tmp_path / "folder").stat()) == tmp_path / "folder"
    assert known.find((tmp_path / "file").stat()) == tmp_path / "file"
    assert known.find((tmp_path / "other").stat()) is None


def test_another_name_of_a_file_below_a_place_is_found(tmp_path: Path) -> None:
    """However deep the file lies; a link between other files is none of its business."""
    deep = tmp_path / "place" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "key").write_text("k")
    (tmp_path / "link").hardlink_to(deep / "key")
    (tmp_path / "plain").touch()
    (tmp_path / "twin").hardlink_to(tmp_path / "plain")
    known = FileIdentities([tmp_path / "place"])
    assert known.find((tmp_path / "link").stat()) == tmp_path / "place"
    assert known.find((tmp_path / "twin").stat()) is None


def test_a_place_too_large_to_search_counts_as_found_where_it_must_be_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that might be meant is not read; for the rest the link alone is no reason."""
    monkeypatch.setattr(protected_places, "_MOST_ENTRIES", 2)
    for place in ("keys", "programs"):
        (tmp_path / place).mkdir()
        for n in range(4):
            (tmp_path / place / f"{n}").touch()
            (tmp_path / place / f"{n}-twin").hardlink_to(tmp_path / place / f"{n}")
    (tmp_path / "plain").touch()
    (tmp_path / "twin").hardlink_to(tmp_path / "plain")
    info = (tmp_path / "twin").stat()
    keys, programs = tmp_path / "keys", tmp_path / "programs"
    assert FileIdentities([keys, programs], must_know=[keys]).find(info) == keys
    assert FileIdentities([keys, programs]).find(info) is None


def test_identity_is_device_and_number(tmp_path: Path) -> None:
    """Two names of one file have one."""
    (tmp_path / "a").touch()
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").touch()
    assert get_identity((tmp_path / "a").stat()) == get_identity((tmp_path / "b").stat())
    assert get_identity((tmp_path / "a").stat()) != get_identity((tmp_path / "c").stat())


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


def list_for(home: Path, *roots: Path, hidden: tuple[Path, ...] = ()) -> ProtectedPlaces:
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
    inner = ProtectedPlaces((tmp_path / "a/key",), (tmp_path / "a",))
    outer = ProtectedPlaces((tmp_path / "a",), (tmp_path / "a/b",))
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
