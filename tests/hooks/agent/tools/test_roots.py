"""No path leads out of the allowed directories."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_hooks.agent.tools import filesystem, search
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.filesystem import load, replace
from amplifier_hooks.agent.tools.roots import (
    Place,
    Roots,
    find_places,
    format_path,
    get_working_dir,
    open_directory,
    open_file,
    open_parent,
    refuse_protected,
)
from amplifier_hooks.guards.policy.protected_places import list_places


@pytest.fixture
async def tools(coordinator):
    await filesystem.mount(coordinator, None)
    await search.mount(coordinator, None)
    return coordinator.tools


def locate(work: Path, path: str) -> Place:
    return Roots(work.resolve(), (work.resolve(),)).locate(path)


def count_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


OUTSIDE = [
    "../secret.txt",
    "sub/../../secret.txt",
    "{tmp}/secret.txt",
    "//{tmp}//secret.txt",
    "{tmp}/work/../secret.txt",
    "{tmp}/work-too/x",
    "out/secret.txt",
    "out/",
    "file-out",
    "dangling-out",
    "/proc/self/root{tmp}/secret.txt",
    "/proc/self/cwd/x",
    "/etc/passwd",
    "a" * 5000 + "/../../secret.txt",
]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "Grep", "Glob"])
async def test_what_lies_outside_is_refused(tools, work, tmp_path, name, path):
    """Whatever way leads there: nothing is read, written or searched."""
    (work / "sub").mkdir()
    (work / "out").symlink_to(tmp_path)
    (work / "file-out").symlink_to("../secret.txt")
    (work / "dangling-out").symlink_to(tmp_path / "new.txt")
    asked = path.format(tmp=tmp_path)
    given = {
        "Read": {"file_path": asked},
        "Write": {"file_path": asked, "content": "x"},
        "Edit": {"file_path": asked, "old_string": "secret", "new_string": "x"},
        "Grep": {"path": asked, "pattern": "secret"},
        "Glob": {"path": asked, "pattern": "*"},
    }[name]
    before = sorted(tmp_path.iterdir())
    result = await tools[name].execute(given)
    assert not result.success
    assert "outside the allowed directories" in result.error
    assert (tmp_path / "secret.txt").read_text() == "secret\n"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "path", ["%2e%2e/secret.txt", "..%2Fsecret.txt", "．．/secret.txt", "~/x", "..\\secret.txt"]
)
async def test_what_only_looks_like_a_way_out_is_a_name(tools, work, path):
    """Encoded, full-width and backslashed dots are letters to a file system."""
    result = await tools["Write"].execute({"file_path": path, "content": "x"})
    assert result.success
    assert (work / path).read_text() == "x"


async def test_a_long_path_is_a_sentence(tools):
    """5,000 characters are refused by the system, and said."""
    result = await tools["Write"].execute({"file_path": "a" * 5000, "content": "x"})
    assert "name too long" in result.error


def test_roots_are_those_configured_or_the_working_directory(
    coordinator, work, tmp_path, monkeypatch
):
    """Of the session, or of the process if the session has none."""
    assert Roots.from_host(coordinator, None).directories == (work.resolve(),)
    configured = Roots.from_host(coordinator, ["in", str(tmp_path)])
    assert configured.directories == (work.resolve() / "in", tmp_path.resolve())
    assert configured.base == work.resolve()
    coordinator.register_capability("session.working_dir", None)
    monkeypatch.chdir(tmp_path)
    assert Roots.from_host(coordinator, None).directories == (tmp_path.resolve(),)


def test_a_place_belongs_to_the_nearest_root(tmp_path):
    """Protection counts from there."""
    inner = tmp_path / "inner"
    inner.mkdir()
    roots = Roots(tmp_path, (tmp_path, inner))
    assert roots.locate("inner/a/b") == Place("inner/a/b", inner, ("a", "b"))
    assert roots.locate("a").root == tmp_path


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_what_is_no_path_is_refused(work, path):
    """With the sentence that says why."""
    with pytest.raises(Refused, match="path"):
        locate(work, path)


@pytest.mark.parametrize("swapped", ["directory", "file"])
def test_a_link_put_in_the_way_after_the_check_stops_the_call(work, tmp_path, swapped):
    """Between the check and the use nobody can lead the tool astray."""
    (work / "sub").mkdir()
    (work / "sub" / "secret.txt").write_text("harmless\n")
    place = locate(work, "sub/secret.txt")
    if swapped == "directory":
        (work / "sub").rename(work / "gone")
        (work / "sub").symlink_to(tmp_path)
    else:
        (work / "sub" / "secret.txt").unlink()
        (work / "sub" / "secret.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(Refused, match="secret"):
        load(place, 1000)
    with pytest.raises(Refused, match="secret"):
        replace(place, b"overwritten")
    assert (tmp_path / "secret.txt").read_text() == "secret\n"


async def test_a_race_of_links_never_leads_out(tools, work, tmp_path):
    """While a thread swaps a directory for a link and back, nothing outside is read or written."""
    inside, link = work / "inside", work / "link"
    inside.mkdir()
    link.symlink_to(tmp_path)
    (inside / "secret.txt").write_text("harmless\n")
    target = work / "sub"
    done = threading.Event()
    outcomes = set()

    def swap() -> None:
        while not done.is_set():
            if target.is_dir() and not target.is_symlink():  # made by a Write meanwhile
                shutil.rmtree(target, ignore_errors=True)
            for original in (inside, link):
                with contextlib.suppress(OSError):
                    original.rename(target)
                    target.rename(original)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(150):
            result = await tools["Read"].execute({"file_path": "sub/secret.txt"})
            outcomes.add(result.output if result.success else "refused")
            await tools["Write"].execute({"file_path": "sub/secret.txt", "content": "harmless\n"})
            found = await tools["Grep"].execute(
                {"pattern": "^secret$", "path": "sub", "output_mode": "content"}
            )
            assert ":secret" not in str(found.output)
    finally:
        done.set()
        swapper.join()
    assert outcomes <= {"     1\tharmless", "refused"}
    assert (tmp_path / "secret.txt").read_text() == "secret\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "sub", "out", "in", "", "x"]), max_size=8))
def test_no_combination_of_steps_leads_out(work, tmp_path, steps):
    """Whatever is located lies inside the root, really."""
    if not (work / "out").is_symlink():
        (work / "sub").mkdir()
        (work / "out").symlink_to(tmp_path)
        (work / "in").symlink_to("sub")
    try:
        place = locate(work, "/".join(steps))
    except Refused:
        return
    assert place.path.resolve().is_relative_to(work.resolve())


def test_a_parent_is_opened_and_made_if_that_is_asked_for(work):
    """Otherwise a missing one is missing."""
    place = locate(work, "new/dir/a")
    with pytest.raises(FileNotFoundError), open_parent(place):
        pass
    with open_parent(place, create=True) as (parent, name):
        assert name == "a"
        assert os.stat("../..", dir_fd=parent).st_ino == work.stat().st_ino
    assert (work / "new" / "dir").is_dir()


def test_a_root_has_no_parent_to_write_to(work):
    """It is a directory, and the root of all that is allowed."""
    place = locate(work, ".")
    with (
        pytest.raises(Refused, match=r"'\.' is a directory; name a file in it"),
        open_parent(place),
    ):
        pass


def test_a_directory_is_opened_for_walking(work):
    """A file is none."""
    (work / "sub").mkdir()
    (work / "sub" / "a").touch()
    with open_directory(locate(work, "sub")) as descriptor:
        assert [entry.name for entry in os.scandir(descriptor)] == ["a"]
    place = locate(work, "sub/a")
    with pytest.raises(Refused, match="part of it is not a directory"), open_directory(place):
        pass


def test_descriptors_are_closed_again(work):
    """Also when the call fails."""
    (work / "deep" / "er").mkdir(parents=True)
    before = count_descriptors()
    with pytest.raises(Refused), open_parent(locate(work, "deep/er/a")) as (parent, _):
        open_file("..", parent, "a")
    with pytest.raises(FileNotFoundError), open_parent(locate(work, "deep/none/a")):
        pass
    assert count_descriptors() == before


def test_a_protected_place_is_refused_with_the_pattern(work):
    """Which counts from the root."""
    refuse_protected(locate(work, "a.txt"), ["*.pem"])
    with pytest.raises(Refused, match=r"'sub/a\.pem' is protected by the pattern '\*\.pem'"):
        refuse_protected(locate(work, "sub/a.pem"), ["*.key", "*.pem"])


def test_a_path_is_shown_in_one_line_that_can_be_encoded():
    """A name may hold any bytes."""
    assert format_path(Path("/a/b")) == "/a/b"
    assert format_path(Path(os.fsdecode(b"/odd\xff\nname"))) == "/odd\ufffd\\nname"


def test_the_working_directory_is_the_configured_one_else_the_sessions(coordinator, work):
    """A relative one starts at the session's; without a session, at the process's."""
    assert get_working_dir(coordinator) == work.resolve()
    assert get_working_dir(coordinator, "sub") == work.resolve() / "sub"
    assert get_working_dir(coordinator, "/") == Path("/")
    coordinator.register_capability("session.working_dir", None)
    assert get_working_dir(coordinator) == Path.cwd()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A person's home, with our data and settings, that the tools may work in."""
    folder = tmp_path.resolve() / "home"
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".local/share/amplifier").mkdir(parents=True)
    (folder / ".local/share/amplifier/audit.key").write_text("top secret\n")
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/config").write_text("[core]\n")
    return folder


