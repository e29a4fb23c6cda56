"""Whether the checks agree with the engine, on rules and events that nobody has thought of."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.insight.rule_checks import Finding, check_rules
from amplifier_hooks.insight.rule_checks.coverage import (
    can_match_path,
    covers_events,
    covers_name,
    covers_path,
    explain_unknown,
    lacks_keys,
    list_tool_inputs,
)
from amplifier_hooks.insight.rule_checks.usage import (
    Sample,
    matches_answering_rule,
    matches_hook_rule,
)
from tests.hooks.insight.rule_checks.rule_files import (
    ASK,
    DENY,
    find,
    read_answering_rules,
    read_hook_rules,
    summarize,
)
from tests.support.harness import Harness

NAME_GLOBS = st.text("ab*?[]!", min_size=1, max_size=5)
PARTS = st.sampled_from(["a", "b", "A", "*", "**", "a*", "*.x", "a.x", "?", ".", "[ab]", "{a,b}"])
PATH_GLOBS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "", "/", "~/"]),
    st.lists(PARTS, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)


@settings(max_examples=50)
@given(
    NAME_GLOBS,
    NAME_GLOBS,
    st.text("ab[]*?", max_size=5),
    PATH_GLOBS,
    PATH_GLOBS,
    st.lists(st.sampled_from(["a", "b", "a.x", "ab", "c"]), min_size=1, max_size=5),
)
@example("?", "*", "ab", "**/*", "**", ["a"])
def test_what_fits_the_narrow_fits_the_wide(
    wide: str, narrow: str, name: str, wide_path: str, narrow_path: str, parts: list[str]
) -> None:
    """A yes is certain, for names and for paths."""
    if covers_name(wide, narrow) and fnmatchcase(name, narrow):
        assert fnmatchcase(name, wide)
    path = Path("/", *parts)
    if covers_path(wide_path, narrow_path) and match_glob(path, [narrow_path]):
        assert match_glob(path, [wide_path])


@pytest.mark.parametrize(
    ("covers", "wide", "narrow"),
    [
        *(
            (covers_name, wide, narrow)
            for wide, narrow in (
                ("*", "Bash"),
                ("mcp__*", "mcp__git__*"),
                ("tool:*", "tool:p*"),
                ("W??te", "Write"),
            )
        ),
        *(
            (covers_path, wide, narrow)
            for wide, narrow in (
                ("src/**", "src/*.py"),
                ("*.env", "deploy/*.env"),
                ("**", "/etc/passwd"),
                ("src/", "src/a/b"),
            )
        ),
        # Patterns cover names, and names their other spellings.
        (covers_events, "tool:*", ["tool:pre", "tool:post"]),
        (covers_events, "tool:*", "tool:pre"),
    ],
)
def test_what_people_write_is_told(
    covers: Callable[[Any, Any], bool], wide: Any, narrow: Any
) -> None:
    """Names, paths and events."""
    assert covers(wide, narrow)
    assert not covers(narrow, wide)


def test_a_pattern_cannot_stall_the_check() -> None:
    """Many stars take no time; a name covers itself in any spelling."""
    assert not covers_path("/".join(["**", "a"] * 20), "/".join(["**", "b"] * 20))
    assert covers_events(["tool:pre"], "tool:pre")


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        # Real paths have no `..` in them.
        *((glob, False) for glob in ("../x", "a/../b", "/srv/*/../x")),
        # The beginning of an absolute glob is looked up, braces are not judged.
        *((glob, True) for glob in ("a/b", "/srv/../etc/*", "{..,a}/b", "a..b")),
    ],
)
def test_paths_with_two_dots_fit_nothing(glob: str, fits: bool) -> None:
    """Others may fit."""
    assert can_match_path(glob) == fits


NEVER = [
    ({"tool": "Write", "command": "git push"}, "looks for a command"),
    ({"tool": ["Delegate", "todo"], "path": "src/**"}, "looks for a path"),
    ({"path": ["../x/**", "a/../b"]}, "without `..`"),
    ({"event": "prompt:submit", "tool": "Bash"}, "not about a tool call"),
    ({"event": ["prompt:submit", "session:end"], "command": "ls"}, "not about a tool call"),
    ({"event": "session:start", "path": "*.env"}, "not about a tool call"),
    ({"event": "tool:pre", "regex": {"prompt": "x"}}, "has no field 'prompt'"),
    ({"event": "tool:pre", "regex": {"tool_result.output": "x"}}, "has no field 'tool_result'"),
    ({"path": "src/**", "unless": {"path": ["docs/**", "**"]}}, "excepts everything"),
    ({"regex": "rm -rf", "unless": {"regex": "rm"}}, "excepts everything"),
    ({"when": "tool_name == 'X'", "unless": {"when": "tool_name == 'X'"}}, "excepts everything"),
    ({"tool": "Bash", "unless": {}}, "excepts everything"),
    ({"command": {"program": "git", "argument": "--force"}}, "use `flag`"),
    ({"command": {"program": "git", "flag": "force"}}, "begin with `-`"),
]


@pytest.mark.parametrize(("rule", "words"), NEVER)
def test_a_rule_that_can_never_match_is_found(
    tmp_path: Path, rule: dict[str, Any], words: str
) -> None:
    """With its name, its line and the reason."""
    (found,) = find(tmp_path, {**rule, **DENY})
    assert found.kind == "never matches"
    assert words in found.sentence
    assert found.places == (f"{tmp_path / 'rules.yaml'}:2",)
    assert not found.is_note


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "mcp__shell__run", "command": "git push"},
        {"tool": ["Write", "Bash"], "command": "git push"},
        {"path": "/srv/../etc/**"},
        {"event": "prompt:*", "tool": "Bash"},
        {"event": "prompt:submit", "tool": "*"},
        {"event": "deploy:begin", "tool": "Bash"},
        {"event": "tool:post", "regex": {"tool_result.output": "x"}},
        {"event": "tool:pre", "regex": {"own_field": "x"}},
        {"path": "src/**", "unless": {"path": "src/generated/**"}},
        {"tool": "Bash", "unless": {"tool": "Bash"}},
        {"tool": "Write", "unless": {"path": "**"}},
        {"command": "git push -f|--force"},
        {"regex": "rm", "unless": {"regex": "rm -rf"}},
        {"command": "rm out/*", "unless": {"command": "rm out/*"}},
    ],
)
def test_a_rule_that_may_match_is_let_alone(tmp_path: Path, rule: dict[str, Any]) -> None:
    """Where it cannot be told, nothing is said."""
    assert find(tmp_path, {**rule, **DENY}) == []


def test_one_alternative_that_never_matches_is_named(tmp_path: Path) -> None:
    """The others may, so the finding is about that part."""
    (found,) = find(tmp_path, {"path": ["src/**", "../other/**"], **DENY})
    assert found.kind == "part never matches"
    assert "'../other/**'" in found.sentence


def test_an_exception_for_all_commands_leaves_those_that_cannot_be_read(tmp_path: Path) -> None:
    """Such a rule still matches `git push $(x)`, and the finding says so."""
    (found,) = find(tmp_path, {"command": "git push", "unless": {"command": "git"}, **DENY})
    assert found.kind == "excepts everything"
    assert found.sentence.endswith("except for commands that cannot be read")
    (same,) = find(tmp_path, {"command": "git push", "unless": {"command": "git push"}, **DENY})
    assert same.sentence.endswith("or have other words in between")


def test_continue_without_a_message_has_no_effect(tmp_path: Path) -> None:
    """It does not let through what another rule stops."""
    silent = {"command": "ls", "action": "continue"}
    assert summarize(find(tmp_path, silent)) == [("no effect", "r0")]
    assert find(tmp_path, {**silent, "user_message": "looking"}) == []


def test_a_rule_that_is_switched_off_is_a_note(tmp_path: Path) -> None:
    """It is not judged any further."""
    (found,) = find(tmp_path, {"path": "../x", "enabled": False, **DENY})
    assert found.kind == "disabled"
    assert found.is_note


def test_approval_rules_are_judged_as_well(tmp_path: Path) -> None:
    """A rule that allows commands of Write allows nothing."""
    file = read_answering_rules(
        tmp_path, {"tool": "Write", "command": "make test", "decision": "allow"}
    )
    assert summarize(check_rules([file]).findings) == [("never matches", "r0")]


def test_the_keys_of_the_options_count(tmp_path: Path) -> None:
    """Whoever looks for commands in `content` may look for them in calls of Write."""
    bundle = tmp_path / "amplifier.yaml"
    bundle.write_text(
        "hooks:\n  - module: hooks-rules\n    config:\n      command_keys: [content]\n"
        "      rules:\n        - {name: a, tool: Write, command: curl, action: deny, reason: x}\n"
    )
    from amplifier_hooks.agent.bundles import load_bundle
    from amplifier_hooks.insight.rule_checks import read_bundle_rules

    assert check_rules(read_bundle_rules(load_bundle(bundle), tmp_path)).findings == ()


def test_our_tools_are_known_by_the_models_of_their_inputs() -> None:
    """The table is read from the tools themselves, so that it cannot go stale."""
    inputs = list_tool_inputs()
    assert "command" in inputs["bash"]
    assert {"file_path", "old_string"} <= inputs["multiedit"]


def test_a_tool_of_others_may_have_anything() -> None:
    """Only tools of ours lack something; letter case makes no difference."""
    assert lacks_keys(["write", "Read"], ["command"])
    assert lacks_keys(["Bash"], ["file_path", "path"])
    assert not lacks_keys(["Bash"], ["command"])
    assert not lacks_keys(["mcp__git__push"], ["command"])
    assert not lacks_keys(["W*"], ["command"])
    assert not lacks_keys([], ["command"])


def test_a_tool_that_no_agent_has_is_said() -> None:
    """With the one that was probably meant; patterns and tools of MCP servers may be anything."""
    assert "'Bsh'" in explain_unknown(["Bash", "Bsh"])
    assert explain_unknown(["Bsh"]).endswith("did you mean 'Bash'?")
    assert explain_unknown(["deploy_to_mars"]).endswith("only if you have such a tool")
    assert not explain_unknown(["bash", "run_shell_command", "WebFetch", "NotebookEdit"])
    assert not explain_unknown(["mcp__git__push", "B*", "*"])


COMMANDS = st.sampled_from(
    ["git", "git push", "git push --force|-f", "git push origin", "g*", "rm -rf", "make", "ls"]
)
PATHS = st.sampled_from(
    ["**", "src/**", "src/*.py", "*.py", "../x", "src/a.py", "docs/", "/etc/**", "src/{a,b}.py"]
)
EXPRESSIONS = st.sampled_from(["push", "git push", "a.py", "x|y", {"tool_input.command": "push"}])
TOOLS = st.sampled_from(["Bash", "bash", "Write", "*", "W*", "mcp__*", ["Bash", "Write"]])
EVENTS = st.sampled_from(["tool:pre", "tool:post", "tool:*", "*", "prompt:submit"])
CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "tool": TOOLS,
    "command": st.one_of(COMMANDS, st.lists(COMMANDS, min_size=1, max_size=2)),
    "path": st.one_of(PATHS, st.lists(PATHS, min_size=1, max_size=2)),
    "regex": EXPRESSIONS,
    "when": st.sampled_from(["tool_name == 'Bash'", "event == 'tool:pre'"]),
}
MATCHES = st.fixed_dictionaries({}, optional=CONDITIONS)
ANSWERS = st.sampled_from(
    [
        DENY,
        ASK,
        {"action": "inject_context", "context_injection": "hm"},
        {"action": "continue", "user_message": "seen"},
        {"action": "modify", "data": {"tool_input": {"command": "ls"}}},
    ]
)
RULES = st.builds(
    lambda match, more, answer: {**match, **more, **answer},
    MATCHES,
    st.fixed_dictionaries(
        {}, optional={"event": EVENTS, "unless": MATCHES, "dry_run": st.booleans()}
    ),
    ANSWERS,
)
CALLS = st.one_of(
    st.tuples(
        st.sampled_from(["Bash", "bash"]),
        st.sampled_from(
            [
                "git push",
                "git push --force origin x",
                "git status; ls",
                "rm -rf src",
                "make a.py",
                "sudo git push",
                "git $x",
                "$(git push)",
            ]
        ).map(lambda text: {"command": text}),
    ),
    st.tuples(
        st.sampled_from(["Write", "write"]),
        st.sampled_from(["src/a.py", "src/b/c.py", "docs/x", "/etc/x", "a.py", "y"]).map(
            lambda text: {"file_path": text, "content": "push"}
        ),
    ),
    st.tuples(st.just("mcp__git__push"), st.just({"command": "git push", "path": "src/a.py"})),
)
SAMPLES = st.one_of(
    st.builds(
        lambda event, call, hook: Sample(
            event, {"tool_name": call[0], "tool_input": call[1]}, hook
        ),
        st.sampled_from(["tool:pre", "tool:post"]),
        CALLS,
        st.sampled_from(["hooks-a", "hooks-b"]),
    ),
    st.just(Sample("prompt:submit", {"prompt": "git push"})),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the rules are about."""
    return tmp_path_factory.mktemp("rules")


