"""Thirty and more ways to get a bundle wrong, and the sentence each of them gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_foundation.bundles import BundleError, load_bundle

ENV = {"HOME": "/nowhere"}

# name: (file, line, what follows "FILE:LINE: ")
BROKEN: dict[str, tuple[str, int | None, str]] = {
    "unknown section": (
        "session: {}\nhoks: []\n",
        2,
        "hoks: unknown key 'hoks'; did you mean 'hooks'?",
    ),
    "section from another world": (
        "kubernetes: {}\n",
        1,
        "kubernetes: unknown key 'kubernetes'; have ['agents', 'approval', 'audit', "
        "'description', 'hooks', 'include', 'inherit', 'name', 'providers', 'session', 'tools']",
    ),
    "unknown key of a hook": (
        "hooks:\n  - module: hooks-rules\n    prioritty: 5\n",
        3,
        "hooks[0].prioritty: unknown key 'prioritty'; did you mean 'priority'?",
    ),
    "wrong case of a key": (
        "hooks:\n  - Module: hooks-rules\n",
        2,
        "hooks[0].Module: unknown key 'Module'; did you mean 'module'?",
    ),
    "hook without a module": (
        "hooks:\n  - config: {}\n",
        2,
        "hooks[0].module: is missing; hooks[0] needs it",
    ),
    "hooks as a mapping": (
        "hooks:\n  hooks-rules: {}\n",
        1,
        "hooks: must be a list, got a mapping",
    ),
    "providers as a text": (
        "providers: provider-openai\n",
        1,
        "providers: must be a list, got a text 'provider-openai'",
    ),
    "a tool that is a number": (
        "tools:\n  - tool-bash\n  - 7\n",
        3,
        "tools[1]: must be a mapping, got a whole number 7",
    ),
    "priority as a text": (
        "hooks:\n  - module: hooks-rules\n    priority: high\n",
        3,
        "hooks[0].priority: must be a whole number, got a text 'high'",
    ),
    "enabled as a text": (
        'hooks:\n  - module: hooks-rules\n    enabled: "no"\n',
        3,
        "hooks[0].enabled: must be true or false, got a text 'no'",
    ),
    "config as a list": (
        "hooks:\n  - module: hooks-rules\n    config:\n      - one\n",
        3,
        "hooks[0].config: must be a mapping, got a list",
    ),
    "empty module id": (
        'hooks:\n  - module: ""\n',
        2,
        "hooks[0].module: must not be empty",
    ),
    "the same hook twice": (
        "hooks:\n  - hooks-rules\n  - hooks-rules\n",
        3,
        "hooks[1]: 'hooks-rules' is listed twice, first in {file}:2; give one of them a name",
    ),
    "unknown session setting": (
        "session:\n  injection_budget: 5\n",
        2,
        "session.injection_budget: unknown key 'injection_budget'; "
        "did you mean 'injection_budget_per_turn'?",
    ),
    "negative budget": (
        "session:\n  injection_budget_per_turn: -1\n",
        2,
        "session.injection_budget_per_turn: must be at least 0, got -1",
    ),
    "no turns at all": (
        "session:\n  max_turns: 0\n",
        2,
        "session.max_turns: must be at least 1, got 0",
    ),
    "over-budget word": (
        "session:\n  injection_over_budget: warning\n",
        2,
        "session.injection_over_budget: unknown value 'warning'; did you mean 'warn'?",
    ),
    "true is no number": (
        "session:\n  injection_size_limit: true\n",
        2,
        "session.injection_size_limit: must be a whole number, got true or false True",
    ),
    "unknown limit": (
        "session:\n  limits:\n    agent_dept: 3\n",
        3,
        "session.limits.agent_dept: unknown key 'agent_dept'; did you mean 'agent_depth'?",
    ),
    "orchestrator as a list": (
        "session:\n  orchestrator: [loop-basic]\n",
        2,
        "session.orchestrator: must be a mapping, got a list",
    ),
    "agent without a description": (
        "agents:\n  critic:\n    instructions: Be strict.\n",
        2,
        "agents.critic.description: is missing; agents.critic needs it",
    ),
    "unknown key of an agent": (
        "agents:\n  critic:\n    description: Reviews.\n    instruction: Be strict.\n",
        4,
        "agents.critic.instruction: unknown key 'instruction'; did you mean 'instructions'?",
    ),
    "a tool of an agent that is nothing": (
        "agents:\n  critic:\n    description: Reviews.\n    tools:\n      - Read\n      - 3\n",
        6,
        "agents.critic.tools[1]: must be the name of a tool or a module entry, "
        "got a whole number 3",
    ),
    "audit level": (
        "audit:\n  level: everything\n",
        2,
        "audit.level: unknown value 'everything'; have ['decisions', 'full', 'normal']",
    ),
    "audit failure word": (
        "audit:\n  on_failure: denny\n",
        2,
        "audit.on_failure: unknown value 'denny'; did you mean 'deny'?",
    ),
    "approval timeout of nothing": (
        "approval:\n  timeout: 0\n",
        2,
        "approval.timeout: must be positive and finite, got 0",
    ),
    "endless approval timeout": (
        "approval:\n  timeout: .inf\n",
        2,
        "approval.timeout: must be positive and finite, got inf",
    ),
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
    "a list as a bundle": (
        "- hooks-rules\n",
        1,
        "must be a mapping, got a list",
    ),
    "a list as a key": (
        "? [a, b]\n: c\n",
        1,
        "a key must be a text, not a list or a mapping",
    ),
}


def _message_of(path: Path) -> str:
    with pytest.raises(BundleError) as caught:
        load_bundle(path, env=ENV)
    return str(caught.value)


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_gets_file_line_key_and_the_nearest_right_key(
    case: str, tmp_path: Path
) -> None:
    """Bundles: validated with errors that name file, line, key and the nearest right key."""
    content, line, rest = BROKEN[case]
    path = tmp_path / "amplifier.yaml"
    path.write_text(content)
    expected = rest.replace("{file}", str(path)).replace("{folder}", str(tmp_path))
    assert _message_of(path) == f"{path}:{line}: {expected}"


def test_there_are_thirty_of_them() -> None:
    """Bundle errors: 30 broken files, each with the expected message."""
    assert len(BROKEN) >= 30


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    """One line each, in the order of the file."""
    path = tmp_path / "b.yaml"
    path.write_text("audit:\n  levle: full\nhooks:\n  - modul: x\n")
    assert _message_of(path).splitlines() == [
        f"{path}:2: audit.levle: unknown key 'levle'; did you mean 'level'?",
        f"{path}:4: hooks[0].modul: unknown key 'modul'; did you mean 'module'?",
    ]


def test_a_problem_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    """Includes: the error stands where the mistake is."""
    (tmp_path / "amplifier.yaml").write_text("include: part.yaml\n")
    part = tmp_path / "part.yaml"
    part.write_text("\n\nsesion: {}\n")
    message = _message_of(tmp_path / "amplifier.yaml")
    assert message == f"{part}:3: sesion: unknown key 'sesion'; did you mean 'session'?"


def test_a_circle_of_includes_is_drawn(tmp_path: Path) -> None:
    """Includes: cycles are reported."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("include: b.yaml\n")
    second.write_text("include: [a.yaml]\n")
    message = _message_of(first)
    assert message == f"{second}:1: include: includes itself: {first} → {second} → {first}"


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    path = tmp_path / "none.yaml"
    assert _message_of(path) == f"{path}: cannot be read: No such file or directory"


