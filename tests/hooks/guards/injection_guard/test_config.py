"""The options of hooks-injection-guard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.injection_guard.config import NAME, Config
from amplifier_hooks.modules.options import parse_config
from tests.support.harness import Harness

PAGE = Path(__file__).parents[4] / "docs" / "modules" / f"{NAME}.md"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"patterns": {"x": "(?=a)b"}}, "no look-around"),
        ({"allow": ["("]}, "not a pattern"),
        ({"patterns": {"a b": "x"}}, "'a b' is not a name"),
        ({"patterns": {"override": "x"}}, "the name of a built-in kind"),
        ({"off": ["overide"]}, "did you mean 'override'?"),
        ({"languages": ["klingon"]}, "there is no language 'klingon'"),
        ({"on_result": "shout"}, "on_result"),
        ({"longest": 5}, "longest"),
        ({"tools": []}, "tools"),
    ],
)
async def test_a_bad_config_says_what_is_wrong(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    """Patterns are compiled at load; names are compared with those that exist."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("injection_guard", config)
    assert words in str(refused.value)


def test_by_default_results_are_told_lists_masked_and_requests_asked_about() -> None:
    """Results are too often about attacks to be changed without a word of the user."""
    config = Config()
    assert (config.on_result, config.on_list, config.on_request) == ("tell", "mask", "ask")


def test_the_page_lists_every_option_and_its_example_is_valid() -> None:
    """One page with all options in a table."""
    text = PAGE.read_text()
    options = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert set(Config.model_fields) <= options
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (entry,) = yaml.safe_load(example)["hooks"]
    parse_config(Config, entry["config"], NAME)