def find_about_one(findings: tuple[Finding, ...], kind: str) -> list[str]:
    """The rules of the findings of that kind."""
    return [one.rules[0] for one in findings if one.kind == kind]


RULE_LISTS = st.lists(RULES, min_size=1, max_size=5)
SAMPLE_LISTS = st.lists(SAMPLES, min_size=1, max_size=6)


@given(rules=RULE_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=15)
def test_what_is_said_about_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """A rule that never matches never does; what shadows another matches all that it matches."""
    compare_hook_rules(base, rules, samples)


@pytest.mark.slow
@given(rules=RULE_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=3_000)
def test_what_is_said_about_many_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """The same, for a hundred times as many."""
    compare_hook_rules(base, rules, samples)


def compare_hook_rules(base: Path, rules: list[dict[str, Any]], samples: list[Sample]) -> None:
    """Run the rules on the samples, and compare with what the check says."""
    group = read_hook_rules(base, *rules)
    named = {one.name: one for one in group.rules}
    findings = check_rules([group]).findings
    for sample in samples:
        matching = {name for name, one in named.items() if matches_hook_rule(one, group, sample)}
        assert not matching & set(find_about_one(findings, "never matches"))
        for one in findings:
            if one.kind == "shadowed" and one.rules[0] in matching:
                assert one.rules[1] in matching
                assert named[one.rules[1]].rule.action == "deny"


