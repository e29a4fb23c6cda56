"""Bundle text into nodes: YAML with its lines, within limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.yaml_files import reader
from amplifier_hooks.yaml_files.node import to_plain
from amplifier_hooks.yaml_files.reader import SubstitutionError, find_secrets, read_text, substitute
from tests.hooks.agent.bundles.files import Mistake, check_mistake, complaint, config, load

REFERENCE_MISTAKES: dict[str, Mistake] = {
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


@pytest.mark.parametrize("case", REFERENCE_MISTAKES)
def test_a_mistake_in_a_reference_is_told_with_its_place(case: str, tmp_path: Path) -> None:
    """One sentence, in which the nearest right word stands where there is one."""
    check_mistake(tmp_path, REFERENCE_MISTAKES[case])


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


MISTAKES: dict[str, Mistake] = {
    "key written twice": (
        "audit:\n  level: full\n  mode: inline\n  level: normal\n",
        4,
        "audit.level: key is written twice; the first is in line 2",
    ),
    "tab as indentation": (
        "session:\n\tmax_turns: 3\n",
        2,
        "not valid YAML: found character that cannot start any token",
    ),
    "bracket never closed": (
        "tools: [tool-bash\nhooks: []\n",
        2,
        "not valid YAML: did not find expected ',' or ']'",
    ),
    "two documents": (
        "name: one\n---\nname: two\n",
        2,
        "not valid YAML: but found another document",
    ),
    "a tag": (
        "name: !python/object:os.system echo\n",
        1,
        "name: tag '!python/object:os.system' is not supported",
    ),
    "a list as a key": (
        "? [a, b]\n: c\n",
        1,
        "a key must be a text, not a list or a mapping",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_file_line_key_and_what_would_do(case: str, tmp_path: Path) -> None:
    """One sentence, in which the nearest right word stands where there is one."""
    check_mistake(tmp_path, MISTAKES[case])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    path = tmp_path / "none.yaml"
    assert complaint(path) == f"{path}: cannot be read: No such file or directory"


def test_a_folder_is_no_bundle(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    assert complaint(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    """The first byte that is wrong says where to look."""
    path = tmp_path / "b.yaml"
    path.write_bytes(b"name: x\ndescription: \xff\xfe\n")
    assert complaint(path) == f"{path}:2: is not UTF-8 text"


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    """Its size and the limit are named."""
    path = tmp_path / "b.yaml"
    path.write_text("# " + "x" * 1_100_000)
    assert complaint(path) == f"{path}: has 1100002 bytes; 1000000 at most"


def test_aliases_cannot_be_multiplied_without_end(tmp_path: Path) -> None:
    """A hundred bytes of aliases must not become a billion values."""
    path = tmp_path / "b.yaml"
    lines = ["x-a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"x-a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    path.write_text("\n".join(lines))
    assert "is too large or nested too deeply, perhaps through its aliases" in complaint(path)


def test_an_alias_to_itself_is_refused(tmp_path: Path) -> None:
    """It would have no end."""
    path = tmp_path / "b.yaml"
    path.write_text("x-loop: &loop\n  again: *loop\n")
    assert "nested too deeply" in complaint(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """Before the interpreter gives up."""
    path = tmp_path / "b.yaml"
    path.write_text("x-deep: " + "[" * 5000 + "]" * 5000)
    assert "nested too deeply" in complaint(path) or "not valid YAML" in complaint(path)


def test_yes_no_dates_and_times_stay_what_a_person_reads(tmp_path: Path) -> None:
    """A plan is written as JSON, so only JSON's kinds of values come out."""
    text = (
        "hooks:\n  - module: h-x\n    config: {day: 2026-11-15, time: 12:30, on: off, hex: 0x10}\n"
    )
    found = config(load(tmp_path, text), "h-x")
    assert found == {"day": "2026-11-15", "time": "12:30", "on": False, "hex": 16}


