"""The long form of what a bundle may write short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.bundles.mount_plan import write_out
from amplifier_hooks.yaml_files.node import Place, make_node, to_plain
from tests.hooks.agent.bundles.files import complaint, config, load

BASE = Path("/project")


def written_out(document: Any) -> Any:
    return to_plain(write_out(make_node(document, Place("f")), BASE))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("hooks-x", {"module": "hooks-x"}),
        ({"module": "hooks-x", "priority": 1}, {"module": "hooks-x", "priority": 1}),
        ("./my_hook.py", {"module": "my-hook", "source": "/project/my_hook.py"}),
        ("../up", {"module": "up", "source": "/project/../up"}),
        ("/abs/x.py", {"module": "x", "source": "/abs/x.py"}),
        ({"module": "m", "source": "sub/m.py"}, {"module": "m", "source": "/project/sub/m.py"}),
        ({"module": "m", "source": "git+https://h.invalid/r"}, {"module": "m", "source": "git+https://h.invalid/r"}),
        (3, 3),
        (None, None),
        ({"config": {}}, {"config": {}}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("section", ["providers", "tools", "hooks"])
def test_an_entry_in_its_long_form(section: str, entry: Any, expected: Any) -> None:
    """Ids become entries, paths count from the folder of the file; the rest is for the schema."""
    assert written_out({section: [entry]}) == {section: [expected]}


def test_home_is_the_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    """`~/` leads there, wherever the file lies."""
    monkeypatch.setenv("HOME", "/me")
    assert written_out({"hooks": ["~/x.py"]})["hooks"][0]["source"] == "/me/x.py"
    assert written_out({"audit": {"path": "~/trail"}}) == {"audit": {"path": "/me/trail"}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"session": {"context": "c"}}, {"session": {"context": {"module": "c"}}}),
        ({"audit": {"path": "trail"}}, {"audit": {"path": "/project/trail"}}),
        ({"audit": {"path": ""}}, {"audit": {"path": ""}}),
        (
            {"agents": {"a": {"tools": ["Read", "tool-x", "./y.py"], "hooks": ["h"]}}},
            {
                "agents": {
                    "a": {
                        "tools": [
                            "Read",
                            {"module": "tool-x"},
                            {"module": "y", "source": "/project/y.py"},
                        ],
                        "hooks": [{"module": "h"}],
                    }
                }
            },
        ),
        (
            {"agents": {"a": {"session": {"orchestrator": "o"}}}},
            {"agents": {"a": {"session": {"orchestrator": {"module": "o"}}}}},
        ),
        ({"agents": ["a"]}, {"agents": ["a"]}),
    ],
)
def test_every_place_where_a_module_or_a_path_may_stand(document: Any, expected: Any) -> None:
    """Names of tools like Read stay names; ids of modules have a dash, paths a slash."""
    assert written_out(document) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SECTIONS = st.sampled_from(["session", "hooks", "tools", "agents", "audit", "other"])


@given(st.dictionaries(SECTIONS, VALUES))
def test_writing_out_twice_changes_nothing_more(document: dict[str, Any]) -> None:
    """And never fails, whatever stands where a section should."""
    once = written_out(document)
    assert written_out(once) == once


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("required", {"mode": "required"}),
        (False, {"mode": "off"}),
        ({"mode": False}, {"mode": "off"}),
        ({"write": ["out", "/abs"]}, {"write": ["/project/out", "/abs"]}),
    ],
)
def test_a_sandbox_in_its_long_form(written: Any, expected: Any) -> None:
    """One word is its mode; `off` is what YAML calls false; paths count from the file."""
    assert written_out({"sandbox": written}) == {"sandbox": expected}


@pytest.mark.parametrize(
    ("given", "expected"),
    [("team.db", "/project/team.db"), ("postgresql://db.test/a", "postgresql://db.test/a")],
)
def test_a_store_in_a_file_is_meant_from_the_folder_of_the_bundle(
    given: str, expected: str
) -> None:
    """One that is an address stays as it is."""
    assert written_out({"approval": {"store": given}}) == {"approval": {"store": expected}}


def test_a_word_and_rules_at_the_top_are_entries_of_hooks(tmp_path: Path) -> None:
    """`secrets` and `rules` are short for their hooks; a document is written out once."""
    text = "secrets: ask\nrules:\n  - {path: .env, action: deny}\nhooks: [hooks-datetime]\n"
    bundle = load(tmp_path, text)
    assert config(bundle, "hooks-secret-guard") == {"mode": "ask"}
    assert config(bundle, "hooks-rules") == {"rules": [{"path": ".env", "action": "deny"}]}
    place = bundle.place_of("hooks-rules", option=("rules", 0))
    assert place is not None
    assert place.line == 3
    twice = write_out(write_out(make_node({"secrets": "ask"}, Place("a")), tmp_path), tmp_path)
    assert len(twice.mapping()["hooks"].items()) == 1


def test_rules_of_several_files_hold_together(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text("rules: [{path: .env, action: deny}]\n")
    bundle = load(tmp_path, "include: team.yaml\nrules: [{path: x, action: deny}]\n")
    rules = [one for one in bundle.mount_plan["hooks"] if one["module"] == "hooks-rules"]
    assert [one["config"]["rules"][0]["path"] for one in rules] == [".env", "x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("secrets: maybe\n", "1: secrets: unknown value 'maybe'; have ask, hidden, open"),
        ("rules: 3\n", "1: rules: must be a list, got a whole number 3"),
        ("hooks: 3\nsecrets: ask\n", "1: hooks: must be a list, got a whole number 3"),
    ],
)
def test_a_wrong_word_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "amplifier.yaml"
    path.write_text(text)
    assert complaint(path) == f"{path}:{said}"