@example(
    rules=[{"command": "git push --force", **ASK}, {"tool": "bash", **DENY}],
    sample=Sample("tool:pre", {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}),
)
@given(rules=st.lists(RULES, min_size=2, max_size=4), sample=SAMPLES)
@settings(max_examples=20)
async def test_without_a_shadowed_rule_the_engine_answers_the_same(
    base: Path, rules: list[dict[str, Any]], sample: Sample
) -> None:
    """The module is mounted as in a session, with the rule and without it."""
    group = read_hook_rules(base, *rules)
    findings = check_rules([group]).findings
    idle = find_idle(findings)
    idle &= {one.name for one in group.rules if matches_hook_rule(one, group, sample)}
    if not idle:
        return
    every = [{"name": f"r{at}", **rule} for at, rule in enumerate(rules)]
    rest = [rule for rule in every if rule["name"] not in idle]
    answers = [await answer(base, given_rules, sample) for given_rules in (every, rest)]
    assert answers[0] == answers[1] == "deny"


def find_idle(findings: tuple[Finding, ...]) -> set[str]:
    """The rules that are said to have no effect because another one denies."""
    shadowed = {one.rules[0] for one in findings if one.kind == "shadowed"}
    return shadowed | {one.rules[1] for one in findings if "denies exactly" in one.sentence}


