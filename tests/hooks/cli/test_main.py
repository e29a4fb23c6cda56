"""The start of the command: quick, and the same in any folder, pipe and encoding."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.main import main
from amplifier_hooks.modules.installation import name_install_command
from tests.hooks.cli.command_tree import PATHS
from tests.hooks.cli.program import run_amplifier, run_at_terminal

HEAVY = [
    "amplifier_core",
    "amplifier_hooks.agent.bundles",  # the package alone imports nothing
    "amplifier_hooks.agent.session",
    "pydantic",
    "rich",
    "prompt_toolkit",
    "yaml",
    "anthropic",
    "openai",
    "opentelemetry",
    "asyncio",
    "cryptography",
]


def test_help_imports_nothing_heavy() -> None:
    """What a command needs is imported when the command is called."""
    script = (
        "import sys\nfrom amplifier_hooks.cli.main import run\nrun(['--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


NEVER_AT_FIRST = (
    *("anthropic", "openai", "opentelemetry", "cryptography", "prompt_toolkit", "rich", "jinja2"),
    *(
        "uvicorn",
        "starlette",
        "fastapi",
        "httpx",
        "mcp",
        "psycopg",
        "amplifier_hooks.server",
    ),
    *(
        "amplifier_hooks.coding_agents",
        "amplifier_hooks.frameworks",
        "amplifier_hooks.guards.bash.calm",
    ),
)
IMPORTS: dict[tuple[str, ...], int] = {
    # So many modules of ours were left, and room for four; a package that comes back is more.
    ("run", "hello"): 220 + 4,
    ("hooks", "list"): 146 + 4,
    ("audit", "list"): 89 + 4,
    ("rules", "check"): 169 + 4,
}
TELL = """
import sys
from amplifier_hooks.cli.main import main
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize("command", IMPORTS, ids=" ".join)
def test_a_command_imports_what_it_uses(command: tuple[str, ...], tmp_path: Path) -> None:
    """What is heavy comes with whoever needs it, and the number of our modules does not grow."""
    settings = tmp_path / "home/.config/amplifier/amplifier.yaml"
    settings.parent.mkdir(parents=True)
    reply = "{module: provider-scripted, config: {script: [{text: Hello.}]}}"
    settings.write_text(f"providers: [{reply}]\n")
    work = tmp_path / "work"
    work.mkdir()
    script = tmp_path / "amplifier"
    script.write_text(TELL)
    done = subprocess.run(
        [sys.executable, str(script), *command],
        env={"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]},
        cwd=work,
        capture_output=True,
        text=True,
        check=True,
    )
    found = done.stderr.splitlines()[-1].split()
    ours = [name for name in found if name.startswith("amplifier_")]
    heavy = [one for one in found for name in NEVER_AT_FIRST if f"{one}.".startswith(f"{name}.")]
    assert heavy == []
    assert len(ours) <= IMPORTS[command], ours


def _best(arguments: list[str]) -> float:
    """Processor time of the quickest of five: the machine may be busy with something else."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def once() -> float:
        before = spent()
        subprocess.run(arguments, check=True, capture_output=True)
        return spent() - before

    return min(once() for _ in range(5))


def test_help_starts_within_twice_a_bare_import_of_click() -> None:
    """Nobody waits for a list of commands."""
    bare = _best([sys.executable, "-c", "import click"])
    ours = _best([sys.executable, "-m", "amplifier_hooks.cli.main", "--help"])
    assert ours < 2 * bare


def test_the_version_needs_neither_click_nor_anything_else() -> None:
    """It is one line: the number of what is installed."""
    script = (
        "import sys\nfrom amplifier_hooks.cli.main import main\nbefore = set(sys.modules)\n"
        "try:\n    main(['--version'])\nexcept SystemExit as left:\n    assert left.code == 0\n"
        "print(sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"amplifier {version('amplifier-hooks')}\n"
    assert not {"click", "pydantic", "asyncio"} & set(ast.literal_eval(done.stderr))


def test_only_the_program_itself_looks_for_garbage_less_often() -> None:
    """A program that imports it keeps its own settings."""
    script = "import gc; a = gc.get_threshold(); import amplifier_hooks.cli.main as _\n"
    script += "assert gc.get_threshold() == a"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_error_is_one_line(tmp_path: Path) -> None:
    """What a person typed is shown harmless."""
    home = str(tmp_path)
    done = run_amplifier("sessions", "show", "nothing\x1b[2K", XDG_DATA_HOME=home)
    assert done.code == exit_codes.FAILED
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("Error: No session 'nothing")
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["sessions", "show", "x"], exit_codes.FAILED), (["run", "hello"], exit_codes.NO_MODEL)],
)
def test_debug_shows_the_traceback_and_keeps_the_exit_code(
    arguments: list[str], code: int, home: Path
) -> None:
    """A script that looks at the code goes the same way; the sentence comes last."""
    plain, debug = run_amplifier(*arguments), run_amplifier("--debug", *arguments)
    assert plain.code == debug.code == code
    assert "Traceback" in debug.stderr
    assert debug.stderr.splitlines()[-1] == plain.stderr.strip()


EVERYTHING = """
import sys
from amplifier_hooks.cli.main import main
for command in sys.argv[1:]:
    try:
        main(command.split()[1:])
    except SystemExit as left:
        assert left.code in (0, 1, 2, 3), (command, left.code)
"""
COMMANDS_TO_RUN = [
    *(f"{path} --help" for path in PATHS),
    "amplifier init ./pröject",
    "amplifier hooks list",
    "amplifier hooks trace → --event prompt:submit",
    "amplifier modules list",
    "amplifier modules validate ./nöthing.py",
    "amplifier doctor",
    "amplifier trust --show",
    "amplifier sessions list",
    "amplifier sessions show ✗",
    "amplifier backups list",
    "amplifier ✗",
]


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
)
def test_every_command_works_in_any_encoding(environment: dict[str, str], home: Path) -> None:
    """What cannot be written is replaced; nothing breaks."""
    # The arguments themselves are read as the locale has them, so they come in UTF-8.
    arguments: list[bytes | str] = [sys.executable, "-c", EVERYTHING]
    arguments += [command.encode() for command in COMMANDS_TO_RUN]
    done = subprocess.run(
        arguments, capture_output=True, check=False, env={**os.environ, **environment}
    )
    assert b"Unicode" not in done.stderr
    assert b"this is a bug" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0
    assert (done.stdout + done.stderr).isascii()


def test_the_program_leaves_with_the_code_of_the_command() -> None:
    """Of what it was given, or of the command line."""
    with pytest.raises(SystemExit) as raised:
        main(["modles"])
    assert raised.value.code == exit_codes.USAGE


@pytest.mark.parametrize(("flags", "log"), [([], ""), (["--debug"], "WARNING lib: careful\n")])
def test_the_log_is_for_those_who_debug(flags: list[str], log: str) -> None:
    """Elsewhere a warning of some library does not get between the lines."""
    script = (
        "import logging\nfrom amplifier_hooks.cli.main import run\n"
        f"run([*{flags}, 'completion', 'bash'])\n"
        "logging.getLogger('lib').warning('careful')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr == log


WITHOUT_CLICK = """
import sys
sys.modules["click"] = None
from amplifier_hooks.cli.main import main
main(["--help"])
"""


def test_without_the_extra_one_sentence_says_what_to_install() -> None:
    """The command is there with every install, its packages are not."""
    program = [sys.executable, "-c", WITHOUT_CLICK]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith(name_install_command("cli"))
    assert "Traceback" not in done.stderr


def test_a_file_of_the_folder_takes_no_modules_place(home: Path) -> None:
    """Python puts the folder first when a module is run with -m."""
    for name in ("click", "yaml", "pydantic", "asyncio"):
        (home / f"{name}.py").write_text(f"raise SystemExit('{name} was planted')\n")
    done = run_amplifier("hooks", "list", "--event", "tool:pre")
    assert (done.code, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["hooks", "list", "--event", "tool:pre"],
        ["hooks", "trace", "--tool", "Bash", "--input", '{"command": "rm -rf build"}'],
        ["modules", "list", "--kind", "hook"],
        ["doctor"],
    ],
)
def test_tables_fit_forty_columns(arguments: list[str], home: Path) -> None:
    """Nothing is lost and no line is broken by the terminal."""
    environment = {"NO_COLOR": "1"}
    with run_at_terminal(*arguments, columns=40, env=environment) as program:
        assert program.wait_end() == 0
        lines = program.raw.decode().splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > 40] == []
