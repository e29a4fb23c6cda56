"""Async tests and fixtures of a project that has set up nothing for them."""

from __future__ import annotations

import pytest

import amplifier_core.testing  # noqa: F401 - else each project imports it all again

pytest_plugins = "pytester"

WITHOUT = ("-p", "no:asyncio")
STRICT = ("-o", "asyncio_default_fixture_loop_scope=function", "--asyncio-mode=strict")
AUTO = ("-o", "asyncio_default_fixture_loop_scope=function", "--asyncio-mode=auto")

THREE_LINES = """
from amplifier_core import HookResult

async def guard(event, data):
    return HookResult(action="deny", reason="holds secrets")

async def test_the_guard_denies():
    answer = await guard("tool:pre", {"tool_name": "Write", "tool_input": {}})
    assert answer.action == "deny"
"""
EVERYTHING = """
import asyncio
import pytest

ran = []

@pytest.fixture
async def loop():
    loop = asyncio.get_running_loop()
    yield loop
    assert asyncio.get_running_loop() is loop
    ran.append("torn down")

@pytest.fixture
async def number():
    await asyncio.sleep(0)
    return 42

@pytest.mark.asyncio
async def test_marked(): ran.append("marked")

async def test_with_fixtures(loop, number, coordinator):
    assert asyncio.get_running_loop() is loop
    assert number == 42
    ran.append("fixtures")

@pytest.mark.parametrize("case", ["one", "two"])
async def test_parametrized(case, number): ran.append(case)

class TestMethods:
    @pytest.fixture
    async def itself(self):
        yield self

    async def test_method(self, itself):
        assert itself is self
        ran.append("method")

def test_sync(number): ran.append(number)

async def test_skipped(): pytest.skip("not here")

@pytest.mark.xfail(strict=True)
async def test_failed(): assert not ran

def test_each_ran_once():
    assert ran == ["marked", "fixtures", "torn down", "one", "two", "method", 42]
"""


def run(pytester: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    """Run the tests of a project without settings, every warning an error."""
    pytester.makepyfile(test_mine=tests)
    quiet = ("-p", "no:randomly", "-p", "no:cacheprovider", "-W", "error", "--strict-markers")
    return pytester.runpytest_inprocess(*quiet, *arguments)


@pytest.mark.parametrize("arguments", [WITHOUT, STRICT, AUTO], ids=["without", "strict", "auto"])
def test_async_tests_and_fixtures_run_without_any_setting(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    """With pytest-asyncio in either mode and without it: each test once, fixtures in its loop."""
    run(pytester, EVERYTHING, *arguments).assert_outcomes(passed=7, skipped=1, xfailed=1)


def test_the_documented_test_of_a_hook_passes_under_plain_pytest(
    pytester: pytest.Pytester,
) -> None:
    """In a process of its own, as an author starts it."""
    pytester.makepyfile(test_mine=THREE_LINES)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *WITHOUT)
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize("arguments", [WITHOUT, STRICT], ids=["without", "strict"])
def test_tests_of_anyio_stay_with_anyio(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    """Marked or by its fixture; a fixture that both kinds of tests use is set up by either."""
    tests = """
import pytest

ran = []

@pytest.fixture
def anyio_backend():
    ran.append("anyio")
    return "asyncio"

@pytest.fixture
async def shared():
    yield 1

async def test_ours(shared): ran.append("ours")

@pytest.mark.anyio
async def test_marked(shared): ran.append("marked")

async def test_by_fixture(anyio_backend, shared): ran.append("by fixture")

async def test_ours_again(shared): ran.append("ours")

def test_each_ran_once():
    assert [one for one in ran if one != "anyio"] == ["ours", "marked", "by fixture", "ours"]
    assert "anyio" in ran
"""
    run(pytester, tests, *arguments).assert_outcomes(passed=5)


def test_a_test_of_a_plugin_that_is_not_there_is_not_run_in_the_wrong_loop(
    pytester: pytest.Pytester,
) -> None:
    """pytest says itself what is missing."""
    pytester.makeini("[pytest]\nmarkers = trio")
    tests = "import pytest\n\n@pytest.mark.trio\nasync def test_it(): assert False\n"
    done = run(pytester, tests, *WITHOUT)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


def test_pytest_trio_in_its_own_mode_keeps_all_async_tests(pytester: pytest.Pytester) -> None:
    """It takes every one, marked or not."""
    pytester.makeconftest(
        """
import pytest

class Trio:
    def pytest_addoption(self, parser): parser.addini("trio_mode", "", type="bool", default=True)

def pytest_configure(config): config.pluginmanager.register(Trio(), "trio")
"""
    )
    done = run(pytester, "async def test_it(): assert False\n", *WITHOUT)
    done.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


def test_a_fixture_of_a_wider_scope_says_what_it_needs(pytester: pytest.Pytester) -> None:
    """Its loop would be closed before the second test."""
    tests = """
import pytest

@pytest.fixture(scope="module")
async def wide():
    return 1

async def test_one(wide): ...

async def test_two(wide): ...
"""
    done = run(pytester, tests, *WITHOUT)
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*'wide' has the scope 'module'*install pytest-asyncio*"])


def test_a_fixture_that_yields_twice_is_an_error(pytester: pytest.Pytester) -> None:
    """As it is for pytest's own."""
    tests = """
import pytest

@pytest.fixture
async def twice():
    yield 1
    yield 2

async def test_it(twice): ...
"""
    done = run(pytester, tests, *WITHOUT)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*An async fixture must yield only once*"])


def test_what_a_test_leaves_running_ends_with_it(pytester: pytest.Pytester) -> None:
    """The next test begins in a loop of its own."""
    tests = """
import asyncio

tasks = []

async def test_one(): tasks.append(asyncio.ensure_future(asyncio.sleep(3600)))

async def test_two():
    assert tasks[0].cancelled()
    assert tasks[0].get_loop() is not asyncio.get_running_loop()
"""
    run(pytester, tests, *WITHOUT).assert_outcomes(passed=2)


def test_a_fixture_of_pytest_asyncio_keeps_its_settings(pytester: pytest.Pytester) -> None:
    """Only plain ones are handed to it."""
    tests = """
import asyncio
import pytest
import pytest_asyncio

@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def loop():
    yield asyncio.get_running_loop()

@pytest.mark.asyncio(loop_scope="module")
async def test_it(loop): assert loop is asyncio.get_running_loop()
"""
    run(pytester, tests, *STRICT).assert_outcomes(passed=1)
