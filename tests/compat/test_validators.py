"""The validators of modules and of mount plans: names of checks, messages, results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import interfaces, validation
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    MountPlanValidationResult,
    MountPlanValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
    ValidationCheck,
    ValidationResult,
)
from amplifier_core.validation.base import check_on_session_ready
from tests.compat.authored import HOOK, KINDS
from tests.support.modules import imports_undone

VALIDATORS = {
    "Hook": HookValidator,
    "Tool": ToolValidator,
    "Provider": ProviderValidator,
    "Orchestrator": OrchestratorValidator,
    "Context": ContextValidator,
}


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


def write_package(folder: Path, text: str, name: str = "amplifier_module_sample") -> Path:
    """A package to validate."""
    package = folder / name
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(text)
    return package


@pytest.mark.parametrize("kind", KINDS)
async def test_a_module_of_each_kind_passes(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a package folder, as a file and by its name; path and string alike."""
    name = f"amplifier_module_valid_{kind.lower()}"
    package = write_package(tmp_path, KINDS[kind], name)
    file = tmp_path / "plain.py"
    file.write_text(KINDS[kind])
    monkeypatch.syspath_prepend(tmp_path)
    for given in (package, str(package), file, str(file), name):
        result = await VALIDATORS[kind]().validate(given, entry_point=None, config=None)
        assert result.passed, result.describe_errors()
        assert (result.module_type, result.module_path) == (kind.lower(), str(given))
        assert [one.name for one in result.checks] == [
            "module_importable",
            "mount_exists",
            "mount_signature",
            "protocol_compliance",
        ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "check", "word"),
    [
        ("import no_such_package_at_all", "module_importable", "import"),
        ("def mount(:", "module_importable", "import"),
        ("x = 1", "mount_exists", "mount"),
        ("async def mount(coordinator): ...", "mount_signature", "2 parameters"),
        ("def mount(coordinator, config): ...", "mount_signature", "async"),
    ],
)
async def test_a_module_that_cannot_be_mounted_fails(
    tmp_path: Path, kind: str, text: str, check: str, word: str
) -> None:
    """Under the same names for every kind, and nothing is checked after it."""
    result = await VALIDATORS[kind]().validate(write_package(tmp_path, text))
    assert not result.passed
    assert [one.name for one in result.errors] == [check]
    assert word in result.errors[0].message
    assert result.checks[-1].name == check


async def test_what_is_not_there_cannot_be_imported(tmp_path: Path) -> None:
    """A missing file, a name that nobody knows, and a folder without `__init__.py`."""
    for given in (tmp_path / "nothing", str(tmp_path / "nothing.py"), "no_such_module_anywhere"):
        (error,) = (await ToolValidator().validate(given)).errors
        assert error.name == "module_importable"
        assert "import" in error.message
    (error,) = (await ToolValidator().validate(tmp_path)).errors
    assert "__init__.py" in error.message


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("Tool", ["name", "description", "execute"]),
        ("Provider", ["name", "get_info", "list_models", "complete", "parse_tool_calls"]),
        ("Orchestrator", ["execute"]),
        (
            "Context",
            ["add_message", "get_messages", "get_messages_for_request", "set_messages", "clear"],
        ),
    ],
)
async def test_a_part_needs_its_members_and_no_more(
    tmp_path: Path, kind: str, members: list[str]
) -> None:
    """Looked at by name only: neither types nor signatures count."""
    point = {"Tool": "tools", "Provider": "providers"}.get(kind, kind.lower())
    text = """
from types import SimpleNamespace
async def mount(coordinator, config):
    part = SimpleNamespace(**dict.fromkeys(config["members"], "x"))
    await coordinator.mount({point!r}, part, name="n")
"""
    package = write_package(tmp_path, text.format(point=point))
    for missing in (None, *members):
        have = [one for one in members if one != missing]
        result = await VALIDATORS[kind]().validate(package, config={"members": have})
        check = result.checks[-1]
        assert check.name == "protocol_compliance"
        assert check.passed is (missing is None)
        assert missing is None or missing in check.message
        if kind == "Tool" and missing is None:
            assert check.message == "Tool 'n' implements Tool interface"


@pytest.mark.parametrize("kind", ["Tool", "Provider"])
async def test_nothing_mounted_is_said_unless_a_callable_is_returned(
    tmp_path: Path, kind: str
) -> None:
    """A clean-up without anything mounted is enough."""
    nothing = write_package(tmp_path, "async def mount(coordinator, config): ...")
    (error,) = (await VALIDATORS[kind]().validate(nothing)).errors
    assert error.name == "protocol_compliance"
    assert error.message.startswith(f"No {kind.lower()} was mounted")
    text = "async def mount(coordinator, config):\n    return lambda: None\n"
    instead = write_package(tmp_path, text, "amplifier_module_instead")
    assert (await VALIDATORS[kind]().validate(instead)).passed


@pytest.mark.parametrize(
    "body", ["...", "return lambda: None", "return 3", "coordinator.hooks.register('a:b', print)"]
)
async def test_a_hook_module_passes_whatever_it_registers(tmp_path: Path, body: str) -> None:
    """Also nothing, and also with a clean-up that does nothing."""
    text = f"async def mount(coordinator, config):\n    {body}\n"
    assert (await HookValidator().validate(write_package(tmp_path, text))).passed


