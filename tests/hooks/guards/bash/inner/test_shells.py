"""Shells inside a shell."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.inner.shells import SHELLS, find_script_run, unwrap_shell
from amplifier_hooks.guards.bash.script import Script, parse_script


def unwrap(source: str) -> Script:
    [shell] = [one for one in parse_script(source).commands if one.name in SHELLS]
    return unwrap_shell(shell, "test")


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_the_text_behind_c_is_run(shell: str) -> None:
    """By every shell."""
    assert [one.name for one in unwrap(f"{shell} -c 'rm x'").commands] == ["rm"]


@pytest.mark.parametrize(
    "source",
    [
        "bash -lc 'rm x'",
        "bash --norc -c 'rm x'",
        "bash -o errexit -c 'rm x'",
        "bash -euo pipefail -c 'rm x'",
        "bash -oc errexit 'rm x'",
        "bash -norc +O extglob -c -- 'rm x' ls",
        "bash -eo pipefail -uc 'rm x'",
        "bash <<< 'rm x'",
        "bash <<E\nrm x\nE",
        "bash -s a <<E\nrm x\nE",
        "bash - <<E\nrm x\nE",
        "bash /dev/stdin <<E\nrm x\nE",
        "cat <<E | bash\nrm x\nE",
    ],
)
def test_a_script_is_found_wherever_it_comes_from(source: str) -> None:
    """As an argument, a here-document or a here-string, also through `cat`."""
    assert [one.name for one in unwrap(source).commands] == ["rm"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ('bash -c "$x"', "may be an option"),
        ('bash -c "ls $x"', "is not literal"),
        ("bash $x", "may be an option"),
        ("bash <(f)", "is not literal"),
        ("f | bash", "runs what a pipe brings it (from f)"),
        ("$f | bash", "(from ?)"),
        ("bash < f", "which is not in sight"),
        ("bash", "which is not in sight"),
        ("exec < f; bash -s", "which is not in sight"),
        ("{ bash; } <<E\nls\nE", "which is not in sight"),
        ("bash --rcfile f -c ls", "start-up file"),
        ("bash --frobnicate ls", "--frobnicate is not known"),
        ("bash -Zc ls", "-Zc is not known"),
    ],
)
def test_what_only_running_would_tell_is_in_doubt(source: str, sentence: str) -> None:
    """With a sentence that says why."""
    assert any(sentence in reason for reason in unwrap(source).unclear)


def test_a_here_document_that_is_changed_on_the_way_is_not_trusted() -> None:
    """What `sed` makes of it is another script."""
    script = unwrap("cat <<E | sed s/a/b/ | bash\nls\nE")
    assert script.commands == ()
    assert script.unclear != ()


@pytest.mark.parametrize("source", ["bash --version", "bash run.sh", "bash -x run.sh a"])
def test_a_script_file_is_a_program_like_any_other(source: str) -> None:
    """Nothing to open, nothing in doubt."""
    assert unwrap(source) == Script(())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("bash deploy.sh eu", "deploy.sh eu"),
        ("sh -ex -o pipefail ./deploy.sh", "./deploy.sh"),
        ("zsh -- deploy.sh", "deploy.sh"),
        (". deploy.sh eu", "deploy.sh eu"),
        ("source -- deploy.sh", "deploy.sh"),
        ("source", None),
        ("bash", None),
        ("bash -c deploy.sh", None),
        ("bash -s deploy.sh", None),
        ("bash /dev/stdin deploy.sh", None),
        ("python deploy.sh", None),
    ],
)
def test_the_script_that_a_shell_runs_is_a_command_of_its_own(
    source: str, text: str | None
) -> None:
    """With its arguments, and without those of the shell."""
    [command] = parse_script(source).commands
    script = find_script_run(command)
    assert (None if script is None else script.text) == text
