"""A bundle that is used in many folders is trusted once, and nothing else with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore, collect_where_it_lies, is_trusted_by_name

HOOK = "async def on_tool_pre(event, data):\n    return None\n"


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    """Empty."""
    return TrustStore(tmp_path / "trust")


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A bundle with a hook, in a folder of its own."""
    folder = tmp_path / "strict"
    folder.mkdir()
    (folder / "hook.py").write_text(HOOK)
    (folder / "strict.yaml").write_text("hooks:\n  - ./hook.py\n")
    return folder / "strict.yaml"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder in which somebody works."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def look(named: Path, folder: Path) -> Material:
    """What the bundle would run in a folder."""
    return collect_material(load_bundle(named, project_dir=folder), folder)


def test_it_is_trusted_everywhere_once_it_is_trusted_where_it_lies(
    named: Path, elsewhere: Path, store: TrustStore
) -> None:
    """Not before, and not without its name."""
    assert not is_trusted_by_name(look(named, elsewhere), named, store)
    store.trust(collect_where_it_lies(named), "ann")
    assert is_trusted_by_name(look(named, elsewhere), named, store)
    assert not is_trusted_by_name(look(named, elsewhere), None, store)


@pytest.mark.parametrize("name", ["hook.py", "strict.yaml"])
def test_a_change_ends_the_trust(
    named: Path, elsewhere: Path, store: TrustStore, name: str
) -> None:
    """Of the bundle, or of what it runs."""
    store.trust(collect_where_it_lies(named), "ann")
    (named.parent / name).write_text((named.parent / name).read_text() + "# changed\n")
    assert not is_trusted_by_name(look(named, elsewhere), named, store)


def test_what_was_read_is_what_counts(named: Path, elsewhere: Path, store: TrustStore) -> None:
    """Not what lies there a moment later."""
    hook = named.parent / "hook.py"
    hook.write_text("other = 1\n")
    seen = look(named, elsewhere)
    hook.write_text(HOOK)
    store.trust(collect_where_it_lies(named), "ann")
    assert not is_trusted_by_name(seen, named, store)


def test_it_can_be_trusted_in_one_folder_alone(
    named: Path, elsewhere: Path, store: TrustStore
) -> None:
    """As any bundle can."""
    store.trust(look(named, elsewhere), "ann")
    assert is_trusted_by_name(look(named, elsewhere), named, store)
    assert not is_trusted_by_name(look(named, named.parent), named, store)


def test_files_of_the_folder_are_not_trusted_with_it(
    named: Path, elsewhere: Path, store: TrustStore
) -> None:
    """Settings that the bundle reads in the folder that it is used in, for example."""
    named.write_text("hooks:\n  - {module: hooks-shell, config: {settings: [./s.json]}}\n")
    for folder in (named.parent, elsewhere):
        (folder / "s.json").write_text('{"hooks": {}}')
    store.trust(collect_where_it_lies(named), "ann")
    assert is_trusted_by_name(look(named, named.parent), named, store)
    assert "s.json" in look(named, elsewhere).files
    assert not is_trusted_by_name(look(named, elsewhere), named, store)
