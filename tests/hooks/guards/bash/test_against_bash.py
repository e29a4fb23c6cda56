"""Our reading of commands against the real thing: what bash runs was found, or is in doubt."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.bash import LISTED, Workspace, find_dangers, is_harmless, unwrap_command
from amplifier_hooks.guards.bash.unwrap import SHELLS, read_invocation
from amplifier_hooks.guards.command_guard import Config, Judge
from tests.hooks.guards.bash.generator.script_maker import WRAPPERS, ScriptMaker
from tests.hooks.guards.bash.generator.script_samples import SAMPLES
from tests.hooks.guards.bash.generator.yard import Run, Yard
from tests.support.isolation import isolate, require_isolation

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")

SPELLINGS = [
    "mark",
    "m''ark",
    'ma""rk',
    "\\mark",
    "m\\ark",
    "'mark'",
    '"mark"',
    "$'\\x6dark'",
    "$'\\155ark'",
    '$"mark"',
    "ma\\\nrk",
    ">o mark",
    "mark >o a",
    "A=1 mark",
    "2>&1 mark 2>/dev/null",
    "mark <f",
    "mark $x 'a b' \"c\"",
]
AROUND = [
    "( % )",
    "{ % ; }",
    "if true; then % ; fi",
    "if % ; then :; fi",
    "for i in 1; do % ; done",
    "for ((i=0;i<1;i++)); do % ; done",
    "while % ; do break; done",
    "until % ; do break; done",
    "case a in a) % ;; esac",
    "case $(%) in *) ;; esac",
    "f() { % ; } ; f",
    "function h() ( % ) ; h",
    "! %",
    "% &\nwait",
    "true && %",
    "false || %",
    "echo a | %",
    "% | cat",
    "echo a |& %",
    "echo $(%)",
    'echo "a $(%) b"',
    "echo ${q:-$(%)}",
    'echo "${q:-$(%)}"',
    "x=$(%)",
    'x="$(%)" true',
    "export y=$(%)",
    "a=( $(%) )",
    "a[$(%)0]=1",
    "echo $(( $(%) 1 ))",
    "(( 1 $(%) ))",
    "[[ -n $(%) ]]",
    '[ -n "$(%)" ]',
    "cat <(%)",
    "cat < <(%)",
    "cat <<EOF\n$(%)\nEOF",
    "cat <<-EOF\n\t$(%)\n\tEOF",
    'cat <<"A B"\nx\nA B\n%',
    'cat <<< "$(%)"',
    "cat <<EOF; %\nx\nEOF",
    "cat <<EOF | %\nx\nEOF",
    "cat <<'E'F\n'\nEF\n%",
    "cat <<A <<B\n1\nA\n2\nB\n%",
    "bash <<EOF\n%\nEOF",
    "bash -s <<'EOF'\n%\nEOF",
    "cat <<EOF | bash\n%\nEOF",
    "env %",
    "nice %",
    "timeout 2 %",
    "nohup %",
    "command %",
    "exec %",
    "time %",
    "time -p %",
    "xargs % <f",
    "find f -exec % \\;",
    "echo a # b\n%",
    "echo 'a' ; % # '",
    "echo \\' ; %",
    'echo "\'" ; % ; echo "\'"',
    "echo $'\\'' ; %",
    "echo a\\\n; %",
    "%\n",
    "\n\n%",
    "\t%",
    "coproc %\nwait",
    "echo {a,b} ; %",
    "echo ${q:-'}'} ; %",
    "echo `%`",
    'echo "`%`"',
    "echo $(cat <<E\n$(%)\nE\n)",
    "if [[ a =~ (b|a) ]]; then % ; fi",
    "echo [[ ; %",
    "echo if ; %",
    "true;%",
    "true&&%",
    "true|%",
    "(%)",
    "command command %",
    "env -u A -- %",
    "echo a\n%",
]
QUOTED = [
    "eval %",
    "bash -c %",
    "sh -c %",
    "bash -ec % a",
    "bash <<< %",
    "trap % EXIT",
    "builtin eval %",
    "source /dev/stdin <<< %",
    ". <(echo %)",
    "echo % | bash",
    "mapfile -C % -c 1 <f",
    "PS4='$(mark)'; set -x; true %",
    'bash -c "$(echo %)"',
]


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose only programs are a few harmless ones and one that leaves a mark."""
    root = tmp_path_factory.mktemp("yard")
    (root / "bin").mkdir()
    (root / "work").mkdir()
    (root / "work" / "f").write_text("x")
    marking = root / "bin" / "mark"
    marking.write_text(f"#!/bin/sh\n: > '{root}/marked'\n")
    marking.chmod(0o755)
    for name in ["cat", "env", "bash", "sh", "xargs", "find", "nice", "timeout", "nohup"]:
        if found := shutil.which(name):
            (root / "bin" / name).symlink_to(found)
    return root


