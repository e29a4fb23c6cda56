"""A group of commands that are imported when they are called."""

from __future__ import annotations

import sys

import click
import pytest

from amplifier_hooks.cli.lazy_group import HelpContext, LazyGroup


class Group(LazyGroup):
    summaries = {"completion": "Print a script.", "login-code": "Print a code.", "gone": "Fail."}
    package = "amplifier_hooks.cli.commands"
    places = {"login-code": "serve.login_code"}


GROUP = Group("group")


def make_context() -> click.Context:
    return HelpContext(GROUP, info_name="group")


def test_help_imports_no_command() -> None:
    """The summaries are enough."""
    sys.modules.pop("amplifier_hooks.cli.commands.completion", None)
    assert "Print a script." in make_context().get_help()
    assert "amplifier_hooks.cli.commands.completion" not in sys.modules


@pytest.mark.parametrize("name", ["completion", "login-code"])
def test_a_command_is_found_where_it_is(name: str) -> None:
    """By its name, or in another place."""
    command = GROUP.get_command(make_context(), name)
    assert command is not None
    assert command.name == name


def test_a_command_that_is_not_listed_is_not_imported() -> None:
    """Whatever stands in the package; the closest one is suggested."""
    assert GROUP.get_command(make_context(), "doctor") is None
    with pytest.raises(click.UsageError, match="Did you mean 'completion'"):
        GROUP.resolve_command(make_context(), ["completon"])
    with pytest.raises(click.UsageError, match="There are completion, login-code, gone"):
        GROUP.resolve_command(make_context(), ["zzz"])
