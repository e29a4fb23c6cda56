"""Policies: what is tried, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from amplifier_hooks.insight.backtest import PolicyError, PolicySource, load_policy
from amplifier_hooks.insight.backtest.policy import BOOK, find_kind

HOOK = "async def on_tool_pre(event, data):\n    return None\n"
RULES = [{"name": "r", "action": "deny", "event": "tool:pre", "reason": "no"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a hook file, rules, and modules that act."""
    (tmp_path / "mine.py").write_text(HOOK)
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES))
    plan = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": ["provider-scripted"],
        "hooks": [
            {"module": "mine", "source": "./mine.py", "config": {"a": 1}, "priority": 3},
            {"module": "hooks-rules", "config": {"file": "rules.yaml", "unclear": "deny"}},
            {"module": "hooks-backup"},
            {"module": "hooks-cost-control", "config": {"day": {"tokens": 5}}},
        ],
    }
    (tmp_path / "amplifier.yaml").write_text(yaml.safe_dump(plan))
    return tmp_path


def _load(folder: Path, **source: object) -> dict[str, dict[str, object]]:
    policy = load_policy(PolicySource(**source), folder, folder / "scratch")  # type: ignore[arg-type]
    return {one.module: one.to_dict() for one in policy.entries}


def test_a_bundle_is_tried_without_what_acts(folder: Path) -> None:
    """Files mean the same wherever the session worked; the costs of a day go elsewhere."""
    entries = _load(folder)
    assert list(entries) == ["mine", "hooks-rules", "hooks-cost-control"]
    assert entries["hooks-rules"]["config"]["file"] == [str(folder / "rules.yaml")]  # type: ignore[index]
    assert entries["hooks-cost-control"]["config"]["file"] == str(folder / "scratch" / BOOK)  # type: ignore[index]
    assert load_policy(PolicySource(), folder).acting == {"hooks-backup": "it writes files"}


def test_a_hook_file_takes_the_place_of_one_of_its_name_or_is_added(folder: Path) -> None:
    """With the options and the priority of the one before."""
    (folder / "new").mkdir()
    new, other = folder / "new" / "mine.py", folder / "new" / "other.py"
    for path in (new, other):
        path.write_text(HOOK)
    entries = _load(folder, hooks=(str(new), str(other)))
    assert (entries["mine"]["source"], entries["mine"]["priority"]) == (str(new), 3)
    assert list(entries)[-1] == "other"


def test_rules_take_the_place_of_the_bundles_rules(folder: Path) -> None:
    """The other options of the module stay."""
    (folder / "more.yaml").write_text(yaml.safe_dump({"rules": RULES}))
    config = _load(folder, rules=(str(folder / "more.yaml"),))["hooks-rules"]["config"]
    assert config == {"unclear": "deny", "file": [str(folder / "more.yaml")]}


def test_only_means_without_a_bundle(folder: Path) -> None:
    """One rule alone."""
    assert list(_load(folder, rules=(str(folder / "rules.yaml"),), only=True)) == ["hooks-rules"]


def test_a_module_can_be_left_out_by_any_of_its_names(folder: Path) -> None:
    """And a name that nothing has is an error, with those that there are."""
    assert "mine" not in _load(folder, without=("mine.py", "hooks-rules"))
    with pytest.raises(PolicyError, match="no hook module 'yours' to leave out; have mine, "):
        _load(folder, without=("yours",))


def test_the_digest_is_of_everything_that_decides(folder: Path) -> None:
    """A changed hook file is another policy."""
    before = load_policy(PolicySource(), folder).digest
    assert load_policy(PolicySource(), folder).digest == before
    (folder / "mine.py").write_text(HOOK + "\n# changed\n")
    assert load_policy(PolicySource(), folder).digest != before


def test_a_baseline_is_known_by_its_content(folder: Path) -> None:
    """A hook file, rules, or another bundle."""
    source = PolicySource(hooks=("a.py",), only=True)
    assert find_kind(folder / "mine.py") == "hooks"
    other = source.with_file(str(folder / "rules.yaml"))
    assert (other.hooks, other.rules, other.only) == ((), (str(folder / "rules.yaml"),), True)
    bundle = source.with_file(str(folder / "amplifier.yaml"))
    assert (bundle.bundle, bundle.only) == (str(folder / "amplifier.yaml"), False)
    assert PolicySource.from_dict(other.to_dict()) == other
    for broken in ("a: [", "a: 2026-13-45"):
        (folder / "broken.yaml").write_text(broken)
        with pytest.raises(PolicyError, match="cannot be read"):
            find_kind(folder / "broken.yaml")
    for wrong in ({"hooks": ("no.py",)}, {"rules": ("no.yaml",)}):
        with pytest.raises(PolicyError, match="There is no"):
            _load(folder, **wrong)
