"""Values by reference: found when they are needed, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools.mcp.secrets import Secrets, check_values, find_literals

TOKEN = "tok-3f9a8b7c6d5e"


@pytest.fixture
def secrets():
    return Secrets()


def test_values_come_from_the_bundle_variables_and_files(secrets, tmp_path, monkeypatch):
    """A prefix is put before what was found, as in `Bearer TOKEN`."""
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    input = {
        "TZ": "UTC",
        "PORT": 80,
        "DEBUG": True,
        "A": {"env": "DOCS_TOKEN", "prefix": "Bearer "},
        "B": {"file": "token"},
    }
    assert secrets.resolve(input, "env", tmp_path) == {
        "TZ": "UTC",
        "PORT": "80",
        "DEBUG": "true",
        "A": f"Bearer {TOKEN}",
        "B": TOKEN,
    }


def test_what_was_found_is_hidden_in_every_text(secrets, tmp_path, monkeypatch):
    """And what stands in the bundle is not: it is no secret."""
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    secrets.resolve({"A": {"env": "DOCS_TOKEN"}, "TZ": "Europe/Berlin"}, "env", tmp_path)
    hidden = secrets.hide(f"cannot log in with {TOKEN} in Europe/Berlin")
    assert hidden == "cannot log in with [secret] in Europe/Berlin"


@pytest.mark.parametrize(
    ("reference", "word"),
    [({"env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE"), ({"file": "no/such/file"}, "no/such/file")],
)
def test_a_value_that_is_not_there_is_named(secrets, tmp_path, reference, word):
    """The variable or the file, and the option."""
    with pytest.raises(ModuleLoadError, match=word) as raised:
        secrets.resolve({"A": reference}, "servers.docs.headers", tmp_path)
    assert "servers.docs.headers.A" in str(raised.value)


@pytest.mark.parametrize(
    "value",
    [None, [TOKEN], {}, {"env": "A", "file": "b"}, {"value": TOKEN}, {"env": [TOKEN]}],
)
def test_a_wrong_value_is_refused_and_not_shown(value):
    """It may be the secret, misplaced."""
    with pytest.raises(ModuleLoadError) as raised:
        check_values({"Authorization": value}, "servers.docs.headers")
    assert "servers.docs.headers.Authorization" in str(raised.value)
    assert TOKEN not in str(raised.value)


def test_a_literal_that_looks_like_a_secret_is_noticed(monkeypatch):
    """By its name or by its shape."""
    input = {
        "API_KEY": "abcdefgh123",
        "OTHER": "ghp_" + "a1B2" * 9,
        "TZ": "Europe/Berlin",
        "TOKEN": {"env": "X"},
        "KEY": "x",
    }
    assert list(find_literals(input)) == ["API_KEY", "OTHER"]


def test_a_literal_is_hidden_all_the_same(secrets):
    """Word by word: what comes before a token is no secret."""
    assert secrets.add_literals({"Authorization": f"Bearer {TOKEN}", "TZ": "UTC"}) == [
        "Authorization"
    ]
    assert secrets.hide(f"Bearer {TOKEN}") == "Bearer [secret]"


def test_a_variable_of_the_bundle_is_no_literal(monkeypatch):
    """`${DOCS_TOKEN}` was replaced when the bundle was read."""
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    assert list(find_literals({"Authorization": f"Bearer {TOKEN}"})) == []


def test_a_home_folder_is_found(secrets, tmp_path, monkeypatch):
    """`~` in the name of a file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text(TOKEN)
    assert secrets.resolve({"A": {"file": "~/token"}}, "env", Path("/")) == {"A": TOKEN}