@pytest.fixture
async def home_tools(coordinator, home):
    coordinator.register_capability("session.working_dir", str(home))
    await filesystem.mount(coordinator, None)
    await search.mount(coordinator, {"skip": [], "engine": "re2"})
    return coordinator.tools


def describe_call(name: str, path: str) -> dict[str, str]:
    return {
        "Read": {"file_path": path},
        "Write": {"file_path": path, "content": "x"},
        "Edit": {"file_path": path, "old_string": "e", "new_string": "x"},
        "Grep": {"path": path, "pattern": "secret", "output_mode": "content"},
        "Glob": {"path": path, "pattern": "*"},
    }[name]


WAYS_TO_THE_KEY = [
    ".local/share/amplifier/audit.key",
    ".local/share/AMPLIFIER/audit.key",
    ".local/share/amplifier./audit.key",
    "link/audit.key",
    "soft",
    "hard",
]


@pytest.mark.parametrize("path", WAYS_TO_THE_KEY)
@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "Grep"])
async def test_what_is_hidden_is_neither_read_nor_written(home_tools, home, name, path):
    """By its name, in disguise, through a link or under a second name."""
    key = home / ".local/share/amplifier/audit.key"
    (home / "link").symlink_to(key.parent)
    (home / "soft").symlink_to(key)
    (home / "hard").hardlink_to(key)
    result = await home_tools[name].execute(describe_call(name, path))
    assert "neither read nor write there" in result.error
    assert key.read_text() == "top secret\n"
    assert (home / "hard").samefile(key)


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        ".git/config",
        ".git/commondir",
        "sub/.git/config",
        ".claude/settings.json",
        "sub/.mcp.json",
        ".bashrc",
        "link/pre-commit",
        "hard",
    ],
)
@pytest.mark.parametrize("name", ["Write", "Edit"])
async def test_what_is_sealed_is_not_written(home_tools, home, name, path):
    """It can make programs run: git's settings, other agents, shells."""
    (home / "link").symlink_to(".git/hooks")
    (home / "hard").hardlink_to(home / ".git/config")
    result = await home_tools[name].execute(describe_call(name, path))
    assert "can make programs run" in result.error
    assert list((home / ".git/hooks").iterdir()) == []
    assert (home / ".git/config").read_text() == "[core]\n"
    assert (await home_tools["Read"].execute({"file_path": "hard"})).success


