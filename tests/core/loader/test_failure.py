"""A failure is a sentence for people, and data for those who listen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleNotFound, ModuleValidationError
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.mounting import (
    Mounting,
    make_fatal,
    read_failure,
    report_failure,
    report_unready,
)
from amplifier_core.testing import EventRecorder, TestCoordinator


@pytest.fixture
def coordinator() -> TestCoordinator:
    return TestCoordinator()


def listen(coordinator: TestCoordinator, event: str) -> EventRecorder:
    heard = EventRecorder()
    coordinator.hooks.register(event, heard)
    return heard


def test_whatever_a_module_raises_is_a_sentence_that_names_it() -> None:
    """What kind of error it was, and what it said."""
    failure = read_failure("x", KeyError("port"))
    assert str(failure) == "Module 'x' cannot be mounted: KeyError: 'port'"
    assert (failure.module_id, failure.reason_code) == ("x", "unknown")


def test_an_error_of_a_module_is_kept() -> None:
    """With the id that the plan knows it by."""
    given = ModuleNotFound("not there", known=["y"])
    failure = read_failure("x", given)
    assert failure is given
    assert failure.module_id == "x"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("hooks", "not there"),
        ("orchestrator", "Cannot initialize without orchestrator: not there"),
        ("context", "Cannot initialize without context manager: not there"),
    ],
)
def test_a_fatal_failure_says_what_a_session_cannot_do_without(kind: str, expected: str) -> None:
    """And why it has to, whatever kind of error that was."""
    fatal = make_fatal(kind, read_failure("x", ModuleNotFound("not there")))
    assert type(fatal) is ModuleLoadError
    assert (str(fatal), fatal.module_id, fatal.reason_code) == (expected, "x", "missing_source")


@pytest.mark.parametrize(
    ("kind", "type"),
    [
        ("orchestrator", "orchestrator"),
        ("context", "context"),
        ("providers", "provider"),
        ("tools", "tool"),
        ("hooks", "hook"),
    ],
)
async def test_listeners_hear_which_module_failed_and_why(
    coordinator: TestCoordinator, kind: str, type: str
) -> None:
    """The kind, the id, the sentence and the reason."""
    heard = listen(coordinator, "module:load_failed")
    failure = ModuleValidationError("no mount", module_id="x")
    await report_failure(coordinator, kind, ModuleEntry(module="x"), failure)
    ((_, data),) = heard.events
    assert {
        "module_type": type,
        "module_id": "x",
        "error": "no mount",
        "reason_code": "validation_failed",
    }.items() <= data.items()
    assert "instance_id" not in data


async def test_a_providers_instance_is_named_and_the_application_is_told(
    coordinator: TestCoordinator,
) -> None:
    """The entry and the error."""
    heard, told = listen(coordinator, "module:load_failed"), []

    async def load_failure(*given: Any) -> None:
        told.append(given)

    coordinator.register_capability("provider.load_failure", load_failure)
    entry, failure = ModuleEntry(module="x", instance_id="second"), ModuleLoadError("no")
    await report_failure(coordinator, "providers", entry, failure)
    assert heard.events[0][1]["instance_id"] == "second"
    assert told == [(coordinator, {"module": "x", "instance_id": "second"}, failure)]


async def test_listeners_hear_of_a_ready_that_failed(
    coordinator: TestCoordinator, caplog: pytest.LogCaptureFixture
) -> None:
    """As the log does."""
    heard = listen(coordinator, "module:on_session_ready_failed")
    await report_unready(coordinator, "x", OSError("y"))
    ((_, data),) = heard.events
    assert (data["module_id"], data["error"]) == ("x", "OSError: y")
    assert caplog.messages[0] == "Module 'x': on_session_ready failed: OSError: y"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import json\n\nraise RuntimeError('half')\n", "RuntimeError: half (own.py, line 3)"),
        ("import json\njson.loads('{')\n", "(own.py, line 2)"),
        ("def mount(:\n", "SyntaxError: invalid syntax (own.py, line 1)"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0 (own.py, line 2)"),
    ],
)
async def test_a_file_that_cannot_be_imported_is_told_with_its_own_line(
    tmp_path: Path, text: str, why: str
) -> None:
    """A file that exits ends nothing but its own mounting."""
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(ModuleLoadError) as refused:
        ModuleLoader(base=tmp_path).find("./own.py")
    assert str(refused.value).startswith(f"'{file}' cannot be imported: ")
    assert str(refused.value).endswith(why)


async def test_a_module_that_exits_while_it_is_mounted_is_left_out(tmp_path: Path) -> None:
    """The program goes on, and says why."""
    (tmp_path / "own.py").write_text("import sys\ndef mount(c, config): sys.exit(0)\n")
    mounting = Mounting(TestCoordinator(), ModuleLoader(base=tmp_path))
    assert "SystemExit: 0" in str((await mounting.mount("hooks", "./own.py")).error)
