"""The agent frameworks that are installed here, and what hooks see of each."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from amplifier_hooks.cli.commands import doctor
from amplifier_hooks.cli.commands.doctor import check_frameworks
from amplifier_hooks.coverage import TABLES

LANGCHAIN = next(one for one in TABLES if one.name == "langchain")


def install(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Pretend that only these are installed."""

    def find_version(package: str) -> str:
        if package in packages:
            return "9.9"
        raise PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", find_version)


def test_an_installed_framework_is_shown_with_what_is_not_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line that attaches hooks, where they decide, and everything that passes them by."""
    install(monkeypatch, LANGCHAIN.package)
    first, second, *rest = check_frameworks()
    assert (first.name, first.detail) == ("LangChain 9.9", LANGCHAIN.attach)
    assert "tool:pre" in second.detail
    assert [one.detail for one in rest] == list(LANGCHAIN.unseen)


def test_without_any_the_names_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that people learn that there are adapters."""
    install(monkeypatch)
    (only,) = check_frameworks()
    assert only.health == "absent"
    assert "LangChain" in only.detail
