"""Rules are found by event and tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.rules.rule import Rule
from amplifier_hooks.guards.rules.ruleset import RuleSet, load_rule
from tests.hooks.guards.rules.asking import DENY, answer


async def test_an_exception_takes_a_rule_back(tmp_path: Path) -> None:
    """`unless` is the exception; one that cannot be told to hold is none."""
    rule: dict[str, Any] = {
        "tool": "Bash",
        "regex": "deploy",
        "unless": {"command": "deploy staging"},
        **DENY,
    }
    assert (
        await answer(tmp_path, [rule], "Bash", {"command": "deploy staging"})
    ).action == "continue"
    assert (await answer(tmp_path, [rule], "Bash", {"command": "deploy prod"})).action == "deny"
    assert (await answer(tmp_path, [rule], "Bash", {"command": "deploy $x"})).action == "deny"


async def test_letter_case_is_no_way_around_a_rule_that_stops(tmp_path: Path) -> None:
    """A rule about `Bash` that stops calls also stops those of `bash`; others are exact."""
    stops = {"tool": "Bash", "regex": "deploy", **DENY}
    changes = {"tool": "Bash", "action": "inject_context", "context_injection": "hm"}
    for name in ("Bash", "bash", "BASH"):
        assert (await answer(tmp_path, [stops], name, {"command": "deploy x"})).action == "deny"
    assert (await answer(tmp_path, [changes], "bash", {"command": "x"})).action == "continue"


TOOLS = st.sampled_from(["A", "B", "A*", "*", "mcp__*", "[AB]"])

NAMES = st.sampled_from(["A", "B", "AB", "mcp__x", "", "Z"])


@given(st.lists(TOOLS, max_size=8), st.lists(NAMES, max_size=12))
def test_the_index_finds_what_a_plain_search_finds(globs: list[str], names: list[str]) -> None:
    """Remembering which rules listen changes nothing but the time."""
    rules = [
        load_rule(Rule(name=str(number), tool=glob, action="continue"), Path("/"), "test")
        for number, glob in enumerate(globs)
    ]
    index = RuleSet(rules)
    for name in names:
        expected = tuple(rule for rule in rules if rule.listens_to("tool:pre", name))
        assert index.find_rules("tool:pre", name) == expected


def test_many_tool_names_do_not_fill_the_memory() -> None:
    """What the index remembers is bounded."""
    index = RuleSet([])
    for number in range(5_000):
        index.find_rules("tool:pre", str(number))
    assert len(index._remembered) <= 1_024


def test_a_thousand_rules_are_not_looked_at_for_other_tools() -> None:
    """Index by event and tool: a rule is asked once per tool whether it listens, then never again.

    What that costs in microseconds, `benchmarks/bench_rules.py` measures.
    """
    asked: list[str] = []

    class Counted:
        def __init__(self, name: str) -> None:
            self.name = name

        def listens_to(self, event: str, tool: str) -> bool:
            asked.append(self.name)
            return tool == "Bash"

    rules = RuleSet(Counted(str(n)) for n in range(1_000))  # type: ignore[misc]
    assert rules.find_rules("tool:pre", "Read") == ()
    assert len(asked) == 1_000
    assert [rules.find_rules("tool:pre", "Read") for _ in range(100)] == [()] * 100
    assert len(asked) == 1_000
    assert len(rules.find_rules("tool:pre", "Bash")) == 1_000
