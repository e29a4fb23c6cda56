"""Each bundle file lies over the files that it includes."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.agent.bundles.load import DocumentReader
from amplifier_hooks.yaml_files.node import to_plain
from tests.hooks.agent.bundles.files import Mistake, check_mistake, complaint, load

MISTAKES: dict[str, Mistake] = {
    "missing include": (
        "name: x\ninclude: other/none.yaml\n",
        2,
        "include: no file '{folder}/other/none.yaml'",
    ),
    "includes itself": (
        "include:\n  - amplifier.yaml\n",
        2,
        "include: includes itself: {file} → {file}",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_file_line_key_and_what_would_do(case: str, tmp_path: Path) -> None:
    """One sentence, in which the nearest right word stands where there is one."""
    check_mistake(tmp_path, MISTAKES[case])


def test_a_problem_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    """Not the file that includes it."""
    (tmp_path / "amplifier.yaml").write_text("include: part.yaml\n")
    part = tmp_path / "part.yaml"
    part.write_text("\n\nsesion: {}\n")
    message = complaint(tmp_path / "amplifier.yaml")
    assert message == f"{part}:3: sesion: unknown key 'sesion'; did you mean 'session'?"


def test_a_circle_of_includes_is_drawn(tmp_path: Path) -> None:
    """From the first file back to itself, step by step."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("include: b.yaml\n")
    second.write_text("include: [a.yaml]\n")
    message = complaint(first)
    assert message == f"{second}:1: include: includes itself: {first} → {second} → {first}"


def test_includes_are_found_from_the_file_that_names_them(tmp_path: Path) -> None:
    """The paths of modules in an included file start from its own folder, too."""
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "parts" / "one.yaml").write_text("include: deep/two.yaml\nname: one\n")
    (tmp_path / "parts" / "deep" / "two.yaml").write_text(
        "name: two\ndescription: below\nhooks: [./own_hook.py]\n"
    )
    bundle = load(tmp_path, "include: [parts/one.yaml]\n")
    assert (bundle.name, bundle.description) == ("one", "below")
    own = next(entry for entry in bundle.mount_plan["hooks"] if entry["module"] == "own-hook")
    assert own["source"] == str(tmp_path / "parts" / "deep" / "own_hook.py")
    assert Path(own["source"]) in bundle.watched


def test_the_same_file_may_be_included_twice_without_a_circle(tmp_path: Path) -> None:
    """Two files may share a third."""
    (tmp_path / "common.yaml").write_text("name: common\n")
    (tmp_path / "a.yaml").write_text("include: common.yaml\n")
    (tmp_path / "b.yaml").write_text("include: common.yaml\n")
    assert load(tmp_path, "include: [a.yaml, b.yaml]\n").name == "common"


def test_a_variable_in_an_include_that_is_not_set_is_told_at_once(tmp_path: Path) -> None:
    """Without its name the file cannot be found."""
    path = tmp_path / "amplifier.yaml"
    path.write_text("include: ${WHICH}.yaml\n")
    assert complaint(path).startswith(f"{path}:1: include: environment variable 'WHICH' is not set")


def test_later_includes_lie_over_earlier_ones_and_the_file_over_all(tmp_path: Path) -> None:
    """As they are written, top to bottom."""
    (tmp_path / "a.yaml").write_text("name: a\ndescription: a\nsession: {max_turns: 1}\n")
    (tmp_path / "b.yaml").write_text("name: b\ndescription: b\n")
    path = tmp_path / "c.yaml"
    path.write_text("include: [a.yaml, b.yaml]\nname: c\n")
    reader = DocumentReader({})
    plain = to_plain(reader.read(path))
    assert plain == {"name": "c", "description": "b", "session": {"max_turns": 1}}
    assert [source.name for source in reader.sources] == ["c.yaml", "a.yaml", "b.yaml"]


@pytest.mark.parametrize("inherit", [True, False])
def test_of_layers_below_one_that_does_not_inherit_only_locked_entries_stay(
    tmp_path: Path, inherit: bool
) -> None:
    """Or a project that does not inherit would be without the guards that its user locked."""
    upper, lower = tmp_path / "upper.yaml", tmp_path / "lower.yaml"
    upper.write_text(f"inherit: {str(inherit).lower()}\n")
    locked = [{"module": "hooks-b", "locked": True}]
    lower.write_text(f"name: lower\nhooks: {[*locked, {'module': 'hooks-c'}]}\n")
    found = to_plain(DocumentReader({}).read_layers([upper, lower], defaults=True))
    if inherit:
        named = [one["module"] for one in found["hooks"]]
        assert (found["name"], named[-2:]) == ("lower", ["hooks-b", "hooks-c"])
        assert "hooks-redaction" in named
    else:
        assert found == {"inherit": False, "hooks": locked}


def test_secrets_of_included_files_are_remembered(tmp_path: Path) -> None:
    """Wherever a secret came in, it is hidden."""
    (tmp_path / "part.yaml").write_text("name: ${MY_TOKEN}\n")
    bundle = load(tmp_path, "include: part.yaml\n", env={"MY_TOKEN": "hunter2-hunter2"})
    assert bundle.secrets == {"hunter2-hunter2"}