async def answer(base: Path, rules: list[dict[str, Any]], sample: Sample) -> str:
    """What hooks-rules answers."""
    harness = Harness(base)
    await harness.mount("rules", {"rules": rules})
    return (await harness.emit(sample.event, **sample.data)).action


ANSWERING = st.builds(
    lambda match, more, decision: {**match, **more, "decision": decision},
    st.fixed_dictionaries(
        {"tool": TOOLS},
        optional={
            "command": COMMANDS,
            "path": PATHS,
            "regex": st.sampled_from(["push", "p.*"]).map(lambda one: {"tool_input.content": one}),
        },
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "hook": st.sampled_from(["hooks-a", "hooks-*"]),
            "unless": st.fixed_dictionaries({}, optional={"path": PATHS, "command": COMMANDS}),
        },
    ),
    st.sampled_from(["allow", "deny", "ask"]),
)


ANSWERING_LISTS = st.lists(ANSWERING, min_size=2, max_size=5)


@given(rules=ANSWERING_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=15)
def test_what_is_said_about_approval_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """Whatever a shadowed rule would decide, an earlier one has decided."""
    compare_answering_rules(base, rules, samples)


@pytest.mark.slow
@given(rules=ANSWERING_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=3_000)
def test_what_is_said_about_many_approval_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """The same, for a hundred times as many."""
    compare_answering_rules(base, rules, samples)


