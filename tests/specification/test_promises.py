"""The examples of the specification do what its text promises, not merely run."""

from __future__ import annotations

import ast
import inspect
import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.events import EventData
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from tests.specification.preamble import KeywordLogger, preamble
from tests.specification.test_examples import BLOCKS, CANNOT_RUN, SEEDS

Data = dict[str, Any]


async def example(name: str, **settings: Any) -> dict[str, Any]:
    """Run a block with the preamble, some of it replaced, and return what it left."""
    return await BLOCKS[name].run({**preamble(), **settings})


async def hook_of(name: str, function: str, event: str) -> HookRegistry:
    """A registry with the hook that a block defines, registered for one event."""
    registry = HookRegistry()
    registry.register(event, (await example(name))[function], name=function)
    return registry


def answering(answer: HookResult) -> Any:
    """A hook that always gives this answer."""

    async def hook(event: str, data: Data) -> HookResult:
        return answer

    return hook


def tool_call(tool_name: str, **tool_input: Any) -> Data:
    return {"session_id": "s1", "tool_name": tool_name, "tool_input": tool_input}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with the real ruff and a `notify-send` that writes down how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    notify = folder / "notify-send"
    notify.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/notified"\n')
    notify.chmod(0o755)
    path = [str(folder), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    monkeypatch.chdir(tmp_path)  # or ruff would judge by the settings of this repository
    return tmp_path


class TestRegistering:
    async def test_the_unregister_function_removes_the_handler(self):
        """Later, remove the handler if needed."""
        for name in ("hooks_api_a:24", "hooks_api_a:140", "hooks_api_b:112"):
            left = await example(name)
            assert "tool:pre" not in left["registry"].list_handlers(), name

    async def test_lower_priority_runs_first(self):
        """Handlers execute sequentially by priority value. Lower numbers have higher priority."""
        ran: list[str] = []

        def recorder(name: str) -> Any:
            async def handler(event: str, data: Data) -> HookResult:
                ran.append(name)
                return HookResult(action="continue")

            return handler

        names = ["third_handler", "first_handler", "second_handler"]
        left = await example("hooks_api_a:184", **{name: recorder(name) for name in names})
        await left["registry"].emit("tool:pre", {})
        assert ran == ["first_handler", "second_handler", "third_handler"]

    async def test_unregistering_is_logged_in_these_words(self, caplog: pytest.LogCaptureFixture):
        """Logs: "Unregistered hook 'my_handler' from event 'tool:post'"."""

        async def my_handler(event: str, data: Data) -> HookResult:
            return HookResult(action="continue")

        with caplog.at_level(logging.DEBUG):
            await example("hooks_api_a:204", my_handler=my_handler)
        assert "Unregistered hook 'my_handler' from event 'tool:post'" in caplog.messages

    async def test_the_guide_keeps_what_it_did_not_unregister(self):
        """The register() call returns an unregister function you can call to remove the handler."""
        left = await example("understanding_hooks:163")
        assert left["registry"].list_handlers() == {"session:end": ["my_custom_hook_session_end"]}

    async def test_on_is_an_alias(self):
        """Identical to register()."""
        left = await example("hooks_api_b:153")
        assert left["registry"].list_handlers("session:start") == {"session:start": ["any_hook"]}
        left["unregister"]()
        assert not left["registry"].list_handlers().get("session:start")

    async def test_register_without_a_handler_is_a_decorator(self):
        """Hook into tool execution lifecycle; hook into decision events for custom logic."""
        left = await example("hooks_api_b:325")
        registry = left["registry"]
        denied = await registry.emit("tool:pre", {"tool_name": "dangerous_tool"})
        assert (denied.action, denied.reason) == ("deny", "Tool not allowed")
        assert inspect.iscoroutinefunction(left["validate_tool"])
        suggestions = await registry.emit_and_collect("decision:tool_resolution", {})
        assert suggestions == [{"recommended_tool": "calculator"}]

    async def test_list_handlers_returns_what_the_comment_says(self):
        """Returns handler names in priority order."""
        registry = HookRegistry()
        hook = preamble()["my_handler"]
        registry.register("tool:pre", hook, priority=5, name="validator")
        registry.register("tool:pre", hook, priority=1, name="security")
        registry.register("tool:post", hook, name="audit")
        registry.register("tool:post", hook, name="metrics")
        left = await example("hooks_api_b:277", registry=registry)
        assert left["all_handlers"] == {
            "tool:pre": ["security", "validator"],
            "tool:post": ["audit", "metrics"],
        }
        assert left["tool_handlers"] == {"tool:pre": ["security", "validator"]}

    async def test_hooks_of_every_kind_of_event_register(self):
        """Register hooks for specific events."""
        registered = (await example("hooks_events:616"))["registry"].list_handlers()
        assert set(registered) == {
            "session:start", "session:end", "tool:pre", "tool:post", "orchestrator:complete",
            "user:notification",
        }  # fmt: skip


class TestEmitting:
    async def test_a_modification_reaches_the_result(self, capsys: pytest.CaptureFixture[str]):
        """`continue` is printed, and the data includes a timestamp: the registry's own."""
        left = await example("hooks_api_a:215")
        assert capsys.readouterr().out.splitlines()[0] == "continue"
        assert left["result"].data["tool_name"] == "calculator"
        assert left["result"].data["timestamp"] > "2026"

    async def test_a_validation_handler_denies(self):
        """If any handler returns action="deny", execution stops and returns the denial."""
        registry = (await example("hooks_api_a:215"))["registry"]
        result = await registry.emit("tool:pre", {})
        assert (result.action, result.reason) == ("deny", "Tool name required")

    async def test_default_fields_are_merged(self):
        """Emitted data automatically includes defaults."""
        left = await example("hooks_api_a:269")
        assert left["result"].data == {
            "session_id": "abc123", "user_id": "user456", "tool_name": "calculator",
        }  # fmt: skip

    async def test_default_fields_reach_the_handlers(self):
        """Now all emitted events will include these fields."""
        registry, seen = HookRegistry(), []

        @registry.register("tool:pre")
        async def remember(event: str, data: Data) -> HookResult:
            seen.append(data)
            return HookResult(action="continue")

        await example("hooks_api_b:177", registry=registry)
        assert seen[0].pop("timestamp")
        assert seen == [{
            "session_id": "sess_123", "user_id": "user_456", "environment": "production",
            "tool_name": "calculator",
        }]  # fmt: skip

    async def test_without_handlers_the_data_comes_back(self):
        """Returns: HookResult(action="continue", data={"data": "value"})."""
        result = (await example("hooks_api_a:285"))["result"]
        assert result == HookResult(action="continue", data={"data": "value"})

    @pytest.mark.parametrize(
        ("answer", "printed"),
        [
            (HookResult(action="deny", reason="no"), "Operation blocked: no\n"),
            (
                HookResult(action="inject_context", context_injection="look"),
                "Context to inject: look\n",
            ),
        ],
    )
    async def test_the_caller_reads_the_action(
        self, answer: HookResult, printed: str, capsys: pytest.CaptureFixture[str]
    ):
        """Returns the final result after all handlers execute."""
        registry = HookRegistry()
        registry.register("tool:post", answering(answer))
        await example("hooks_api_b:211", registry=registry)
        assert capsys.readouterr().out == printed

    async def test_responses_are_collected(self):
        """Responses might be: weather_api 0.9, web_search 0.3."""
        registry = HookRegistry()
        for tool, confidence in (("weather_api", 0.9), ("web_search", 0.3)):
            answer = HookResult(data={"tool": tool, "confidence": confidence})
            registry.register("decision:tool_resolution", answering(answer), name=tool)
        left = await example("hooks_api_b:246", registry=registry)
        assert left["tool_scores"] == {"weather_api": 0.9, "web_search": 0.3}

    async def test_an_observer_prints_and_changes_nothing(self, capsys: pytest.CaptureFixture[str]):
        """Create registry, register a handler, emit events to trigger it."""
        left = await example("hooks_api_b:55")
        assert capsys.readouterr().out == "Tool executed: calculator\n"
        assert left["result"].action == "continue"

    async def test_modifications_chain(self):
        """Initial data: 10. Multiply by 2, add 5. Final data: 25."""
        registry = HookRegistry()
        registry.register(
            "custom:sum",
            lambda event, data: HookResult(action="modify", data={"value": data["value"] * 2}),
            name="multiply",
        )
        registry.register(
            "custom:sum",
            lambda event, data: HookResult(action="modify", data={"value": data["value"] + 5}),
            name="add",
        )
        result = await registry.emit("custom:sum", {"value": 10})
        assert (result.action, result.data["value"]) == ("continue", 25)
        left = await example("hooks_architecture:136")
        assert left["result_2"].data == {"value": 25}

    async def test_a_deny_stops_the_chain(self):
        """Hook 1 returns deny. Hook 2 never executes. Hook 3 never executes."""
        registry, ran = HookRegistry(), []

        async def hook(event: str, data: Data) -> HookResult:
            ran.append(data)
            return HookResult(action="deny", reason="first")

        for number in (1, 2, 3):
            registry.register("tool:pre", hook, priority=number * 10, name=f"hook_{number}")
        assert (await registry.emit("tool:pre", {})).reason == "first"
        assert len(ran) == 1

    async def test_handler_records_sort_by_priority_and_chain(self):
        """Hooks execute sequentially by priority (lower number = earlier)."""
        ran: list[str] = []

        def step(name: str, change: int) -> Any:
            async def handler(event: str, data: Data) -> HookResult:
                ran.append(name)
                return HookResult(action="modify", data={"value": data["value"] + change})

            return handler

        left = await example(
            "hooks_architecture:95",
            hook_a=step("a", 1), hook_b=step("b", 10), hook_c=step("c", 100),
        )  # fmt: skip
        assert ran == ["a", "b", "c"]
        assert left["current_data"] == {"value": 121}


class TestGuards:
    @pytest.mark.parametrize("path", ["config/.env", "tls/server.key", "tls/server.pem"])
    async def test_sensitive_files_are_denied(self, path: str):
        """Block access to sensitive files."""
        registry = await hook_of("hooks_api_a:445", "security_hook", "tool:pre")
        result = await registry.emit("tool:pre", tool_call("Read", file_path=path))
        assert result.action == "deny"
        assert result.reason == f"Access denied: {path} contains sensitive data"
        harmless = await registry.emit("tool:pre", tool_call("Read", file_path="README.md"))
        assert harmless.action == "continue"

    async def test_protected_directories_are_denied(self):
        """Block writes to sensitive directories."""
        registry = await hook_of("hooks_api_b:632", "security_hook", "tool:pre")
        result = await registry.emit("tool:pre", tool_call("Write", file_path="/etc/passwd"))
        assert result.action == "deny"
        assert result.reason == "Access denied: /etc/passwd is in a protected directory"
        reading = await registry.emit("tool:pre", tool_call("Read", file_path="/etc/passwd"))
        assert reading.action == "continue"

    async def test_a_dangerous_tool_is_denied(self):
        """Critical handlers like security checks run before other processing."""
        registry = await hook_of("hooks_api_b:112", "security_check", "tool:pre")
        result = await registry.emit("tool:pre", {"tool_name": "dangerous_tool"})
        assert (result.action, result.reason) == ("deny", "Tool blocked by security policy")

    async def test_the_validator_denies_or_marks(self):
        """Add security metadata, or deny."""
        registry = await hook_of("hooks_api_b:378", "security_validator", "tool:pre")
        assert (await registry.emit("tool:pre", {"tool_name": "rm"})).action == "deny"
        passed = await registry.emit("tool:pre", {"tool_name": "ls"})
        assert passed.action == "continue"
        assert passed.data["security_validated"] is True

    async def test_the_bash_validator_denies_the_root(self):
        """Dangerous command blocked: rm -rf /."""
        registry = await hook_of("hooks_events:180", "bash_validator", "tool:pre")
        result = await registry.emit("tool:pre", tool_call("Bash", command="sudo rm -rf / --yes"))
        assert (result.action, result.reason) == ("deny", "Dangerous command blocked: rm -rf /")
        harmless = await registry.emit("tool:pre", tool_call("Bash", command="ls"))
        assert harmless.action == "continue"

    async def test_a_card_number_is_redacted(self):
        """The modified data becomes the new event data for subsequent hooks and the operation."""
        registry = await hook_of("hooks_api_b:655", "sanitize_hook", "tool:pre")
        mail = tool_call("SendEmail", body="My card is 1234-5678-9012-3456.")
        result = await registry.emit("tool:pre", mail)
        assert result.data["tool_input"]["body"] == "My card is [REDACTED]."
        assert mail["tool_input"]["body"] == "My card is 1234-5678-9012-3456."

    @pytest.mark.parametrize(
        ("name", "function"),
        [
            ("hooks_api_a:499", "production_protection_hook"),
            ("hooks_api_b:730", "production_guard_hook"),
            ("understanding_hooks:226", "production_guard"),
        ],
    )
    async def test_a_production_file_needs_a_person(self, name: str, function: str):
        """Require user approval for production file writes."""
        registry = await hook_of(name, function, "tool:pre")
        path = "/srv/production/app.conf"
        result = await registry.emit("tool:pre", tool_call("Write", file_path=path))
        assert result.action == "ask_user"
        assert result.approval_prompt == f"Allow write to production file: {path}?"
        assert result.approval_options == ["Allow once", "Allow always", "Deny"]
        assert (result.approval_timeout, result.approval_default) == (300.0, "deny")
        elsewhere = await registry.emit("tool:pre", tool_call("Write", file_path="/tmp/app.conf"))
        assert elsewhere.action == "continue"

    async def test_the_fragment_of_the_actions_chapter_denies(self):
        """Block dangerous operations; inject linter feedback; default: let it continue."""
        denied = (await example("hooks_api_b:452"))["returned"]
        assert (denied.action, denied.reason) == ("deny", "Destructive tool blocked")
        injected = (await example("hooks_api_b:452", tool_name="Write"))["returned"]
        assert injected.context_injection == "Linter found 1 issues"
        harmless = await example("hooks_api_b:452", tool_name="Write", linter_errors=[])
        assert harmless["returned"].action == "continue"


class TestFeedback:
    @pytest.mark.parametrize(
        ("name", "function"),
        [
            ("hooks_api_b:678", "linter_hook"),
            ("hooks_events:225", "linter_feedback"),
            ("understanding_hooks:199", "linter_hook"),
        ],
    )
    async def test_a_real_linter_finds_real_faults(self, name: str, function: str, programs: Path):
        """Run linter after file writes and inject feedback."""
        registry = await hook_of(name, function, "tool:post")
        bad, good = programs / "bad.py", programs / "good.py"
        bad.write_text("import os\n")
        good.write_text("print(1)\n")
        result = await registry.emit("tool:post", tool_call("Write", file_path=str(bad)))
        assert result.action == "inject_context"
        assert result.context_injection.startswith("Linter")
        assert str(bad) in result.context_injection
        assert result.user_message_level == "warning"
        clean = await registry.emit("tool:post", tool_call("Write", file_path=str(good)))
        assert clean.action == "continue"

    async def test_validation_errors_reach_the_agent(self):
        """Inject validation feedback to agent."""
        registry = await hook_of("hooks_api_a:465", "validation_hook", "tool:post")
        result = await registry.emit("tool:post", {"tool_result": {"issues": ["a", "b"]}})
        assert result.context_injection == "Validation errors found:\na\nb"
        assert result.user_message == "Found validation issues"
        assert (await registry.emit("tool:post", {"tool_result": {}})).action == "continue"

    async def test_open_issues_reach_a_new_session(self):
        """Load recent issues into agent's context on session start."""
        registry = await hook_of("hooks_events:54", "session_context_loader", "session:start")
        result = await registry.emit("session:start", {"session_id": "s1"})
        assert result.action == "inject_context"
        assert "#7 the door squeaks" in result.context_injection
        assert result.suppress_output is True

    async def test_the_date_reaches_the_prompt(self):
        """Inject current date/time into agent's context."""
        registry = await hook_of("hooks_events:138", "datetime_injector", "prompt:submit")
        result = await registry.emit("prompt:submit", {"prompt": "What day is it?"})
        assert result.context_injection.startswith("Current date/time: 20")

    async def test_todos_are_a_passing_reminder(self):
        """Inject current todo list as temporary reminder: temporary, not stored in history."""
        registry = await hook_of("hooks_api_b:704", "todo_hook", "tool:pre")
        result = await registry.emit("tool:pre", tool_call("Bash", command="ls"))
        assert result.context_injection == "Current todos:\n- oil the door"
        assert result.ephemeral is True

    async def test_progress_is_shown_instead_of_output(self):
        """Show clean progress message, hide verbose processing output."""
        progress_hook = (await example("hooks_api_b:756"))["progress_hook"]
        result = await progress_hook("tool:post", {"files_processed": 3})
        assert result.user_message == "Processed 3 files successfully"
        assert result.suppress_output is True

    async def test_a_failing_hook_reports_itself(self):
        """Hook failures should not crash the agent or block operations."""
        safe_hook = (await example("understanding_hooks:248"))["safe_hook"]
        found = await safe_hook("tool:post", {"issues": ["loose screw"]})
        assert found.context_injection == "Issues found: ['loose screw']"
        assert (await safe_hook("tool:post", {})).action == "continue"
        failed = await safe_hook("tool:post", None)
        assert failed.action == "continue"
        assert failed.user_message_level == "error"
        assert failed.user_message.startswith("Hook error: ")

    async def test_the_user_is_notified(self, programs: Path):
        """Send desktop notification when user needs attention."""
        registry = await hook_of("hooks_events:405", "desktop_notifier", "user:notification")
        event = {"notification_type": "approval_required", "message": "Please decide"}
        assert (await registry.emit("user:notification", event)).action == "continue"
        notified = (programs / "notified").read_text().splitlines()
        assert notified == ["Amplifier: approval_required", "Please decide"]

    async def test_completion_is_notified_and_shown(self, programs: Path):
        """Send desktop notification on session completion."""
        session_completion = (await example("hooks_events:276"))["session_completion"]
        result = await session_completion(
            "orchestrator:complete", {"turn_count": 3, "duration_ms": 1500}
        )
        assert result.user_message == "Session complete: 3 turns in 1.5s"
        assert (programs / "notified").read_text().endswith("Completed 3 turns in 1.5s\n")

    async def test_statistics_are_logged_with_keywords(self):
        """Log session stats on completion."""
        logger = KeywordLogger()
        session_logger = (await example("hooks_events:96", logger=logger))["session_logger"]
        stats = {"total_messages": 4, "tool_invocations": 2, "total_tokens": 99}
        data = {"session_id": "s1", "duration_ms": 10, "stats": stats}
        assert (await session_logger("session:end", data)).action == "continue"
        assert logger.lines == [
            (
                "info",
                "session_complete",
                {"session_id": "s1", "duration_ms": 10, "messages": 4, "tools": 2},
            )
        ]

    @pytest.mark.parametrize(
        ("name", "line"),
        [
            ("hooks_api_a:426", "Tool Write used by anonymous"),
            ("hooks_api_b:614", "Tool starting: Write"),
        ],
    )
    async def test_an_audit_hook_only_watches(self, name: str, line: str):
        """Log all tool executions for audit trail, continue without interference."""
        logger = KeywordLogger()
        registry = HookRegistry()
        registry.register("tool:pre", (await example(name, logger=logger))["audit_hook"])
        assert (await registry.emit("tool:pre", tool_call("Write"))).action == "continue"
        assert logger.lines == [("info", line, {})]

    async def test_the_status_of_the_repository_reaches_a_new_session(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """New pattern (clean hook): git status is observable."""
        monkeypatch.chdir(tmp_path)
        injector = (await example("hooks_architecture:921"))["git_status_injector"]
        result = await injector("session:start", {})
        assert result.context_injection.startswith("Git status:\n")


class TestArchitecture:
    async def test_nobody_at_home_is_a_deny(self):
        """On timeout, use approval_default."""
        asked = HookResult(action="ask_user", approval_prompt="Allow?")
        denied = (await example("hooks_architecture:292", result=asked))["returned"]
        assert (denied.action, denied.reason) == ("deny", "Timeout - denied by default")
        easy = asked.model_copy(update={"approval_default": "allow"})
        allowed = (await example("hooks_architecture:292", result=easy))["returned"]
        assert allowed.action == "continue"

    async def test_agent_and_user_have_separate_channels(self):
        """Agent sees context injection, user sees user_message. They're independent."""
        to_agent = await example("hooks_architecture:324")
        assert to_agent["context"].messages == [
            {"role": "system", "content": "Linter found issues", "metadata": {}}
        ]
        to_user = await example("hooks_architecture:333")
        assert to_user["display"].shown == [("Found linting issues", "info", "hook:linter")]

    async def test_hooks_of_before_still_work(self):
        """All new capabilities are opt-in. No breaking changes to existing hooks."""
        left = await example("hooks_architecture:516")
        assert (await left["simple_hook"]("tool:pre", {})).action == "continue"
        assert (await left["enhanced_hook"]("tool:pre", {})).context_injection == "feedback"

    async def test_an_invalid_answer_is_the_safe_default(self):
        """Hook returned invalid result: safe default."""
        left = await example("hooks_architecture:806", result="yes, please")
        assert left["result"].action == "continue"
        assert left["logger"].lines[0][:2] == ("warning", "Hook returned invalid result")

    async def test_the_unit_test_of_the_document_passes(self):
        """Test HookResult validation."""
        (await example("hooks_architecture:832"))["test_hook_result_fields"]()


def defaults_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Any]:
    """The parameters of a signature with their defaults; `...` where there is none."""
    arguments = node.args.args
    defaults = [ast.literal_eval(default) for default in node.args.defaults]
    missing = [...] * (len(arguments) - len(defaults))
    names = [argument.arg for argument in arguments]
    return dict(zip(names, [*missing, *defaults], strict=True))


SIGNATURE_OF_A_HOOK = "hooks_api_b:352"


@pytest.mark.parametrize(
    "name", [n for n in CANNOT_RUN if n.startswith("hooks_api_b") and n != SIGNATURE_OF_A_HOOK]
)
def test_the_registry_has_the_signatures_of_the_reference(name: str):
    """A stated signature is callable as stated: the same names, order and defaults."""
    [function] = ast.parse(BLOCKS[name].source.rstrip() + ": ...").body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    ours = inspect.signature(getattr(HookRegistry, function.name)).parameters
    stated = defaults_of(function)
    assert list(ours)[: len(stated)] == list(stated)
    for parameter, default in stated.items():
        if default is not ...:
            assert ours[parameter].default == default


@pytest.mark.parametrize("name", ["hooks_api_a:304", "hooks_api_a:349"])
async def test_the_class_definition_of_the_reference_describes_our_result(name: str):
    """The same fields with the same defaults; only `action` has one of its own now."""
    stated = inspect.signature((await example(name))["HookResult"]).parameters
    assert len(stated) == 13
    for field, parameter in stated.items():
        if field != "action":
            assert HookResult.model_fields[field].default == parameter.default


def schemas() -> dict[str, set[str]]:
    """The fields of each event as the event reference lists them."""
    found: dict[str, set[str]] = {}
    event = ""
    path = SEEDS / "hooks_events.md"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("**Event name**"):
            event = line.split("`")[1]
        block = BLOCKS.get(f"hooks_events:{number}")
        if block and event and block.source.startswith("{"):
            [statement] = ast.parse(block.source).body
            assert isinstance(statement, ast.Expr)
            assert isinstance(statement.value, ast.Dict)
            keys = [key for key in statement.value.keys if isinstance(key, ast.Constant)]
            found.setdefault(event, {str(key.value) for key in keys})
    return found


@pytest.mark.parametrize(("event", "fields"), schemas().items())
def test_the_typed_payload_has_the_fields_of_the_reference(event: str, fields: set[str]):
    """A typed payload per event with the exact fields of the event reference."""
    payload = events.payload_type(event)
    assert payload is not None
    assert fields <= set(payload.__annotations__) | set(EventData.__annotations__)
