"""Names that a file system, or a person, may take for one another."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.place_names import fold_name, fold_path


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