def test_a_folder_is_no_bundle(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    assert _message_of(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    path = tmp_path / "b.yaml"
    path.write_bytes(b"name: x\ndescription: \xff\xfe\n")
    assert _message_of(path) == f"{path}:2: is not UTF-8 text"


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    path = tmp_path / "b.yaml"
    path.write_text("# " + "x" * 1_100_000)
    assert _message_of(path) == f"{path}: has 1100002 bytes; 1000000 at most"


def test_aliases_cannot_be_multiplied_without_end(tmp_path: Path) -> None:
    """Nothing hangs: a hundred bytes of aliases must not become a billion values."""
    path = tmp_path / "b.yaml"
    lines = ["x-a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"x-a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    path.write_text("\n".join(lines))
    assert "is too large or nested too deeply, perhaps through its aliases" in _message_of(path)


def test_an_alias_to_itself_is_refused(tmp_path: Path) -> None:
    """Nothing hangs."""
    path = tmp_path / "b.yaml"
    path.write_text("x-loop: &loop\n  again: *loop\n")
    assert "nested too deeply" in _message_of(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """Nothing crashes."""
    path = tmp_path / "b.yaml"
    path.write_text("x-deep: " + "[" * 5000 + "]" * 5000)
    assert "nested too deeply" in _message_of(path) or "not valid YAML" in _message_of(path)


def test_two_project_bundles_are_one_too_many(tmp_path: Path) -> None:
    """Layers: ./amplifier.yaml or ./.amplifier/amplifier.yaml."""
    (tmp_path / ".amplifier").mkdir()
    first, second = tmp_path / "amplifier.yaml", tmp_path / ".amplifier" / "amplifier.yaml"
    first.write_text("")
    second.write_text("")
    with pytest.raises(BundleError) as caught:
        load_bundle(project_dir=tmp_path, env=ENV)
    assert str(caught.value) == f"{first}: there is also {str(second)!r}; keep one of the two"
