"""What every observing hook module promises, whatever it observes."""

from __future__ import annotations

import asyncio
import importlib
import random
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.validation.hook import HookValidator
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.yaml_files.reader import substitute
from tests.support.harness import Harness, finish

MODULES: dict[str, dict[str, Any]] = {
    "progress_monitor": {},
    "session_naming": {},
    "todo_display": {},
    "logging": {},
    "notify": {"events": ["*"], "desktop": False},
    "git_status": {},
    "datetime": {},
    "linter_feedback": {},
    "test_runner": {"command": "true"},
    "otel": {},
}
ROOT = Path(__file__).parents[2]
each_module = pytest.mark.parametrize("module", MODULES)


async def mount(module: str, harness: Harness, config: dict[str, Any] | None = None) -> Any:
    return await harness.mount(module, MODULES[module] if config is None else config)


@each_module
async def test_cleanup_leaves_no_registration_and_no_task(module: str, tmp_path: Path) -> None:
    """Clean-up undoes the mount: registrations and background tasks are gone."""
    harness = Harness(tmp_path)
    before = asyncio.all_tasks()
    cleanup = await mount(module, harness)
    assert harness.hooks.list_handlers()
    for event in ("session:start", "prompt:submit", "orchestrator:complete"):
        await harness.emit(event, prompt="Fix the build", duration_ms=60_000)
    await finish(cleanup)
    assert harness.hooks.list_handlers() == {}
    assert asyncio.all_tasks() == before


@each_module
async def test_cleanup_can_run_twice(module: str, tmp_path: Path) -> None:
    """Cleaning up what is clean does nothing."""
    harness = Harness(tmp_path)
    cleanup = await mount(module, harness)
    await finish(cleanup)
    await finish(cleanup)
    assert harness.hooks.list_handlers() == {}


@each_module
async def test_every_registration_bears_the_modules_name(module: str, tmp_path: Path) -> None:
    """People see in lists, messages and the trail which module spoke."""
    async with Harness(tmp_path).mounted(module, MODULES[module]) as harness:
        names = {name for found in harness.hooks.list_handlers().values() for name in found}
    assert names == {f"hooks-{module.replace('_', '-')}"}


@each_module
async def test_an_unknown_option_is_ignored_and_told_of(module: str, tmp_path: Path) -> None:
    """Plans are also written for other modules of the same id; module and option are named."""
    harness = Harness(tmp_path)
    cleanup = await mount(module, harness, {**MODULES[module], "no_such_option": 7})
    [(shown, level, _)] = harness.screen.messages
    name = f"hooks-{module.replace('_', '-')}"
    assert shown.startswith(f"{name}: unknown option 'no_such_option' is ignored; have ")
    assert level == "warning"
    assert harness.hooks.list_handlers()
    await finish(cleanup)


@each_module
async def test_a_config_that_is_no_mapping_is_refused(module: str, tmp_path: Path) -> None:
    """Bad config → a clear error."""
    with pytest.raises(ModuleLoadError, match="must be a mapping"):
        await mount(module, Harness(tmp_path), ["a", "list"])  # type: ignore[arg-type]


class Unprintable:
    """Refuses to be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def odd_values() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return [
        None,
        "\ud800 lone",
        b"\xff\x00",
        float("nan"),
        10**5000,
        loop,
        {("tuple",): {1, 2}},
        Unprintable(),
        {"success": Unprintable()},
        "x" * 50_000,
        "\x1b[2J\u202e",
    ]


FIELDS = (
    "prompt", "tool_name", "tool_input", "tool_result", "tool_call_id", "success", "error", "usage",
    "response", "messages", "provider", "model", "duration_ms", "status", "final_message", "reason",
    "notification_type", "message", "hook", "event", "agent_name", "attempt", "decision", "how",
)  # fmt: skip


@each_module
@settings(
    max_examples=settings.default.max_examples // 8,  # each plays all events
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_odd_data_harms_nobody(
    module: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    """Observers never crash the agent, whatever an event carries or lacks."""
    choice = random.Random(seed)

    async def play() -> None:
        async with Harness(tmp_path).mounted(module, MODULES[module]) as harness:
            for event in ALL_EVENTS:
                names = choice.sample(FIELDS, choice.randint(0, 4))
                data = {name: choice.choice(odd_values()) for name in names}
                result = await harness.hooks.emit(event, data)
                assert result.action in {"continue", "inject_context"}

    caplog.clear()
    asyncio.run(play())
    assert "failed" not in caplog.text


@each_module
async def test_an_event_costs_next_to_nothing(module: str, tmp_path: Path) -> None:
    """Observers never slow the agent: an ordinary event takes far less than a millisecond."""
    async with Harness(tmp_path).mounted(module, MODULES[module]) as harness:
        call = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}
        await harness.emit("tool:pre", **call, tool_call_id="warm")
        spent = []
        for _ in range(5):
            started = time.process_time()
            for number in range(40):
                await harness.emit("tool:pre", **{**call, "tool_input": {"file_path": f"{number}"}})
            spent.append((time.process_time() - started) / 40)
    assert min(spent) < 0.001


@each_module
async def test_modules_of_a_hundred_sessions_share_few_threads(module: str, tmp_path: Path) -> None:
    """Many sessions in one process: no module brings a thread per session."""
    before = threading.active_count()
    cleanups = [
        await mount(module, Harness(tmp_path, session_id=f"s{number}")) for number in range(100)
    ]
    assert threading.active_count() - before < 20
    for cleanup in cleanups:
        await finish(cleanup)


@each_module
async def test_the_kernels_own_contract_check_finds_nothing(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check that authors of modules run: found by its id, mounts, answers, goes away."""
    monkeypatch.chdir(tmp_path)
    report = await HookValidator(thorough=True).validate(
        f"hooks-{module.replace('_', '-')}", config=MODULES[module]
    )
    assert report.passed, report.describe_errors()


@each_module
def test_the_documentation_lists_every_option_and_its_example_is_valid(module: str) -> None:
    """For each module one page with all options in a table and a valid example."""
    name = module.replace("_", "-")
    page = (ROOT / "docs" / "modules" / f"hooks-{name}.md").read_text()
    config = importlib.import_module(f"amplifier_hooks.guards.{module}").Config
    options = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert set(config.model_fields) <= options
    for example in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        (entry,) = yaml.safe_load(substitute(example, {}))["hooks"]
        assert entry["module"] == f"hooks-{name}"
        parse_config(config, entry.get("config"), name)
