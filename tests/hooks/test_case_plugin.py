"""Cases as tests of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import amplifier_hooks.insight.cases.files  # noqa: F401 - else each project imports it all again
from tests.hooks.insight.cases.hook_files import GUARD

pytest_plugins = "pytester"

CASES = """
hook: hooks/guard.py
timeout: 15
cases:
  - name: denies rm
    event: tool:pre
    data: {tool_input: {command: rm x}}
    expect: deny
  - name: lets rm through
    event: tool:pre
    data: {tool_input: {command: rm x}}
    expect: continue
"""
QUIET = ("-p", "no:randomly", "-p", "no:cacheprovider", "-W", "error")


def run(pytester: pytest.Pytester, *arguments: str, **files: str) -> pytest.RunResult:
    """Run a project that has a hook and these files with cases, without any setting."""
    folder = pytester.mkdir("hooks")
    (folder / "guard.py").write_text(GUARD)
    for name, text in files.items():
        (pytester.path / f"{name}.cases.yaml").write_text(text)
    scope = ("-o", "asyncio_default_fixture_loop_scope=function")
    return pytester.runpytest_inprocess(*QUIET, *scope, *arguments)


def test_each_case_is_a_test_and_a_failure_is_readable(pytester: pytest.Pytester) -> None:
    """With what came, the file and the line, and nothing of ours."""
    done = run(pytester, guard=CASES)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "*_ lets rm through _*",
            "action: expected continue, got deny",
            "",
            "*guard.cases.yaml:9: lets rm through",
            "FAILED guard.cases.yaml::lets rm through - action: expected continue, got deny",
        ]
    )
    assert "pytest_plugin.py" not in done.stdout.str()


def test_one_case_can_be_chosen(pytester: pytest.Pytester) -> None:
    """By its name, as any test."""
    run(pytester, "guard.cases.yaml::denies rm", guard=CASES).assert_outcomes(passed=1)


def test_a_mistake_in_a_file_is_an_error_of_the_run(pytester: pytest.Pytester) -> None:
    """It is told with its line; a hook that is not there fails its cases."""
    done = run(pytester, guard=CASES.replace("expect: deny", "expct: deny"))
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*guard.cases.yaml:8: case 'denies rm'.expct: unknown key 'expct'*"])


def test_hooks_that_cannot_be_loaded_fail_their_cases(pytester: pytest.Pytester) -> None:
    """One by one, with the reason."""
    done = run(pytester, guard=CASES.replace("guard.py", "gurd.py"))
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["There is no file or folder 'hooks/gurd.py' in *"])


def test_files_that_are_about_something_else_are_left_alone(pytester: pytest.Pytester) -> None:
    """The plugin is there in every project; such a name may mean anything."""
    done = run(
        pytester,
        broken="a: [",
        other="cases: [{name: x}]\n",
        unnamed="[{event: tool:pre, expect: deny}]",
    )
    done.assert_outcomes()
    assert done.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_cases_of_a_bundle_are_tests_without_a_question_of_trust(pytester: pytest.Pytester) -> None:
    """Whoever runs tests runs code. JSON will do."""
    session = "session: {orchestrator: loop-basic, context: context-simple}\n"
    bundle = f"inherit: false\nhooks: [{{module: ./hooks/guard.py}}]\n{session}"
    (pytester.path / "a.yaml").write_text(bundle)
    text = CASES.replace("hook: hooks/guard.py", "bundle: a.yaml")
    run(pytester, "-k", "denies", guard=text).assert_outcomes(passed=1, deselected=1)
    (pytester.path / "guard.cases.yaml").unlink()
    case = '{"event": "tool:pre", "data": {"tool_name": "Bash"}, "expect": "modify"}'
    text = '{\n  "hook": "hooks/guard.py",\n  "cases": [' + case + "]}"
    (pytester.path / "one.cases.json").write_text(text)
    pytester.runpytest_inprocess(*QUIET, "-p", "no:asyncio").assert_outcomes(passed=1)


def test_the_plugin_imports_nothing_else_until_it_finds_cases() -> None:
    """pytest loads it for every project."""
    code = (
        "import sys, amplifier_hooks.case_plugin\n"
        "print([one for one in sys.modules if one.startswith(('amplifier', 'pydantic', 'yaml'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['amplifier_hooks', 'amplifier_hooks.case_plugin']\n"


def test_the_package_announces_the_plugin() -> None:
    """A project needs no setting."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '\namplifier_cases = "amplifier_hooks.case_plugin"\n' in text


def test_a_file_of_empty_lines_takes_no_time(pytester: pytest.Pytester) -> None:
    """pytest loads the plugin for every project: no file may hold up the collection."""
    blank = "\n" * 400_000  # going through the rest for each of them would take an hour
    done = run(pytester, blank=blank, guard=CASES)
    done.assert_outcomes(passed=1, failed=1)
