"""The checks that every kind of module shares."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleError, ModuleValidationError
from amplifier_core.testing import MockCoordinator
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from amplifier_core.validation.module import (
    ModuleValidator,
    PartValidator,
    find_module_near,
    import_code,
    mount_code,
)
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


CORE = """
async def mount(coordinator, config):
    coordinator.register_capability("mounted", config)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of the ecosystem that imports itself by its own name."""
    folder = tmp_path / "amplifier_module_tool_found"
    folder.mkdir()
    (folder / "__init__.py").write_text("from amplifier_module_tool_found.core import mount\n")
    (folder / "core.py").write_text(CORE)
    return folder


def test_a_package_is_imported_by_its_own_name(package: Path) -> None:
    """So that its classes are the ones that the author's tests import; the path is put back."""
    before = list(sys.path)
    code = import_code(package)
    assert code.python_module.__name__ == "amplifier_module_tool_found"
    assert code.find_mount().__module__ == "amplifier_module_tool_found.core"
    assert import_code(str(package)).python_module is code.python_module
    assert sys.path == before


def test_the_folder_around_a_package_will_do(package: Path) -> None:
    """The root of a project."""
    assert import_code(package.parent).origin == str(package)


def test_a_package_may_take_itself_off_the_path(package: Path) -> None:
    """What it does to the path is its own affair."""
    with (package / "__init__.py").open("a") as file:
        file.write(f"import sys\nsys.path.remove({str(package.parent)!r})\n")
    assert import_code(package).find_mount()


def test_a_file_is_read_as_it_is_now(tmp_path: Path) -> None:
    """An author edits and validates again."""
    file = write_module(tmp_path, "async def mount(c, k): return 1")
    first = import_code(file)
    write_module(tmp_path, "async def mount(c, k): return 2")
    assert import_code(str(file)).python_module is not first.python_module


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """If it is a package."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(CORE)
    assert import_code(tmp_path / "mine").find_mount()


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("amplifier_hooks.guards.datetime", "amplifier_hooks.guards.datetime"),
        ("hooks-datetime", "amplifier_hooks.guards.datetime"),
    ],
)
def test_a_module_may_be_named(name: str, home: str) -> None:
    """As Python imports it, or by its id."""
    code = import_code(name)
    assert code.python_module.__name__ == home
    assert code.find_mount() is code.python_module.mount


def test_a_package_that_is_installed_may_be_named(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name of the package, and by the id of the module."""
    monkeypatch.syspath_prepend(package.parent)
    for name in ("amplifier_module_tool_found", "tool-found"):
        assert import_code(name).python_module.__name__ == "amplifier_module_tool_found"


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("./nowhere.py", "there is no file or folder 'nowhere.py'"),
        (Path("nowhere"), "there is no file or folder 'nowhere'"),
        ("no_such_package", "Unknown module 'no_such_package'"),
        ("hooks-nonsense", "Unknown module 'hooks-nonsense'"),
        ("json.no_such_part", "No module named 'json.no_such_part'"),
        ("", "Unknown module ''"),
    ],
)
def test_what_cannot_be_found_is_said(module: str | Path, why: str) -> None:
    """With what was asked for."""
    with pytest.raises(ModuleError, match=why):
        import_code(module)


def test_a_folder_without_code_is_no_module(tmp_path: Path) -> None:
    """It says what is missing."""
    with pytest.raises(ModuleError, match=r"has no __init__\.py"):
        import_code(tmp_path)


def test_an_entry_point_may_name_another_function(tmp_path: Path) -> None:
    """The part behind the colon; the id of an entry point says nothing of it."""
    file = write_module(tmp_path, "async def install(c, k): ...\nasync def mount(c, k): ...")
    code = import_code(file, "sample_module:install")
    assert code.find_mount() is code.python_module.install
    code = import_code(file, "tool-sample")
    assert code.find_mount() is code.python_module.mount
    with pytest.raises(ModuleValidationError, match="no mount"):
        import_code(file, "sample_module:nothing").find_mount()


def test_a_plain_file_of_hooks_has_a_mount(tmp_path: Path) -> None:
    """As in a session."""
    file = write_module(tmp_path, "async def on_session_start(event, data): ...")
    assert import_code(file).find_mount()


async def test_mounting_gives_the_clean_up(tmp_path: Path, package: Path) -> None:
    """Or None; the options are a copy."""
    coordinator, config = MockCoordinator(), {"level": 1}
    assert await mount_code(package, coordinator, config) is None
    assert coordinator.get_capability("mounted") == config
    assert coordinator.get_capability("mounted") is not config
    undo = await mount_code(write_module(tmp_path, GOOD_HOOKS), coordinator)
    assert coordinator.hooks.list_handlers() == {"tool:pre": ["ok"]}
    undo()
    assert coordinator.hooks.list_handlers() == {}


