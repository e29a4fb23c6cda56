"""hooks-rules in a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from tests.hooks.guards.rules.asking import DENY
from tests.support.harness import Harness


@pytest.mark.parametrize(
    ("event", "heard", "applies"),
    [
        ("tool:post", "tool:post", True),
        ("tool:*", "tool:post", True),
        ("*", "prompt:submit", True),
        (["tool:error"], "error:tool", True),
        ("error:tool", "tool:error", True),
        ("context:pre-compact", "context:pre_compact", True),
        ("my_module:thing", "my_module:thing", True),
        ("tool:post", "tool:pre", False),
    ],
)
async def test_rules_listen_to_any_event_in_either_spelling(
    tmp_path: Path, event: Any, heard: str, applies: bool
) -> None:
    """event: a name, a list, a pattern; the spellings of one event are the same event."""
    harness = Harness(tmp_path)
    await harness.mount("rules", {"rules": [{"event": event, **DENY}]})
    result = await harness.hooks.emit(heard, {"tool_name": "x"})
    assert (result.action == "deny") == applies


@pytest.mark.parametrize("config", [None, {}, {"dry_run": True}])
async def test_without_rules_there_is_nothing_to_guard(config: dict[str, Any] | None) -> None:
    """Whoever forgot them believes that there are some; an empty list is said on purpose."""
    harness = Harness()
    with pytest.raises(ModuleLoadError, match="give 'rules'"):
        await harness.mount("rules", config)
    await harness.mount("rules", {"rules": []})
    assert harness.hooks.list_handlers() == {}
