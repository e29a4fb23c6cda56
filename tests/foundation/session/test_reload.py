"""Hot reload: at the next turn, whole or not at all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MemoryAudit
from tests.support.project import Person, Workshop, calls, script

COUNTER = """
from amplifier_core.models import HookResult

async def mount(coordinator, config):
    seen = []
    async def count(event, data):
        seen.append(data["prompt"])
        return HookResult(user_message=f"{config['word']} {len(seen)}")
    return coordinator.hooks.register("prompt:submit", count, name=config["word"])
"""


def counter(word: str, **more: Any) -> dict[str, Any]:
    return {"module": "./counter.py", "name": word, "config": {"word": word}, **more}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path)
    shop.write("counter.py", COUNTER)
    return shop


async def said(shop: Workshop, session: AmplifierSession) -> list[str]:
    """What hooks told the person in one turn."""
    shop.screen.shown.clear()
    await session.execute("go")
    return [text for _, source, text in shop.screen.shown if source.startswith("hook:")]


async def test_an_edit_of_the_bundle_takes_effect_at_the_next_turn(shop: Workshop) -> None:
    """Changing the bundle takes effect at the next turn."""
    async with shop.session(shop.bundle(hooks=[counter("one")])) as session:
        assert await said(shop, session) == ["one 1"]
        shop.save(hooks=[counter("two")])
        assert await said(shop, session) == ["two 1"]
        assert shop.screen.of("reload") == ["Reloaded: counter"]
        shop.save(hooks=[])
        assert await said(shop, session) == []
        assert shop.screen.of("reload") == ["Reloaded the settings; removed: counter"]


async def test_an_edit_of_a_hook_file_takes_effect_at_the_next_turn(shop: Workshop) -> None:
    """Changing a hook file takes effect at the next turn."""
    async with shop.session(shop.bundle(hooks=[counter("one")])) as session:
        await said(shop, session)
        shop.write("counter.py", COUNTER.replace("{len(seen)}", "changed"))
        assert await said(shop, session) == ["one changed"]


async def test_nothing_changes_without_an_edit(shop: Workshop) -> None:
    """Modules stay what they are from turn to turn."""
    async with shop.session(shop.bundle(hooks=[counter("one")])) as session:
        assert [await said(shop, session) for _ in range(3)] == [["one 1"], ["one 2"], ["one 3"]]
        assert shop.screen.of("reload") == []


async def test_untouched_modules_keep_what_they_remember(shop: Workshop) -> None:
    """Only entries that changed are exchanged."""
    async with shop.session(shop.bundle(hooks=[counter("a"), counter("b")])) as session:
        await said(shop, session)
        shop.save(hooks=[counter("a"), counter("c")])
        assert await said(shop, session) == ["a 2", "c 1"]


async def test_a_comment_reloads_nothing(shop: Workshop) -> None:
    """A file that says the same as before is no change."""
    async with shop.session(shop.bundle(hooks=[counter("a")])) as session:
        await said(shop, session)
        path = shop.folder / "amplifier.yaml"
        path.write_text(path.read_text() + "# a comment\n")
        assert await said(shop, session) == ["a 2"]
        assert shop.screen.of("reload") == []


async def test_a_broken_bundle_keeps_the_old_set_and_says_why_once(shop: Workshop) -> None:
    """A broken edit keeps the old set and says why."""
    async with shop.session(shop.bundle(hooks=[counter("a")])) as session:
        await said(shop, session)
        path = shop.write("amplifier.yaml", "hoks: []\n")
        assert await said(shop, session) == ["a 2"]
        [told] = shop.screen.of("reload")
        assert told == (
            "The change is not used, the old settings stay: "
            f"{path}:1: hoks: unknown key 'hoks'; did you mean 'hooks'?"
        )
        assert await said(shop, session) == ["a 3"]
        assert shop.screen.of("reload") == []
        shop.save(hooks=[counter("a"), counter("b")])
        assert await said(shop, session) == ["a 4", "b 1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def mount(:\n", "SyntaxError"),
        ("raise RuntimeError('no')\n", "RuntimeError: no"),
        ("x = 1\n", "has no mount"),
        ("async def mount(coordinator, config):\n    raise KeyError('port')\n", "KeyError"),
    ],
)
async def test_a_broken_hook_file_keeps_the_old_set(shop: Workshop, text: str, why: str) -> None:
    """A broken edit keeps the old set and says why."""
    async with shop.session(shop.bundle(hooks=[counter("a"), counter("b")])) as session:
        await said(shop, session)
        shop.write("counter.py", text)
        assert await said(shop, session) == ["a 2", "b 2"]
        assert why in shop.screen.of("reload")[0]
        shop.write("counter.py", COUNTER)
        assert await said(shop, session) == ["a 1", "b 1"]


async def test_one_bad_entry_keeps_the_good_ones_of_the_same_edit_out(shop: Workshop) -> None:
    """Atomically: all of an edit or nothing of it, whatever order it is written in."""
    tools = ["tool-filesystem"]
    async with shop.session(shop.bundle(hooks=[counter("a")], tools=tools)) as session:
        await said(shop, session)
        before = dict(session.coordinator.get("tools"))
        handlers = session.coordinator.hooks.list_handlers()
        shop.save(hooks=[counter("b"), "hooks-nonsense"], tools=["tool-search"])
        assert await said(shop, session) == ["a 2"]
        assert "Unknown module 'hooks-nonsense'" in shop.screen.of("reload")[0]
        assert session.coordinator.get("tools") == before
        assert session.coordinator.hooks.list_handlers() == handlers
        assert len(session.mounting.mounted) == 5


async def test_tools_and_providers_are_exchanged_too(shop: Workshop) -> None:
    """All new modules are mounted, then swapped; what an old one cleans up is its own."""
    bundle = shop.bundle(tools=["tool-filesystem"], providers=script("first", when_done="repeat"))
    async with shop.session(bundle) as session:
        assert await session.execute("go") == "first"
        read = session.coordinator.get("tools", "Read")
        shop.save(
            tools=["tool-search", "tool-filesystem"],
            providers=script(calls("Glob", pattern="*.yaml"), "second"),
        )
        assert await session.execute("go") == "second"
        assert list(session.coordinator.get("tools"))[:2] == ["Glob", "Grep"]
        assert session.coordinator.get("tools", "Read") is read
        shop.save(tools=["tool-search"])
        await session.execute("go")
        assert set(session.coordinator.get("tools")) == {"Glob", "Grep"}


async def test_a_changed_tool_of_the_same_name_survives_the_clean_up_of_the_old(
    shop: Workshop,
) -> None:
    """The clean-up of the old module must not take the new one away."""
    tool = {"module": "tool-bash", "config": {"timeout": 5}}
    async with shop.session(shop.bundle(tools=[tool])) as session:
        await session.execute("go")
        old = session.coordinator.get("tools", "Bash")
        shop.save(tools=[{"module": "tool-bash", "config": {"timeout": 6}}])
        await session.execute("go")
        new = session.coordinator.get("tools", "Bash")
        assert new is not None
        assert new is not old
        assert (await session.execute_tool("Bash", {"command": "echo hi"})).success


async def test_the_conversation_survives_another_loop_and_context(shop: Workshop) -> None:
    """The history goes on."""
    async with shop.session(shop.bundle()) as session:
        await session.execute("remember me")
        plan = {"orchestrator": "loop-streaming"}
        plan["context"] = {"module": "context-simple", "config": {"keep_last": 3}}  # type: ignore[assignment]
        shop.save(session=plan)
        await session.execute("second")
        texts = [message["content"] for message in session.context.get_messages()]
        assert session.coordinator.get("orchestrator").name == "loop-streaming"
        assert session.context.config.keep_last == 3
    assert texts[0] == "remember me"
    assert "second" in texts


async def test_files_that_options_name_are_watched(shop: Workshop) -> None:
    """A hook's own files count as hook files: rules, settings, scripts."""
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [{"command": "echo no >&2; exit 2"}]}]}}
    path = shop.write("settings.json", json.dumps({"hooks": {}}))
    hook = {"module": "hooks-shell", "config": {"settings": ["settings.json"]}}
    async with shop.session(shop.bundle(hooks=[hook])) as session:
        assert "denied" not in await session.execute("go")
        path.write_text(json.dumps(settings))
        assert "denied by hooks-shell: no" in await session.execute("go")


