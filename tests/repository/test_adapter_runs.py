"""What `make adapters` makes of its runs: one table, and an exit code."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.adapter_runs.report import Case, Report, name_scenario, read_report
from tests.support.adapter_runs.table import draw_table
from tests.support.scripts import load_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "adapter-tests"
SUITE = """
import pytest

@pytest.fixture(params=["langchain"])
def driver(request):
    return request.param

@pytest.mark.parametrize("way", ["sync", "async"])
def test_deny(driver, way):
    pass

def test_rewrite(driver):
    pytest.skip("nothing to run it with")

def test_stream(driver):
    pytest.skip("cannot: it has no streams")

def test_ask(driver):
    assert 1 == 2, "nobody was asked"

@pytest.fixture
def broken():
    raise ValueError("no agent")

def test_budget(driver, broken):
    pass

@pytest.mark.parametrize("page", ["by_hand"])
def test_page(page):
    pass
"""
OTHERS = """
def test_other():
    pass

def test_wrong():
    raise ValueError("no luck")
"""


@pytest.fixture
def script() -> ModuleType:
    """The script, as a module."""
    return load_script(SCRIPT)


def test_a_run_is_read_from_the_report_that_pytest_wrote(tmp_path: Path) -> None:
    """A scenario has the framework among its parameters; what was skipped is not counted."""
    folder = tmp_path / "tests" / "adapters"
    folder.mkdir(parents=True)
    (folder / "test_contract.py").write_text(SUITE)
    (tmp_path / "tests" / "test_other.py").write_text(OTHERS)
    command = [sys.executable, "-m", "pytest", "-q", "tests"]
    subprocess.run(
        [*command, "--rootdir", ".", "--junit-xml", "r.xml"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.DEVNULL,
        timeout=100,
    )
    report = read_report("langchain", tmp_path / "r.xml")
    asked, budget = report.cases[-2:]
    assert report.cases[:-2] == [
        Case("deny (sync)", "passed"),
        Case("deny (async)", "passed"),
        Case("stream", "cannot", "it has no streams"),
    ]
    assert (asked.scenario, asked.outcome) == ("ask", "failed")
    assert "nobody was asked" in asked.reason
    assert (budget.scenario, budget.outcome) == ("budget", "failed")
    assert "no agent" in budget.reason
    assert report.others == {"passed": 2, "failed": 1}
    assert report.problems == ["tests.test_other.test_wrong failed: ValueError: no luck"]
    assert not report.is_good


def test_a_run_without_a_report_is_a_problem(tmp_path: Path) -> None:
    """So is one whose report is cut off."""
    report = read_report("crewai", tmp_path / "r.xml")
    assert not report.is_good
    assert "left no report" in report.problems[0]
    (tmp_path / "r.xml").write_text("<testsuites>")
    assert not read_report("crewai", tmp_path / "r.xml").is_good


@pytest.mark.parametrize(
    ("test", "scenario"),
    [
        ("test_two_gates", "two gates"),
        ("test_two_gates[pydantic-ai]", "two gates"),
        ("test_two_gates[pydantic_ai-sync]", "two gates (sync)"),
        ("test_two_gates[sync-pydantic-ai-50]", "two gates (sync-50)"),
        ("test_two_gates[pydantic-aim]", "two gates (pydantic-aim)"),
    ],
)
def test_a_scenario_has_the_same_name_on_every_framework(test: str, scenario: str) -> None:
    """Whichever the test names among its parameters."""
    assert name_scenario(test, "pydantic-ai") == scenario


def test_the_table_has_a_row_for_each_scenario_and_a_reason_for_each_gap() -> None:
    """It can be pasted as it is."""
    one = Report("strands", [Case("deny", "passed"), Case("ask", "passed")], Counter(passed=3))
    other = Report(
        "fastmcp",
        [
            Case("deny", "failed", "it ran"),
            Case("ask", "cannot", "no"),
            Case("get", "cannot", "no"),
        ],
        Counter(passed=1, failed=1),
        ["mypy finds errors"],
    )
    assert draw_table([one, other]).splitlines() == [
        "| scenario               | strands | fastmcp |",
        "|------------------------|---------|---------|",
        "| deny                   | ok      | FAILED  |",
        "| ask                    | ok      | cannot  |",
        "| get                    |         | cannot  |",
        "| **scenarios passed**   | 2/2     | 0/1     |",
        "| **other tests passed** | 3/3     | 1/2     |",
        "",
        "- cannot fastmcp: ask, get: no",
        "",
        "- FAILED fastmcp: deny: it ran",
        "",
        "- PROBLEM fastmcp: mypy finds errors",
    ]
    assert [one.is_good, other.is_good] == [True, False]


def test_a_scenario_that_failed_once_has_failed() -> None:
    """Where several tests have its name."""
    cases = [Case("deny", "passed"), Case("deny", "failed", "x"), Case("deny", "cannot", "y")]
    assert "| deny                   | FAILED  |" in draw_table([Report("strands", cases)])


def test_a_framework_on_which_no_scenario_passed_is_a_problem(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that no longer finds its framework fails nowhere: its column is only empty."""
    monkeypatch.setattr(script, "BUILD", [sys.executable, "-c", ""])
    monkeypatch.setattr(script, "check_types", lambda name: [])
    monkeypatch.setattr(script, "run_tests", lambda name, options: Report(name))
    assert script.examine("crewai", []).problems == ["no scenario of the contract passed"]
    assert script.examine("agent-hooks", []).is_good


def test_an_environment_that_cannot_be_built_is_a_problem(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what was said about it; nothing is run in it."""
    monkeypatch.setattr(script, "BUILD", [sys.executable, "-c", "import sys; sys.exit('no luck')"])
    assert script.examine("crewai", []).problems == ["no luck"]


def test_an_adapter_that_is_not_there_is_a_problem(script: ModuleType) -> None:
    """Nothing of it would be checked."""
    found = script.check_types("semantic-kernel")
    assert found == ["there is no amplifier_hooks.frameworks.semantic_kernel"]


def test_the_tests_of_other_adapters_are_left_out(script: ModuleType) -> None:
    """Half of another framework may be installed as a dependency."""
    ignored = script.ignore_tests(["crewai", "google-adk", "strands"], "crewai")
    assert ignored == [
        "--ignore=tests/hooks/frameworks/google_adk",
        "--ignore=tests/hooks/frameworks/strands",
    ]


def test_the_tests_get_no_keys_and_a_home_of_their_own(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A framework could call a model with them, and leaves files at home."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    chosen = script.choose_variables(tmp_path)
    assert not chosen.keys() & {"OPENAI_API_KEY", "XDG_DATA_HOME"}
    assert chosen["HOME"] == str(tmp_path / "home")
    assert chosen["PATH"].startswith(str(tmp_path / "bin"))


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    """Before anything is built or run."""
    command = [sys.executable, str(SCRIPT), "langchian", "--", "-x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no adapter 'langchian'; did you mean 'langchain'?" in done.stderr