def bash_runs_it(command: str, yard: Path) -> bool:
    """Whether bash, given this text, really runs the marking program.

    In isolation, with which everything ends: a function that calls itself outruns whoever kills it.
    """
    require_isolation()
    (yard / "marked").unlink(missing_ok=True)
    try:
        subprocess.run(
            isolate([BASH, "-c", command], writable=[yard]),
            cwd=yard / "work",
            env={"PATH": str(yard / "bin")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return (yard / "marked").exists()


def wrap(core: str, wrappers: list[str]) -> str:
    for wrapper in wrappers:
        quoted = "'" + core.replace("'", "'\\''") + "'"
        core = wrapper.replace("%", quoted if wrapper in QUOTED else core)
    return core


def is_seen(command: str) -> bool:
    """Whether the marking program was found, or a guard would ask about the command."""
    script = unwrap_command(command)
    found = any(one.name == "mark" for one in script.commands)
    unsure = any(not one.certain and not is_harmless(one) for one in script.commands)
    workspace = Workspace(Path("/project"), Path("/home/me"))
    risky = any(find_dangers(script, workspace, LISTED, frozenset()))
    return found or unsure or risky or bool(script.unclear)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(SPELLINGS),
    st.lists(st.sampled_from([*AROUND, *QUOTED]), min_size=1, max_size=4),
)
def test_what_bash_runs_was_found(yard: Path, core: str, wrappers: list[str]) -> None:
    """No quoting, wrapping or layout that bash accepts hides a program."""
    command = wrap(core, wrappers)
    if bash_runs_it(command, yard):
        assert is_seen(command), command


@pytest.mark.parametrize("wrapper", [*AROUND, *QUOTED])
def test_each_wrapping_is_one_that_bash_accepts(yard: Path, wrapper: str) -> None:
    """The property above is about real commands: each wrapping runs, and we see through it."""
    command = wrap("mark", [wrapper])
    assert bash_runs_it(command, yard), command
    assert is_seen(command), command


def list_unseen(root: Path, scripts: list[str]) -> list[Run]:
    """Scripts that pass the ordinary guard and run a program that is in none of their commands."""
    require_isolation()
    yard = Yard(root)
    judge = Judge(Config(profile="careful", allow=list(WRAPPERS)), Workspace(yard.work, yard.home))
    passed = [one for one in scripts if "\0" not in one and not judge.find_all(one)]
    assert len(passed) > len(scripts) / 10
    hidden = [one for one in passed if not shows_its_traps(one) and not runs_file(one)]
    return [run for run in yard.run_all(hidden) if not ran_what_was_found(run)]


def runs_file(script: str) -> bool:
    """`bash script` and `bash -i`: to the ordinary guard a file is a program like any other."""
    shells = (one for one in unwrap_command(script).commands if one.name in SHELLS)
    started = [read_invocation(shell) for shell in shells]
    return any(one.script_file is not None or one.reads_startup_files for one in started)


def shows_its_traps(script: str) -> bool:
    """Whether all traps in the text are known to run, so that running it would tell nothing."""
    found = {command.program for command in unwrap_command(script).commands}
    written = {trap for trap in ("trapa", "trapb") if trap in script}
    return bool(written) and written <= found


def ran_what_was_found(run: Run) -> bool:
    """A trap of a listed name is run by its path, or by a changed PATH."""
    found = {command.program or "" for command in unwrap_command(run.script).commands}
    by_path = {name.rpartition("/")[2] for name in found if "/" in name}
    marks = {mark.removeprefix("TRAP-") for mark in run.traps}
    return all(mark in found or mark.rpartition("/")[2] in by_path for mark in marks)


def test_what_bash_runs_of_a_generated_script_was_found(tmp_path: Path) -> None:
    """The ordinary guard may let a program run that is on no list, but not one it did not see."""
    scripts = [ScriptMaker(seed).make() for seed in range(500_000, 500_150)]
    assert list_unseen(tmp_path, scripts) == []


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_what_bash_runs_of_many_generated_scripts_was_found(tmp_path: Path) -> None:
    """The same with ten thousand scripts."""
    scripts = [ScriptMaker(seed).make() for seed in range(2_000_000, 2_010_000)]
    assert list_unseen(tmp_path, scripts) == []


def test_no_script_that_was_thought_of_runs_anything_unseen(tmp_path: Path) -> None:
    """Each of them hides a program from somebody who reads less well."""
    assert list_unseen(tmp_path, SAMPLES) == []