async def test_settings_files_that_a_pattern_finds_are_watched(shop: Workshop) -> None:
    """Changing a hook file takes effect at the next turn, also one that was not there before."""
    hook = {"module": "hooks-shell", "config": {"settings": ["conf/*.json"]}}

    def settings(reason: str) -> str:
        command = f"echo {reason} >&2; exit 2"
        entry = {"hooks": [{"type": "command", "command": command}]}
        return json.dumps({"hooks": {"UserPromptSubmit": [entry]}})

    (shop.folder / "conf").mkdir()
    async with shop.session(shop.bundle(hooks=[hook])) as session:
        assert "closed" not in await session.execute("go")
        shop.write("conf/one.json", settings("closed"))
        assert "closed" in await session.execute("go")
        shop.write("conf/one.json", settings("shut"))
        assert "shut" in await session.execute("go")


async def test_patterns_of_files_that_the_agent_works_on_are_not_watched(shop: Workshop) -> None:
    """Only the files of the session are looked at; an edit of the project asks nobody."""
    hook = {"module": "hooks-test-runner", "config": {"command": "true", "files": ["*.py"]}}
    async with shop.session(shop.bundle(hooks=[hook])) as session:
        shop.write("work.py", "x = 1\n")
        await session.execute("go")
        assert shop.screen.of("reload") == []


