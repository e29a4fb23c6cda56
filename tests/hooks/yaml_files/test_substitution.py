"""Variables of the environment in the texts of a bundle."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.yaml_files.substitution import SubstitutionError, find_secrets, substitute
from tests.hooks.agent.bundles.files import Mistake, check_mistake, config, load

MISTAKES: dict[str, Mistake] = {
    "missing variable": (
        "providers:\n  - module: provider-openai\n    config:\n      api_key: ${NO_SUCH_KEY}\n",
        4,
        "providers[0].config.api_key: environment variable 'NO_SUCH_KEY' is not set; "
        "set it or write ${NO_SUCH_KEY:-default}",
    ),
    "variable without a name": (
        "name: ${1abc}\n",
        1,
        "name: '${1abc}' names no variable; use ${NAME}, ${NAME:-default} or ${NAME:+word}",
    ),
    "variable never closed": (
        "name: 'a ${HOME'\n",
        1,
        "name: '${' is never closed; write '$${' for the characters themselves",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_file_line_key_and_what_would_do(case: str, tmp_path: Path) -> None:
    """One sentence, in which the nearest right word stands where there is one."""
    check_mistake(tmp_path, MISTAKES[case])


def test_variables_are_filled_in_and_typed_as_written(tmp_path: Path) -> None:
    """Unquoted, a value is read like YAML; in quotes it stays a text."""
    bundle = load(
        tmp_path,
        "hooks:\n  - module: hooks-rules\n    config:\n"
        "      number: ${PORT}\n      quoted: '${PORT}'\n      fallback: ${NONE:-x y}\n"
        "      kept: $${PORT}\n      several: a${PORT}b${EMPTY:-c}\n      flag: ${FLAG}\n"
        "      plain: cost is $5\n",
        env={"PORT": "8080", "EMPTY": "", "FLAG": "true"},
    )
    assert config(bundle, "hooks-rules") == {
        "number": 8080,
        "quoted": "8080",
        "fallback": "x y",
        "kept": "${PORT}",
        "several": "a8080bc",
        "flag": True,
        "plain": "cost is $5",
    }


def test_a_variable_cannot_smuggle_in_keys(tmp_path: Path) -> None:
    """A value stays a value, whatever characters it has."""
    bundle = load(
        tmp_path,
        "hooks:\n  - module: hooks-rules\n    config: {a: '${X}', b: 1}\n",
        env={"X": "1, b: 2}\naudit: {enabled: false"},
    )
    assert config(bundle, "hooks-rules")["b"] == 1
    assert bundle.mount_plan["audit"]["enabled"] is True


def test_a_missing_variable_of_an_entry_that_is_switched_off_does_not_matter(
    tmp_path: Path,
) -> None:
    """An override may take away what would otherwise need a variable."""
    (tmp_path / "base.yaml").write_text("hooks:\n  - {module: h-x, config: {key: '${NONE}'}}\n")
    text = "include: base.yaml\nhooks:\n  - {module: h-x, config: {key: given}}\n"
    assert config(load(tmp_path, text), "h-x") == {"key": "given"}


@given(st.text().filter(lambda text: "${" not in text))
def test_text_without_references_is_left_alone(text: str) -> None:
    """Only `${` starts a reference."""
    assert substitute(text, {}) == text


@given(st.text())
def test_escaping_maps_back_exactly(text: str) -> None:
    """`$${` stands for `${`, so every text can be written."""
    if "$${" not in text and "$$" not in text:
        assert substitute(text.replace("${", "$${"), {}) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${SET}", "value"),
        ("${EMPTY}", ""),
        ("${EMPTY:-other}", "other"),
        ("${NONE:-}", ""),
        ("${NONE:-a:-b}", "a:-b"),
        ("${SET:+yes}", "yes"),
        ("${EMPTY:+yes}", ""),
        ("${NONE:+yes}", ""),
        ("a${SET}b$${SET}c", "avalueb${SET}c"),
        ("$SET {SET}", "$SET {SET}"),
        ("${NONE:-two\nlines}", "two\nlines"),
    ],
)
def test_each_form_of_a_reference(text: str, expected: str) -> None:
    """Value, default, word, and the characters themselves."""
    assert substitute(text, {"SET": "value", "EMPTY": ""}) == expected


@pytest.mark.parametrize("text", ["${}", "${ SET}", "${SET-x}", "${A B}", "${SET:?x}", "${"])
def test_what_is_no_reference_is_an_error(text: str) -> None:
    """Better than a text with a hole in it."""
    with pytest.raises(SubstitutionError):
        substitute(text, {"SET": "value"})


def test_a_value_is_not_looked_into() -> None:
    """A variable that holds `${` brings in those characters and nothing more."""
    assert substitute("${A}", {"A": "${B}", "B": "secret"}) == "${B}"


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("MY_API_KEY", "hunter2-hunter2", True),
        ("github_token", "hunter2-hunter2", True),
        ("DB_PASSWORD", "hunter2-hunter2", True),
        ("HOME", "hunter2-hunter2", False),
        ("MY_API_KEY", "short", False),
        ("MY_API_KEY", "", False),
    ],
)
def test_a_variable_named_like_a_secret_is_one(name: str, value: str, is_secret: bool) -> None:
    """Unless it is so short that hiding it would hide half of every text."""
    assert find_secrets(f"a ${{{name}:-x}}", {name: value}) == ({value} if is_secret else set())
