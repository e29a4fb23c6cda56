"""The checks that every kind of module shares: imported, mountable, mounted, undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation import HookValidator, ToolValidator
from amplifier_core.validation.module import ModuleValidator
from tests.support.modules import GOOD_HOOKS, write_module

UNMOUNTED = GOOD_HOOKS.replace("return coordinator", "coordinator")


@pytest.mark.parametrize(
    ("text", "check", "message"),
    [
        ("import nothing_of_that_name", "module_importable", "nothing_of_that_name"),
        ("def broken(", "module_importable", "Cannot import the module"),
        ("x = 1", "mount_exists", "has no mount"),
        ("mount = 3", "mount_exists", "has no mount"),
        ("async def mount(): ...", "mount_signature", "2 parameters"),
        ("async def mount(coordinator): ...", "mount_signature", "2 parameters"),
        ("mount = dict.fromkeys", "mount_signature", "async"),
        ("mount = type", "mount_signature", "2 parameters"),
        ("def mount(c, k): ...", "mount_signature", "write `async def mount`"),
        ("async def mount(c, k): raise OSError('no')", "protocol_compliance", "OSError: no"),
    ],
)
async def test_each_broken_promise_is_named_and_ends_the_validation(
    tmp_path: Path, text: str, check: str, message: str
) -> None:
    """With the cause, so that the author can mend it."""
    result = await ModuleValidator().validate(write_module(tmp_path, text))
    assert [one.name for one in result.errors] == [check]
    assert result.checks[-1] is result.errors[0]
    assert message in result.describe_errors()


@pytest.mark.parametrize(
    ("text", "check", "message"),
    [
        ("async def mount(c, k): return 3", "cleanup_callable", "returned int"),
        (UNMOUNTED + "    return lambda: None\n", "cleanup_complete", "still registered"),
        (UNMOUNTED + "    return lambda: 1 / 0\n", "cleanup_works", "ZeroDivisionError"),
        (
            UNMOUNTED + "    async def undo(): raise OSError('undo')\n    return undo\n",
            "cleanup_works",
            "OSError: undo",
        ),
    ],
)
async def test_the_clean_up_is_tried_thoroughly_or_left_alone(
    tmp_path: Path, text: str, check: str, message: str
) -> None:
    """What a clean-up does wrong is said to those who ask."""
    path = write_module(tmp_path, text)
    result = await ModuleValidator(thorough=True).validate(path)
    assert check in [one.name for one in result.errors]
    assert message in result.describe_errors()
    assert (await ModuleValidator().validate(path)).passed


async def test_the_clean_up_runs_in_any_case(tmp_path: Path) -> None:
    """Sync or async, so that a validated module leaves nothing behind."""
    mark = tmp_path / "undone"
    for kind in ("def", "async def"):
        text = (
            f"from pathlib import Path\n{kind} undo(): Path({str(mark)!r}).touch()\n"
            "async def mount(coordinator, config): return undo\n"
        )
        assert (await ModuleValidator().validate(write_module(tmp_path, text))).passed
        mark.unlink()


async def test_a_bad_on_session_ready_is_an_error_behind_the_signature(tmp_path: Path) -> None:
    """The rest is checked all the same."""
    text = GOOD_HOOKS + "\ndef on_session_ready(coordinator): ...\n"
    result = await HookValidator().validate(write_module(tmp_path, text))
    assert [one.name for one in result.checks] == [
        "module_importable",
        "mount_exists",
        "mount_signature",
        "on_session_ready_async",
        "protocol_compliance",
    ]
    assert [one.name for one in result.errors] == ["on_session_ready_async"]


async def test_what_fails_when_it_is_looked_at_is_a_finding(tmp_path: Path) -> None:
    """A property that raises must not end the validation of others."""
    text = """
async def mount(coordinator, config):
    class Tool:
        @property
        def execute(self): raise OSError("not now")
        name = description = "t"
    await coordinator.mount("tools", Tool())
"""
    result = await ToolValidator().validate(write_module(tmp_path, text))
    assert "OSError: not now" in result.describe_errors()


async def test_an_unknown_id_is_a_finding_and_no_exception() -> None:
    """An author may have mistyped it."""
    result = await ModuleValidator().validate("hooks-nonsense")
    assert [one.name for one in result.errors] == ["module_importable"]
    assert "Unknown module 'hooks-nonsense'" in result.describe_errors()
    assert (result.module_type, result.module_path) == ("module", "hooks-nonsense")


async def test_a_module_may_do_without_a_clean_up(tmp_path: Path) -> None:
    """What `mount` returns is a clean-up or nothing."""
    path = write_module(tmp_path, "async def mount(coordinator, config): ...")
    assert (await ModuleValidator(thorough=True).validate(path)).passed


async def test_the_config_reaches_the_module(tmp_path: Path) -> None:
    """An author can check a module as it will be configured."""
    path = write_module(tmp_path, "async def mount(coordinator, config): assert config['level']")
    assert (await ModuleValidator().validate(path, None, {"level": 3})).passed
    assert (await ModuleValidator().validate(path, config={"level": 3})).passed
    assert not (await ModuleValidator().validate(path)).passed


async def test_another_function_may_be_what_mounts(tmp_path: Path) -> None:
    """The one that the entry point names."""
    path = write_module(tmp_path, "async def install(coordinator, config): ...")
    assert (await ModuleValidator().validate(path, "sample_module:install")).passed
    assert not (await ModuleValidator().validate(path)).passed


async def test_a_module_of_the_package_is_found_by_its_id() -> None:
    """By id as in a bundle, not only by path."""
    assert (await ToolValidator(thorough=True).validate("tool-filesystem")).passed
    assert (await HookValidator(thorough=True).validate("hooks-datetime")).passed
