"""The plan of a run: the bundle, with what the flags say on top."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.cli.commands import plan as plan_of_a_run
from amplifier_hooks.cli.commands.plan import NoModel, apply_flags, apply_shadow, check_model

SCRIPT = [{"text": "Hello."}]


def test_an_unknown_provider_is_answered_with_those_there_are() -> None:
    """A short name of an installed provider, an id or a path."""
    with pytest.raises(NoModel, match=r"No provider 'foo'; have anthropic, .*, scripted$"):
        apply_flags({}, "foo", None)
    assert apply_flags({}, "./mine.py", None)["providers"][0]["module"] == "./mine.py"


def test_flags_choose_provider_and_model() -> None:
    """The bundle's own settings are kept."""
    plan = {
        "providers": [
            {"module": "provider-openai", "config": {"base_url": "http://localhost/v1"}},
            {"module": "provider-scripted", "config": {"script": SCRIPT}},
        ]
    }
    changed = apply_flags(plan, "openai", "qwen3")
    assert changed["providers"] == [
        {
            "module": "provider-openai",
            "config": {"base_url": "http://localhost/v1", "model": "qwen3"},
        }
    ]
    assert apply_flags(plan, None, None)["providers"] == plan["providers"]


def test_a_provider_is_also_chosen_by_the_name_that_the_bundle_gave_it() -> None:
    """Two of one module are told apart by their names."""
    entry = {"module": "provider-openai", "config": {"base_url": "http://b"}}
    plan = {"providers": [{**entry, "name": "one"}, {**entry, "name": "two"}]}
    assert apply_flags(plan, "two", None)["providers"] == [{**entry, "name": "two"}]


def test_a_model_is_that_of_the_first_provider() -> None:
    """Those behind it keep theirs; other parts of the plan stay as they are."""
    plan = {
        "providers": [
            {"module": "./mine.py"},
            {"module": "provider-openai", "config": {"model": "other"}},
        ],
        "tools": ["tool-bash"],
    }
    assert apply_flags(plan, None, "small") == {
        "providers": [
            {"module": "./mine.py", "config": {"model": "small"}},
            {"module": "provider-openai", "config": {"model": "other"}},
        ],
        "tools": ["tool-bash"],
    }


@pytest.mark.parametrize(
    ("providers", "env", "usable"),
    [
        ([], {}, False),
        (["provider-scripted"], {}, False),
        (["provider-anthropic"], {}, False),
        (["provider-anthropic"], {"ANTHROPIC_API_KEY": "k"}, True),
        ([{"module": "provider-openai", "config": {"base_url": "http://x"}}], {}, True),
        ([{"module": "provider-scripted", "config": {"script_file": "s"}}], {}, True),
        (["./mine.py"], {}, True),
    ],
)
def test_a_model_is_there_or_not(providers: list, env: dict, usable: bool) -> None:
    """A key, an address, a script, a local model, or a module that must know itself."""
    if usable:
        check_model({"providers": providers}, env)
        return
    with pytest.raises(NoModel, match="No model to talk to"):
        check_model({"providers": providers}, env)


@pytest.fixture(params=[True, False])
def local(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the packages of the local model are installed."""
    there: bool = request.param
    monkeypatch.setattr(plan_of_a_run, "is_local_installed", lambda: there)
    return there


def test_the_local_model_is_offered_only_where_it_is_installed(local: bool) -> None:
    """And asked for by name elsewhere, it says in one line what it is and how to get it."""
    with pytest.raises(NoModel) as raised:
        check_model({"providers": []}, {})
    assert ("--provider local" in str(raised.value)) is local
    if local:
        assert apply_flags({}, "local", None)["providers"][0]["module"] == "provider-local"
        return
    with pytest.raises(NoModel, match=r"very small model .*it cannot plan or code.* install them"):
        apply_flags({}, "local", None)
    with pytest.raises(NoModel, match="the packages of provider-local are missing"):
        check_model({"providers": ["provider-local"]}, {})


def test_the_scripted_provider_explains_itself_where_there_is_no_script() -> None:
    """What it is, and how to write a script."""
    why = r"replays a conversation .* 'amplifier init --offline' writes"
    with pytest.raises(NoModel, match=why):
        apply_flags({}, "scripted", None)
    entry = {"module": "provider-scripted", "config": {"script": SCRIPT}}
    assert apply_flags({"providers": [entry]}, "scripted", None)["providers"] == [entry]


def test_the_first_obstacle_is_named() -> None:
    """And what would help."""
    with pytest.raises(NoModel, match=r"provider-openai needs OPENAI_API_KEY\. Set ANTHROPIC"):
        check_model({"providers": ["provider-openai", "provider-anthropic"]}, {})


@pytest.mark.parametrize("named", [None, "openai"])
def test_a_provider_without_its_package_is_told_before_a_session_begins(
    monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    """With the command that installs it, and without advice about keys, which are there."""
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(NoModel) as caught:
        apply_flags({"providers": ["provider-openai"]}, named, None)
    assert "provider-openai needs the package 'openai'; install it with: " in str(caught.value)
    assert "Set " not in str(caught.value)


def test_the_flag_puts_a_run_into_shadow_mode() -> None:
    """Only if it is given, and once."""
    plan: dict[str, Any] = {"session": {"context": "c"}, "hooks": ["hooks-redaction"]}
    assert apply_shadow(plan, False) is plan
    changed = apply_shadow(plan, True)
    assert changed["session"] == {"context": "c", "evaluate_only": True}
    assert apply_shadow(changed, True) is changed


def test_a_locked_hook_is_kept_from_shadow_mode() -> None:
    """Whoever locked it wants it to hold, whatever flag is given."""
    plan = {"session": {}, "hooks": [{"module": "hooks-redaction", "locked": True}]}
    with pytest.raises(BundleError, match=r"hooks-redaction is locked, .*; leave out --shadow"):
        apply_shadow(plan, True)