def test_anchors_and_merge_keys_work(tmp_path: Path) -> None:
    """Plain YAML stays plain YAML; own keys start with `x-`."""
    text = (
        "x-base: &base {timeout: 5, retries: 1}\n"
        "hooks:\n  - {module: h-x, config: {<<: *base, retries: 2}}\n"
    )
    assert config(load(tmp_path, text), "h-x") == {"timeout": 5, "retries": 2}


@pytest.mark.parametrize("merged", ["[*base, *more]", "[*more, *base]"])
def test_of_several_merged_mappings_the_first_wins(tmp_path: Path, merged: str) -> None:
    """This is the order that YAML itself defines."""
    text = (
        "x-base: &base {n: base}\nx-more: &more {n: more}\n"
        f"hooks:\n  - {{module: h-x, config: {{<<: {merged}}}}}\n"
    )
    assert config(load(tmp_path, text), "h-x") == {"n": merged[2:6]}


def test_only_mappings_can_be_merged(tmp_path: Path) -> None:
    """A list under `<<` is told with its line."""
    path = tmp_path / "b.yaml"
    path.write_text("x-list: &list [1]\nx-new:\n  <<: *list\n")
    assert complaint(path).endswith("merges mappings only")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n"])
def test_an_empty_file_says_nothing(text: str) -> None:
    """It is a bundle all the same."""
    assert to_plain(read_text(text, "f.yaml", {}, set())) in ({}, None)


def test_a_value_knows_its_line() -> None:
    """That of its key, which is where a person looks."""
    node = read_text("a:\n  b:\n    - 1\n    - 2\n", "f.yaml", {}, set())
    inner = node.mapping()["a"].mapping()["b"]
    assert (str(inner.place), [str(item.place) for item in inner.items()]) == (
        "f.yaml:2", ["f.yaml:3", "f.yaml:4"],
    )  # fmt: skip


def test_a_text_that_was_read_before_is_read_again_when_a_variable_differs() -> None:
    """One it mentions, however it is written; what is secret is told each time."""
    text = 'a: ${API_KEY}\nb: "\\x24{B:-none}"\n'

    def read(**env: str) -> tuple[Any, set[str]]:
        secrets: set[str] = set()
        return to_plain(read_text(text, "f.yaml", env, secrets)), secrets

    for _ in range(2):
        assert read(API_KEY="value-1") == ({"a": "value-1", "b": "none"}, {"value-1"})
        assert read(API_KEY="value-1", C="x") == ({"a": "value-1", "b": "none"}, {"value-1"})
        assert read(API_KEY="value-2") == ({"a": "value-2", "b": "none"}, {"value-2"})
        assert read(API_KEY="value-2", B="b") == ({"a": "value-2", "b": "b"}, {"value-2"})
        assert read()[0]["b"] == "none"
        assert read()[0]["a"].key == "a"  # a problem: it is not set
        assert to_plain(read_text(text, "f.yaml", None, set()))["a"] == "${API_KEY}"
        assert str(read_text(text, "g.yaml", None, set()).mapping()["a"].place) == "g.yaml:1"


def test_only_so_many_texts_are_remembered() -> None:
    """And none that is large."""
    for number in range(40):
        read_text(f"a: {number}", "f.yaml", {}, set())
    read_text(f"a: {'x' * 200_000}", "f.yaml", {}, set())
    assert [text for _, text in reader._readings][-2:] == ["a: 38", "a: 39"]
    assert len(reader._readings) <= 16


def _problems_of(text: str) -> str:
    try:
        json.dumps(to_plain(read_text(text, "f.yaml", {}, set())), default=str)
    except BundleError as error:
        return str(error)
    return ""


@given(st.text(max_size=60))
def test_any_text_is_a_document_or_a_bundle_error(text: str) -> None:
    """Nothing that somebody may type fails in another way."""
    message = _problems_of(text)
    assert not message or message.startswith("f.yaml")