def compare_answering_rules(base: Path, rules: list[dict[str, Any]], samples: list[Sample]) -> None:
    """Run the rules on questions about the samples, and compare with what the check says."""
    file = read_answering_rules(base, *rules)
    named = {one.name: one for one in file.rules}
    findings = check_rules([file]).findings
    for sample in samples:
        matching = {n for n, one in named.items() if matches_answering_rule(one, file, sample)}
        assert not matching & set(find_about_one(findings, "never matches"))
        for one in findings:
            if one.kind == "shadowed" and one.rules[0] in matching:
                assert one.rules[1] in matching


def test_a_rule_about_a_path_judges_commands(tmp_path: Path) -> None:
    """`tool: Bash` with a path matches what commands use, before they run."""
    tell = {"action": "continue", "user_message": "x"}
    for answer in (DENY, tell):
        assert find(tmp_path, {"tool": "Bash", "path": ".env", **answer}) == []
    (told,) = find(tmp_path, {"event": "tool:post", "tool": "Bash", "path": ".env", **tell})
    assert told.kind == "never matches"
    file = read_answering_rules(tmp_path, {"tool": "Bash", "path": ".env", "decision": "deny"})
    assert check_rules([file]).findings == ()


@pytest.mark.parametrize("tool", ["Read", "Write", ["Read", "Edit"]])
def test_what_a_rule_about_a_path_cannot_see_is_noted(tmp_path: Path, tool: Any) -> None:
    """A command uses the same file, and the rule names tools that run none."""
    (note,) = find(tmp_path, {"tool": tool, "path": ".env", **DENY})
    assert (note.kind, note.is_note) == ("not seen", True)
    assert "`cat`" in note.sentence


def test_access_narrows_what_a_rule_covers(tmp_path: Path) -> None:
    """A denial of reading leaves writing to the rule behind it."""
    reading = {"path": ".env", "access": "read", **DENY}
    both = {"path": ".env", **DENY}
    assert find(tmp_path, reading, both) == []
    (found,) = find(tmp_path, both, reading)
    assert found.kind == "shadowed"
