"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from amplifier_hooks.cli.options import AS_JSON, BUNDLE, add_agent_options, parse_json_object
from tests.hooks.cli.program import invoke


@click.command()
@add_agent_options
def show(**flags: object) -> None:
    click.echo(repr(flags))


def test_run_and_chat_have_the_same_flags_in_the_same_order() -> None:
    """One list for both."""
    names = ["--bundle", "--provider", "--model", "--verbose", "--approve", "--no-save"]
    for command in ("run", "chat"):
        shown = invoke(command, "--help").stdout
        places = [shown.index(name) for name in names]
        assert places == sorted(places)


LOCAL = {"AMPLIFIER_PROVIDER": "local", "AMPLIFIER_MODEL": "small"}


@pytest.mark.parametrize(
    ("flags", "env", "code", "shown"),
    [
        # The defaults are the careful ones: as the bundle says, whose default is to ask; and save.
        ((), {}, 0, ("'approve': None", "'no_save': False")),
        # What is given counts more than the environment.
        (("--model", "large"), LOCAL, 0, ("'provider': 'local'", "'model': 'large'")),
        # Who approves is a mode or a file of rules, as it was typed.
        *(
            (("--approve", word), {}, 0, (f"'approve': '{word}'",))
            for word in ("ask", "deny", "edits")
        ),
        (("--approve", "rules:r.yaml"), {}, 0, ("'approve': 'rules:r.yaml'",)),
        (("--approve", "yes"), {}, 2, ("have ask, deny, edits, rules:FILE",)),
        (("--approve", "rules:"), {}, 2, ("there is no file ''",)),
    ],
)
def test_flags_say_who_answers_and_who_approves(
    flags: tuple[str, ...],
    env: dict[str, str],
    code: int,
    shown: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or are refused with those that there are."""
    (tmp_path / "r.yaml").touch()
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(show, flags, env=env)
    assert outcome.exit_code == code
    told = " ".join(outcome.output.replace("│", " ").split())
    assert all(one in told for one in shown)


def test_a_bundle_must_be_there(tmp_path: Path) -> None:
    """Said before anything else happens."""

    @click.command()
    @BUNDLE
    @AS_JSON
    def look(bundle: Path | None, as_json: bool) -> None:
        click.echo(f"{bundle} {as_json}")

    path = tmp_path / "b.yaml"
    assert CliRunner().invoke(look, ["--bundle", str(path)]).exit_code == 2
    path.touch()
    assert CliRunner().invoke(look, ["--bundle", str(path), "--json"]).output == f"{path} True\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "--data is not JSON: "),
        ("[]", "--data must be a JSON object, got list"),
        ("7", "--data must be a JSON object, got int"),
    ],
)
def test_what_is_no_json_object_is_wrong_usage(text: str, message: str) -> None:
    """The option is named, and what was found instead; an object is read with all that is in it."""
    assert parse_json_object('{"a": [1, null]}', "--data") == {"a": [1, None]}
    with pytest.raises(click.UsageError) as raised:
        parse_json_object(text, "--data")
    assert str(raised.value).startswith(message)