CHANGER = """
from amplifier_core.models import HookResult

async def on_session_start(event, data):
    plan = data["mount_plan"]
    hooks = [one for one in plan["hooks"] if one.get("name") != "unwanted"]
    hooks.append({"module": "./counter.py", "name": "added", "config": {"word": "added"}})
    session = {**plan["session"], "max_turns": 7}
    return HookResult(
        action="modify",
        data={**data, "mount_plan": {**plan, "hooks": hooks, "session": session}},
    )
"""


async def test_what_a_hook_changed_in_the_plan_survives_a_reload(shop: Workshop) -> None:
    """session:start modify: the session runs on the changed plan, after an edit as before it."""
    shop.write("changer.py", CHANGER)
    hooks = ["./changer.py", counter("unwanted")]
    async with shop.session(shop.bundle(hooks=hooks)) as session:
        assert await said(shop, session) == ["added 1"]
        shop.save(hooks=[*hooks, counter("new")])
        assert sorted(await said(shop, session)) == ["added 2", "new 1"]
        assert session.config["session"]["max_turns"] == 7
        shop.save(hooks=["./changer.py"], session={**shop.plan["session"], "debug": True})
        assert await said(shop, session) == ["added 3"]
        assert session.config["session"]["debug"] is True


async def test_nothing_of_the_reloader_stays_behind_a_session(shop: Workshop) -> None:
    """cleanup undoes everything that the session registered."""
    async with shop.session() as session:
        assert any(session.coordinator.hooks.list_handlers().values())
    assert not any(session.coordinator.hooks.list_handlers().values())


async def test_included_files_and_new_layers_are_watched(shop: Workshop) -> None:
    """`.sources`: the files read; and those that would be read if they existed."""
    part = shop.write("part.yaml", "name: part\n")
    shop.save(include="part.yaml", inherit=True)
    async with shop.session(shop.bundle()) as session:
        await session.execute("go")
        part.write_text("session: {injection_size_limit: 77}\n")
        await session.execute("go")
        assert session.config["session"]["injection_size_limit"] == 77
        user = shop.home / ".config" / "amplifier" / "amplifier.yaml"
        user.parent.mkdir(parents=True)
        user.write_text("session: {injection_budget_per_turn: 5}\n")
        await session.execute("go")
        assert session.config["session"]["injection_budget_per_turn"] == 5


async def test_the_trail_tells_of_changes_and_of_refused_ones(shop: Workshop) -> None:
    """Configuration changes are recorded."""
    sink = MemoryAudit()
    async with shop.session(shop.bundle(hooks=[counter("a")]), audit=sink) as session:
        await session.execute("go")
        shop.save(hooks=[counter("b")])
        await session.execute("go")
        shop.write("amplifier.yaml", "- no\n")
        await session.execute("go")
    changed, refused = [record["body"] for record in sink.of_type("configuration_changed")]
    assert changed["mounted"] == ["counter"]
    assert changed["before"] != changed["after"]
    assert "must be a mapping" in refused["refused"]


