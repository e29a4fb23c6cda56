"""The options of hooks-logging."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.logging import mount
from tests.support.harness import Harness, finish


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"path": "{user}.jsonl"},
            "unknown placeholder user; have date, pid, project, session_id",
        ),
        ({"path": "{"}, "is not a pattern"),
        ({"path": ""}, "must be a file name or 'stderr'"),
        ({"level": "loud"}, "option 'level' cannot be 'loud'"),
        ({"levels": {"tool:*": "loud"}}, "cannot be 'loud'"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)


async def test_the_path_may_be_called_as_modules_of_the_ecosystem_call_it(
    harness: Harness, tmp_path: Path
) -> None:
    """A template with the project and the session; the project is the working directory's name."""
    template = str(tmp_path / "logs" / "{project}" / "{session_id}.jsonl")
    cleanup = await mount(harness.coordinator, {"session_log_template": template})
    await harness.emit("tool:pre", tool_name="Read")
    await finish(cleanup)
    folder = Path(harness.coordinator.get_capability("session.working_dir") or ".").resolve()
    assert (tmp_path / "logs" / folder.name / "test-session.jsonl").is_file()
    assert harness.screen.messages == []
