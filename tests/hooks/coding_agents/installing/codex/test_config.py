"""What Codex has written down about our hooks is taken out, and not a byte more."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.installing.codex_trust import list_state_keys, remove_states

KEY, OTHER = "/h o/.codex/hooks.json:pre_tool_use:0:0", "/else:stop:1:0"


def write_table(key: str) -> str:
    """As Codex does."""
    return f'\n[hooks.state."{key}"]\ntrusted_hash = "sha256:ab"\n'


@pytest.mark.parametrize(
    "before",
    [
        "",
        'model = "gpt-5"\n',
        '# mine\nmodel = "gpt-5" # yes\n\n[a.b]\nc = 1\n',
        "[[hooks.PreToolUse]]\nmatcher = 'x'\n",
        'text = """\n[hooks.state]\n"""\n',
    ],
)
def test_what_codex_added_goes(before: str) -> None:
    """With the section that it needed."""
    section = f"{before and chr(10)}[hooks.state]\n"
    text = before + section + write_table(KEY)
    assert list_state_keys(text) == [KEY]
    assert remove_states(text, [KEY], keep_section=False) == before


def test_what_others_have_there_stays() -> None:
    """Whether it stands before or behind ours."""
    section = "[hooks.state]\n"
    behind = section + write_table(KEY) + write_table(OTHER) + "\n[z]\na = 1\n"
    expected = section + write_table(OTHER) + "\n[z]\na = 1\n"
    removed = remove_states(behind, [KEY], keep_section=False)
    assert removed.replace("\n\n", "\n") == expected.replace("\n\n", "\n")
    assert list_state_keys(removed) == [OTHER]


def test_a_section_that_was_there_stays() -> None:
    """Even if nothing is in it."""
    text = "[hooks.state]\n" + write_table(KEY)
    assert remove_states(text, [KEY], keep_section=True) == "[hooks.state]\n"


@pytest.mark.parametrize(
    "text",
    [
        "[broken\n" + write_table(KEY),
        f'[hooks]\nstate = {{ "{KEY}" = {{ trusted_hash = "x" }} }}\n',
        'a = "[hooks.state]"\n',
    ],
)
def test_a_text_that_cannot_be_edited_safely_stays(text: str) -> None:
    """What TOML reads of everything else is compared before and after."""
    assert remove_states(text, [KEY], keep_section=False) == text