@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_clean_ups_run_afterwards_and_their_errors_are_ignored(
    tmp_path: Path, kind: str
) -> None:
    """Sync or async."""
    mark = tmp_path / "undone"
    text = f"""
from pathlib import Path
async def mount(coordinator, config):
    {kind} undo():
        Path({str(mark)!r}).touch()
        raise OSError("no")
    return undo
"""
    assert (await HookValidator().validate(write_package(tmp_path, text))).passed
    assert mark.exists()


async def test_a_bad_on_session_ready_comes_behind_the_signature(tmp_path: Path) -> None:
    """An error of its own; a good one adds no check."""
    bad = HOOK.replace("async def on_session_ready", "def on_session_ready")
    result = await HookValidator().validate(write_package(tmp_path, bad))
    names = [one.name for one in result.checks]
    assert names[2:4] == ["mount_signature", "on_session_ready_async"]
    assert not result.passed


async def _ready(coordinator: Any) -> None: ...
async def _not_ready() -> None: ...


@pytest.mark.parametrize(
    ("function", "good"), [(_ready, True), (_not_ready, False), (lambda coordinator: None, False)]
)
def test_on_session_ready_is_async_and_takes_the_coordinator(function: Any, good: bool) -> None:
    """None if nothing is wrong or nothing is there, else a failed check of severity error."""
    assert check_on_session_ready(SimpleNamespace()) is None
    check = check_on_session_ready(SimpleNamespace(on_session_ready=function))
    if good:
        assert check is None
    else:
        assert check is not None
        assert check.name == "on_session_ready_async"
        assert (check.passed, check.severity) == (False, "error")


def test_a_result_counts_errors_and_warnings_by_severity() -> None:
    """Only errors fail it."""
    result = ValidationResult("tool", "here")
    assert result.checks == []
    result.add(ValidationCheck("a", True, "fine", "info"))
    assert result.passed
    result.add(ValidationCheck(name="b", passed=False, message="hm", severity="warning"))
    assert result.passed
    assert [one.name for one in result.warnings] == ["b"]
    result = ValidationResult("tool", "here", checks=[ValidationCheck("a", True, "fine", "info")])
    result.add(ValidationCheck("c", False, "no", "error"))
    assert not result.passed
    assert [one.name for one in result.errors] == ["c"]
    assert result.summary() == "FAILED: 1/2 checks passed (1 errors, 0 warnings)"
    assert ValidationResult("tool", "x").summary().startswith("PASSED: 0/0")


@pytest.mark.parametrize("protocol", [interfaces.Tool, interfaces.Orchestrator])
def test_structure_is_not_a_question_of_isinstance(protocol: Any) -> None:
    """These two protocols are not runtime-checkable."""
    with pytest.raises(TypeError):
        isinstance(object(), protocol)


# Mount plans

SESSION = {"orchestrator": {"module": "loop-x"}, "context": {"module": "context-x"}}


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ([], ["must be a dict"]),
        ({}, ["session"]),
        ({"session": 3}, ["session", "must be a dict"]),
        ({"session": {"context": SESSION["context"]}}, ["orchestrator"]),
        ({"session": {"orchestrator": SESSION["orchestrator"]}}, ["context"]),
        ({"session": {**SESSION, "orchestrator": "loop-x"}}, ["must be a dict"]),
        ({"session": SESSION, "providers": {}}, ["providers", "must be a list"]),
        ({"session": SESSION, "tools": "x"}, ["tools", "must be a list"]),
        ({"session": SESSION, "hooks": 3}, ["hooks", "must be a list"]),
        ({"session": SESSION, "tools": ["x"]}, ["must be a dict"]),
        ({"session": SESSION, "tools": [{"config": {}}]}, ["missing", "expected"]),
        ({"session": SESSION, "tools": [{"module": 3}]}, ["string"]),
        ({"session": SESSION, "tools": [{"module": ""}]}, ["empty"]),
        ({"session": SESSION, "tools": [{"module": "x", "config": []}]}, ["config"]),
        ({"session": SESSION, "tools": [{"module": "x", "source": 3}]}, ["source"]),
    ],
)
def test_what_is_wrong_with_a_plan_is_an_error(plan: Any, words: list[str]) -> None:
    """And it is told to a person with name and message."""
    result = MountPlanValidator().validate(plan)
    assert isinstance(result, MountPlanValidationResult)
    assert not result.passed
    (error,) = result.errors
    assert all(word in error.message for word in words)
    told = result.format_errors()
    assert told.startswith("Mount Plan Validation Failed")
    assert error.name in told
    assert error.message in told
    assert result.summary().startswith("FAILED")


def test_a_good_plan_has_no_errors() -> None:
    """Unknown sections are a warning; agents are not looked at."""
    plan = {
        "session": SESSION,
        "providers": [{"module": "provider-x", "source": "git+https://x", "config": {"a": 1}}],
        "agents": "whatever",
    }
    result = MountPlanValidator().validate(plan)
    assert result.passed
    assert (result.errors, result.warnings) == ([], [])
    assert result.format_errors() == "No errors"
    result = MountPlanValidator().validate({**plan, "gadgets": []})
    assert result.passed
    assert ["unknown" in one.message for one in result.warnings] == [True]


def test_the_validators_are_in_one_place() -> None:
    """With the result types."""
    for name in (*(one.__name__ for one in VALIDATORS.values()), "MountPlanValidator"):
        assert name in validation.__all__
