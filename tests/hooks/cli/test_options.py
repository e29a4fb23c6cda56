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


def test_flags_come_from_the_environment_where_they_are_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The provider and the model; what is given counts more."""
    monkeypatch.setenv("AMPLIFIER_PROVIDER", "local")
    monkeypatch.setenv("AMPLIFIER_MODEL", "small")
    shown = CliRunner().invoke(show, ["--model", "large"]).output
    assert "'provider': 'local'" in shown
    assert "'model': 'large'" in shown


def test_the_defaults_ask_and_save() -> None:
    """The careful ones."""
    shown = CliRunner().invoke(show, []).output
    assert "'approve': None" in shown  # as the bundle says, whose default is to ask
    assert "'no_save': False" in shown


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


def test_a_json_object_is_read() -> None:
    """With all that is in it."""
    assert parse_json_object('{"a": [1, null]}', "--data") == {"a": [1, None]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "--data is not JSON: "),
        ("[]", "--data must be a JSON object, got list"),
        ("7", "--data must be a JSON object, got int"),
    ],
)
def test_what_is_no_json_object_is_wrong_usage(text: str, message: str) -> None:
    """The option is named, and what was found instead."""
    with pytest.raises(click.UsageError) as raised:
        parse_json_object(text, "--data")
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("value", ["ask", "deny", "edits", "rules:{file}"])
def test_who_approves_is_a_mode_or_a_file_of_rules(value: str, tmp_path: Path) -> None:
    """As it was typed; what the file holds is looked at later."""
    (tmp_path / "r.yaml").touch()
    given = value.format(file=tmp_path / "r.yaml")
    assert f"'approve': '{given}'" in CliRunner().invoke(show, ["--approve", given]).output


@pytest.mark.parametrize(
    ("value", "what"),
    [("yes", "have ask, deny, edits, rules:FILE"), ("rules:", "there is no file ''")],
)
def test_another_word_for_who_approves_is_wrong_usage(value: str, what: str) -> None:
    """With those that there are."""
    outcome = CliRunner().invoke(show, ["--approve", value])
    assert outcome.exit_code == 2
    assert what in " ".join(outcome.output.replace("│", " ").split())