def test_the_nearest_package_above_a_test_is_the_module(tmp_path: Path) -> None:
    """Beside the tests, around them, or under `src`; folders that are no package do not count."""
    test = tmp_path / "project" / "tests" / "unit" / "test_x.py"
    assert find_module_near(test) is None
    (tmp_path / "project" / "amplifier_module_not").mkdir(parents=True)
    assert find_module_near(test) is None
    places = [
        "amplifier_module_far",
        "project/src/amplifier_module_a",
        "project/tests/amplifier_module_b",
    ]
    for place in places:
        package = tmp_path / place
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        assert find_module_near(test) == package
    inside = tmp_path / "amplifier_module_far" / "tests" / "test_y.py"
    assert find_module_near(inside) == tmp_path / "amplifier_module_far"


VALIDATORS = [ToolValidator, ProviderValidator, OrchestratorValidator, ContextValidator]
each_kind = pytest.mark.parametrize("validator", VALIDATORS, ids=lambda one: one.kind)

PART = """
async def mount(coordinator, config):
    class Part: ...
    part = Part()
    for name in config["members"]:
        setattr(part, name, "part" if name == "name" else lambda *a, **k: [])
    await coordinator.mount(config["point"], part, "part" if "s" == config["point"][-1] else None)
"""
TOOL = """
async def mount(coordinator, config):
    class Tool:
        name, description, input_schema = "t", {description!r}, {schema!r}
        async def execute(self, input): ...
    await coordinator.mount("tools", Tool())
"""
SCHEMA = {"type": "object", "properties": {}}


@each_kind
async def test_what_has_every_member_implements_the_interface(
    tmp_path: Path, validator: type[PartValidator]
) -> None:
    """Whatever its class is called and derives from."""
    config = {"point": validator.mount_point, "members": validator.members}
    result = await validator().validate(write_module(tmp_path, PART), config=config)
    assert result.passed, result.describe_errors()
    named = "Part" if validator.mount_point in ("orchestrator", "context") else "part"
    said = f"{validator.kind.capitalize()} '{named}' implements {validator.interface} interface"
    assert result.checks[-1].message == said


@each_kind
async def test_each_missing_member_is_named(tmp_path: Path, validator: type[PartValidator]) -> None:
    """One at a time, and all together."""
    path = write_module(tmp_path, PART)
    for member in validator.members:
        rest = [one for one in validator.members if one != member]
        config = {"point": validator.mount_point, "members": rest}
        result = await validator().validate(path, config=config)
        assert [one.name for one in result.errors] == ["protocol_compliance"]
        assert result.errors[0].message.endswith(f"it is missing: {member}")
    config = {"point": validator.mount_point, "members": []}
    result = await validator().validate(path, config=config)
    assert result.errors[0].message.endswith(", ".join(validator.members))


@each_kind
async def test_nothing_mounted_is_an_error(tmp_path: Path, validator: type[PartValidator]) -> None:
    """Unless something that can be called was returned instead."""
    path = write_module(tmp_path, "async def mount(coordinator, config): ...")
    result = await validator().validate(path)
    assert [one.name for one in result.errors] == ["protocol_compliance"]
    assert result.errors[0].message.startswith(f"No {validator.kind} was mounted")
    path = write_module(tmp_path, "async def mount(coordinator, config): return lambda: None")
    assert (await validator().validate(path)).passed


@pytest.mark.parametrize(
    ("validator", "module", "config"),
    [
        (ToolValidator, "tool-filesystem", {}),
        (ProviderValidator, "provider-scripted", {"script": []}),
        (ContextValidator, "context-simple", {}),
        (OrchestratorValidator, "loop-basic", {}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_our_own_parts_pass(
    validator: type[PartValidator], module: str, config: dict[str, list[str]]
) -> None:
    """What the package ships keeps the contract that authors are held to."""
    result = await validator(thorough=True).validate(module, config=config)
    assert result.passed, result.describe_errors()


@pytest.mark.parametrize(
    ("description", "schema", "wrong"),
    [
        ("Does it", SCHEMA, []),
        ("", SCHEMA, ["tool_description"]),
        ("Does it", {}, ["tool_schema"]),
        ("Does it", None, ["tool_schema"]),
        ("Does it", {"type": "string"}, ["tool_schema"]),
    ],
)
async def test_a_model_must_be_able_to_choose_and_call_a_tool(
    tmp_path: Path, description: str, schema: object, wrong: list[str]
) -> None:
    """By its description, with an object of arguments: tools of the ecosystem may do with less."""
    path = write_module(tmp_path, TOOL.format(description=description, schema=schema))
    result = await ToolValidator(thorough=True).validate(path)
    assert [one.name for one in result.errors] == wrong
    assert (await ToolValidator().validate(path)).passed


async def test_a_context_must_keep_its_messages(tmp_path: Path) -> None:
    """One that answers every call and remembers nothing is no conversation."""
    config = {"point": "context", "members": ContextValidator.members}
    path = write_module(tmp_path, PART)
    result = await ContextValidator(thorough=True).validate(path, config=config)
    assert [one.name for one in result.errors] == ["context_keeps_messages"]