@pytest.mark.parametrize("path", ["sub/.git", ".claude", "sub/.vscode", ".github"])
async def test_no_file_takes_a_sealed_folders_place(home_tools, home, path):
    """`.git` as a file would send git to settings of the agent's choice."""
    result = await home_tools["Write"].execute({"file_path": path, "content": "gitdir: /x"})
    assert not result.success
    assert not (home / path).exists()


@pytest.mark.parametrize("engine", ["re2", "re"])
async def test_a_search_does_not_enter_what_is_hidden(coordinator, home, engine):
    """Neither by Glob nor by either engine of Grep, from above; a key among files included."""
    coordinator.register_capability("session.working_dir", str(home))
    (home / "other.key").write_text("top secret\n")
    (home / "notes").write_text("no secret\n")
    places = list_places([home], hidden=[home / "other.key"])
    coordinator.register_capability("session.places", places)
    await search.mount(coordinator, {"skip": [], "engine": engine})
    found = await coordinator.tools["Grep"].execute({"pattern": "secret", "output_mode": "content"})
    assert found.output == f"{home / 'notes'}:1:no secret"
    listed = await coordinator.tools["Glob"].execute({"pattern": "**"})
    assert "key" not in listed.output
    assert str(home / "notes") in listed.output


def test_a_hidden_folder_in_the_way_after_the_check_stops_the_call(home, tmp_path):
    """What was opened is compared with what the places are on disk."""
    (home / "sub").mkdir()
    (home / "sub/audit.key").write_text("harmless")
    place = Roots(home, (home,), list_places([home])).locate("sub/audit.key")
    (home / "sub").rename(home / "gone")
    assert place.guarded.find((home / ".local/share/amplifier").stat()) is not None
    (home / ".local/share/amplifier").rename(home / "sub")
    with pytest.raises(Refused, match="neither read nor write"):
        load(place, 1000)


def test_a_second_name_in_the_way_after_the_check_stops_the_call(home):
    """The file that was opened counts, not the one that was looked at."""
    (home / "a").write_text("harmless")
    place = Roots(home, (home,), list_places([home])).locate("a")
    (home / "a").unlink()
    (home / "a").hardlink_to(home / ".local/share/amplifier/audit.key")
    with pytest.raises(Refused, match="neither read nor write"):
        load(place, 1000)


def test_the_sessions_table_counts_also_for_roots_of_a_tools_own(coordinator, home, tmp_path):
    """What it hides stays hidden, and the new roots are sealed like the others."""
    places = list_places([home], hidden=[home / "trail"])
    coordinator.register_capability("session.places", places)
    assert find_places(coordinator, (home,)) is places
    wider = find_places(coordinator, (tmp_path.resolve(),))
    assert home / "trail" in wider.hidden
    assert tmp_path.resolve() / ".git/hooks" in wider.sealed
    coordinator.register_capability("session.places", None)
    assert find_places(coordinator, (home,)).roots == (home,)
