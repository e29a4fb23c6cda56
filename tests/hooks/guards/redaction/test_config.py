"""The options of hooks-redaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.policy.secrets import SHAPES
from amplifier_hooks.guards.redaction.config import FIELDS, Config
from tests.support.harness import Harness


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"patterns": {"x": "(?=a)b"}}, "no look-around"),
        ({"patterns": {"x": r"(a)\1"}}, "back-references"),
        ({"patterns": {"x": "("}}, "not a pattern"),
        ({"allow": ["("]}, "not a pattern"),
        ({"patterns": {"a b": "x"}}, "'a b' is not a name"),
        ({"off": ["github-tokens"]}, "did you mean 'github-token'?"),
        ({"events": ["tool:pree"]}, "did you mean 'tool:pre'?"),
        ({"on_write": "shout"}, "on_write"),
        ({"allowlist": []}, "unknown option 'allowlist'"),
    ],
)
async def test_a_bad_config_says_what_is_wrong(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    """Patterns are compiled at load; their errors say what the engine lacks."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("redaction", config)
    assert words in str(refused.value)


def test_every_event_that_carries_text_is_covered() -> None:
    """The five events of the specification are among those that are looked through."""
    assert {
        "tool:pre",
        "tool:post",
        "prompt:submit",
        "provider:request",
        "provider:response",
    } <= set(FIELDS)


def test_by_default_a_person_is_asked_once_at_a_time() -> None:
    """A yes to one token is no yes to all that follow."""
    config = Config()
    assert config.on_write == "ask"
    assert config.approval_options == ["Allow once", "Deny"]


def test_the_page_lists_every_shape() -> None:
    """A reader learns which names `off` takes."""
    page = Path(__file__).parents[4] / "docs" / "modules" / "hooks-redaction.md"
    listed = page.read_text()
    assert [name for name in SHAPES if f"`{name}`" not in listed] == []