async def test_what_is_fixed_at_the_start_is_said_to_be(shop: Workshop) -> None:
    """The gate and the trail are fixed when the session starts."""
    async with shop.session(shop.bundle(approval={"mode": "ask"})) as session:
        await session.execute("go")
        shop.save(approval={"mode": "deny"})
        await session.execute("go")
    assert "approval stay as they are until the next session" in shop.screen.of("reload")[0]


GUARD = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    return HookResult(user_message="guarded")
"""


def _rewriting(shop: Workshop, tool: str) -> dict[str, Any]:
    """An agent that takes its guard out of the bundle."""
    path = shop.folder / "amplifier.yaml"
    without = json.dumps({**shop.plan, "hooks": []})
    if tool == "Write":
        return calls("Write", file_path=str(path), content=without)
    shop.write("weaker.json", without)
    return calls("Bash", command=f"cp weaker.json {path}")


@pytest.mark.parametrize("tool", ["Write", "Bash"])
@pytest.mark.parametrize("answer", [None, "Deny", "Allow"])
async def test_an_agent_cannot_take_off_its_own_guards(
    shop: Workshop, tool: str, answer: str | None
) -> None:
    """T19: what changed while a tool ran is used only if a person allows it."""
    shop.write("guard.py", GUARD)
    shop.save(hooks=["./guard.py"], tools=["tool-filesystem", "tool-bash"])
    shop.plan["providers"] = script("hi")
    bundle = shop.bundle(providers=script(_rewriting(shop, tool), "Done.", when_done="close"))
    person = None if answer is None else Person(answer)
    async with shop.session(bundle, approval_system=person) as session:
        assert await said(shop, session) == ["guarded"]
        assert await said(shop, session) == ([] if answer == "Allow" else ["guarded"])
        told = shop.screen.of("reload")[0]
        assert ("no person allowed it" in told) is (answer != "Allow")
        assert await said(shop, session) == ([] if answer == "Allow" else ["guarded"])
    if person is not None:
        assert person.asked == [
            f"The files of this session changed while {tool} ran. Use the change?"
        ]


async def test_tools_that_touch_nothing_of_the_session_ask_nobody(shop: Workshop) -> None:
    """An edit by the person between turns needs no question."""
    person = Person("Deny")
    steps = script(calls("Bash", command="echo x > other.txt"), "ok", when_done="repeat")
    bundle = shop.bundle(hooks=[counter("a")], tools=["tool-bash"], providers=steps)
    async with shop.session(bundle, approval_system=person) as session:
        assert await said(shop, session) == ["a 1"]
        shop.save(hooks=[counter("b")])
        assert await said(shop, session) == ["b 1"]
    assert person.asked == []


async def test_what_a_command_put_on_top_survives_a_reload(shop: Workshop) -> None:
    """Flags hold for the whole run."""
    bundle = shop.bundle().changed(lambda plan: {**plan, "providers": script("flag")})
    async with shop.session(bundle) as session:
        shop.save(hooks=[counter("a")])
        assert await said(shop, session) == ["a 1"]
        assert session.coordinator.get("providers")["scripted"] is not None
        texts = [message["content"] for message in session.context.get_messages()]
    assert texts == ["go", "flag"]


async def test_reload_can_be_switched_off(shop: Workshop) -> None:
    """hot_reload=False."""
    bundle = shop.bundle(hooks=[counter("a")])
    async with shop.session(bundle, hot_reload=False) as session:
        await said(shop, session)
        shop.save(hooks=[counter("b")])
        assert await said(shop, session) == ["a 2"]


async def test_a_hundred_reloads_leave_nothing_behind(shop: Workshop) -> None:
    """Every old set is taken away completely."""
    async with shop.session(shop.bundle(hooks=[counter("a")])) as session:
        tasks = len(asyncio.all_tasks())
        for number in range(100):
            shop.save(hooks=[counter(f"w{number}")])
            await session.execute("go")
        assert len(session.coordinator.hooks.handlers_for("prompt:submit")) == 1
        assert len(session.mounting.mounted) == 4
        assert len(asyncio.all_tasks()) == tasks
