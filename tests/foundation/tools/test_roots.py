"""No path leads out of the allowed directories (T4, T6)."""

from __future__ import annotations

import contextlib
import shutil
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_foundation.tools import filesystem, search
from amplifier_foundation.tools.base import Refused
from amplifier_foundation.tools.roots import Place, Roots
from amplifier_foundation.tools.textfile import load, replace


@pytest.fixture
async def tools(coordinator):
    await filesystem.mount(coordinator, None)
    await search.mount(coordinator, None)
    return coordinator.tools


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
    """Symlinks and `..` resolved; outside the roots nothing is read, written or searched."""
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


async def test_configured_roots_replace_the_working_directory(coordinator, work, tmp_path):
    """Config `roots`; relative ones start at the working directory."""
    (work / "in").mkdir()
    await filesystem.mount(coordinator, {"roots": ["in", str(tmp_path / "other")]})
    write = coordinator.tools["Write"]
    (tmp_path / "other").mkdir()
    assert (await write.execute({"file_path": "in/a", "content": "x"})).success
    assert (await write.execute({"file_path": str(tmp_path / "other/a"), "content": "x"})).success
    refused = await write.execute({"file_path": "a", "content": "x"})
    assert "outside the allowed directories" in refused.error


async def test_without_a_working_directory_the_process_has_one(coordinator, work, monkeypatch):
    """Default: the capability, else the cwd."""
    coordinator.register_capability("session.working_dir", None)
    monkeypatch.chdir(work)
    await filesystem.mount(coordinator, None)
    assert (await coordinator.tools["Write"].execute({"file_path": "a", "content": "x"})).success
    assert (work / "a").exists()


async def test_a_root_that_is_not_there_is_said(coordinator, tmp_path):
    """A missing root is a sentence at the call."""
    await filesystem.mount(coordinator, {"roots": [str(tmp_path / "nowhere")]})
    given = {"file_path": str(tmp_path / "nowhere/a"), "content": "x"}
    result = await coordinator.tools["Write"].execute(given)
    assert "nowhere" in result.error


def located(work, path) -> Place:
    return Roots(work.resolve(), (work.resolve(),)).locate(path)


@pytest.mark.parametrize("swapped", ["directory", "file"])
def test_a_link_put_in_the_way_after_the_check_stops_the_call(work, tmp_path, swapped):
    """T4: a symlink swapped between check and use does not escape."""
    (work / "sub").mkdir()
    (work / "sub" / "secret.txt").write_text("harmless\n")
    place = located(work, "sub/secret.txt")
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
            outcomes.add(result.output or "refused")
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
        place = located(work, "/".join(steps))
    except Refused:
        return
    assert place.path.resolve().is_relative_to(work.resolve())
