"""Modules that could not be mounted are told with the line that asked for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_foundation.bundles import Bundle
from amplifier_foundation.session.left_out import add_place
from tests.support.project import Project


async def test_a_module_that_fails_is_told_and_left_out(project: Project) -> None:
    """A hook, tool or provider that fails to load is reported with its reason and left out."""
    project.write("broken.py", "raise RuntimeError('half written')\n")
    async with project.session(project.bundle(hooks=["./broken.py", "hooks-redacton"])) as session:
        assert len(session.failures) == 2
    broken, unknown = project.shown("modules")
    assert "half written" in broken
    file = project.folder / "amplifier.yaml"
    assert unknown == (
        f"Left out: {file}:3: Unknown module 'hooks-redacton'; did you mean 'hooks-redaction'?"
    )


async def test_an_unknown_module_that_resembles_none_is_told_with_those_there_are(
    project: Project,
) -> None:
    """Without a near name the whole list helps."""
    async with project.session(project.bundle(hooks=["zzzzzz"])):
        [told] = project.shown("modules")
    assert "Unknown module 'zzzzzz'; have ['context-simple'" in told


async def test_a_file_that_is_not_there_is_not_taken_for_a_misspelt_id(project: Project) -> None:
    """The reason of a missing file is the missing file."""
    async with project.session(project.bundle(hooks=["./gone.py"])):
        [told] = project.shown("modules")
    assert "there is no file or folder" in told
    assert "did you mean" not in told


@pytest.mark.parametrize("module_id", ["provider-scripted", None, "nobody-asked-for-this"])
def test_a_sentence_gets_the_line_of_its_module_if_there_is_one(
    project: Project, module_id: str | None
) -> None:
    """A module that no file asked for has no line."""
    bundle: Bundle = project.bundle()
    told = add_place("Why.", module_id, bundle)
    if module_id == "provider-scripted":
        file, line, rest = told.split(":", 2)
        assert Path(file) == project.folder / "amplifier.yaml"
        assert (int(line) > 0, rest) == (True, " Why.")
    else:
        assert told == "Why."
