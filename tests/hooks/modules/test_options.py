"""Options of modules: right, or one line that says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from amplifier_core.errors import ModuleLoadError
from amplifier_core.testing import RecordingDisplay, TestCoordinator
from amplifier_hooks.modules.options import (
    check_known,
    check_pattern_names,
    parse_config,
    parse_known,
)


def test_a_name_that_nobody_knows_is_refused_with_the_closest() -> None:
    """All others are handed back."""
    assert check_known(["red"], {"red", "green"}, "color") == ["red"]
    with pytest.raises(ValueError, match=r"there is no color 'gren'.*green"):
        check_known(["red", "gren"], {"red", "green"}, "color")


@pytest.mark.parametrize("name", ["", "-a", "a b", "a]", "ä"])
def test_a_pattern_needs_a_name_that_can_stand_in_a_replacement(name: str) -> None:
    """The value is named."""
    check_pattern_names({"our-key_2.0": "x"})
    with pytest.raises(ValueError, match="is not a name"):
        check_pattern_names({name: "x"})


class Rule(BaseModel):
    pattern: str
    reason: str = "no"


class Config(BaseModel):
    timeout: float = Field(5.0, gt=0)
    rules: list[Rule] = []
    named: dict[str, Rule] = {}
    api_key: str | None = None
    class_: str = Field("x", alias="class")


def refusal(config) -> str:
    with pytest.raises(ModuleLoadError) as caught:
        parse_config(Config, config, "hooks-example")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("hooks-example: ")
    return message


@pytest.mark.parametrize("config", [None, {}, {"timeout": 5}])
def test_nothing_means_the_defaults(config):
    """No config is a config without options."""
    assert parse_config(Config, config, "hooks-example").timeout == 5.0


def test_values_are_validated():
    """The result is the model."""
    config = parse_config(Config, {"rules": [{"pattern": "x"}], "class": "y"}, "hooks-example")
    assert config.rules[0].pattern == "x"
    assert config.class_ == "y"


def test_an_unknown_option_names_the_nearest_right_one():
    """The message names owner, key, value and the nearest right key."""
    message = refusal({"timeuot": 3})
    assert "'timeuot'" in message
    assert "3" in message
    assert "did you mean 'timeout'?" in message


def test_an_option_like_no_other_names_all():
    """Where nothing is near, all keys are named."""
    assert "have api_key, class, named, rules, timeout" in refusal({"zzz": 1})


@pytest.mark.parametrize(
    "config",
    [
        {"rules": [{"pattern": "x", "raeson": "y"}]},
        {"named": {"one": {"pattern": "x", "raeson": "y"}}},
    ],
)
def test_the_hint_knows_nested_options(config):
    """The nearest key is looked for where the wrong one stands."""
    message = refusal(config)
    assert "raeson'" in message
    assert "did you mean 'reason'?" in message


def test_a_wrong_value_is_shown_with_its_place():
    """Key, value and what would do."""
    assert "option 'timeout' cannot be -1: Input should be greater than 0" in refusal(
        {"timeout": -1}
    )


def test_a_missing_option_is_named():
    """What is required is said."""
    assert "option 'rules.0.pattern' is required" in refusal({"rules": [{}]})


def test_every_fault_is_in_the_one_line():
    """Two mistakes are two clauses."""
    message = refusal({"timeout": "soon", "rles": []})
    assert "'soon'" in message
    assert "'rules'" in message


def test_secrets_and_long_values_are_not_repeated():
    """An error message is no place for a key, nor for a page of text."""
    assert "hunter2" not in refusal({"api_key": ["hunter2"]})
    assert len(refusal({"timeout": "x" * 5000})) < 300


@pytest.mark.parametrize("config", [[], "timeout: 3", 7])
def test_a_config_is_a_mapping(config):
    """Anything else is named as what it is."""
    assert "must be a mapping" in refusal(config)


def test_keys_that_are_no_text_are_named():
    """YAML may give numbers as keys."""
    assert "option '1' cannot be 1: Keys should be strings" in refusal({1: 2})


@pytest.fixture
def screen():
    return RecordingDisplay()


@pytest.fixture
def known(screen):
    """Reads options as a module does that is no guard."""
    host = TestCoordinator(display_system=screen)

    async def parse(config, **synonyms):
        return await parse_known(host, Config, config, "hooks-example", synonyms)

    parse.host = host  # type: ignore[attr-defined]
    return parse


async def test_others_than_guards_ignore_what_they_do_not_know(known, screen):
    """The person is told which option has no effect, and of the nearest that would have."""
    assert (await known({"timeuot": 3, "api_tokn": "hunter2", "timeout": 7})).timeout == 7
    assert screen.messages == [
        (f"hooks-example: unknown option {text}", "warning", "hooks-example")
        for text in (
            "'timeuot' is ignored; did you mean 'timeout'?",
            "'api_tokn' is ignored; did you mean 'api_key'?",
        )
    ]


async def test_what_is_known_is_checked_all_the_same(known, screen):
    """A wrong value, an unknown option inside an option, keys that are no text."""
    for wrong in ({"timeout": -1}, {"rules": [{"pattern": "x", "y": 1}]}, {1: 2}, "timeout: 3"):
        with pytest.raises(ModuleLoadError, match=r"^hooks-example: "):
            await known(wrong)
    assert screen.messages == []
    assert (await known(None)).timeout == 5.0


async def test_an_option_may_have_a_second_name(known, screen):
    """It means the same; an option under its alias is known."""
    config = await known({"patience": 9, "class": "y"}, patience="timeout")
    assert (config.timeout, config.class_) == (9, "y")
    assert screen.messages == []


async def test_of_two_names_for_one_option_ours_counts(known, screen):
    """And the person is told."""
    assert (await known({"patience": 9, "timeout": 3}, patience="timeout")).timeout == 3
    [(shown, _, _)] = screen.messages
    assert shown == (
        "hooks-example: option 'patience' is ignored, because 'timeout' means the same and is "
        "given too"
    )


async def test_the_callers_options_are_not_changed(known):
    """They belong to the plan."""
    given = {"patience": 9, "zzz": 1}
    await known(given, patience="timeout")
    assert given == {"patience": 9, "zzz": 1}


@pytest.mark.parametrize("who", ["sub-agent", "other"])
async def test_a_person_who_was_told_or_cannot_be_is_not_told(known, screen, caplog, who):
    """A sub-agent mounts what its parent has mounted; a foreign coordinator shows nothing."""
    host: Any = known.host if who == "sub-agent" else object()
    known.host.parent_id = "parent"
    await parse_known(host, Config, {"zzz": 1}, "hooks-example")
    assert screen.messages == []
    assert "hooks-example: unknown option 'zzz'" in caplog.text
