"""The conversation: both forms, compaction that tears nothing apart."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import ContextManager
from amplifier_core.models import HookResult, ProviderInfo
from amplifier_core.testing import (
    EventRecorder,
    MemoryContext,
    MockContextManager,
    RecordingDisplay,
    TestCoordinator,
)
from amplifier_core.utils import resolve
from amplifier_hooks.agent.contexts.simple import (
    Message,
    SimpleContext,
    SimpleContextConfig,
    mount,
)
from tests.support.hooks import says


def context(**options: Any) -> SimpleContext:
    return SimpleContext(SimpleContextConfig(**options))


async def look(one: SimpleContext) -> list[Message]:
    return await one.get_messages_for_request()


async def test_both_forms_of_adding_are_understood_plain_and_awaited() -> None:
    """Existing loops pass a dict and await; others pass role and content, and do not."""
    one = context()
    one.add_message("user", "a", {"k": 1})
    await one.add_message({"role": "assistant", "content": "b"})
    assert [m["content"] for m in one.get_messages()] == ["a", "b"]
    assert [m["content"] for m in await one.get_messages()] == ["a", "b"]
    assert one.get_messages()[0]["metadata"] == {"k": 1}
    await one.set_messages([{"role": "user", "content": "c"}])
    assert [m["content"] for m in one.messages] == ["c"]
    await one.clear()
    assert one.get_messages() == []
    assert one.token_count() == 0


def test_a_message_without_a_role_is_refused() -> None:
    """A message needs a role."""
    for arguments in ({"message": {"content": "x"}}, {"content": "x"}, {"role": 3}):
        with pytest.raises(TypeError, match=r"needs a role such as 'user', got (None|3)"):
            context().add_message(**arguments)
    with pytest.raises(TypeError, match="one role"):
        context().add_message("user", "x", role="system")


FORMS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "role, content, metadata": (("user", "a", {"k": 1}), {}),
    "role, content, metadata=": (("user", "a"), {"metadata": {"k": 1}}),
    "role, content=, metadata=": (("user",), {"content": "a", "metadata": {"k": 1}}),
    "role=, content=, metadata=": ((), {"role": "user", "content": "a", "metadata": {"k": 1}}),
    "message": (({"role": "user", "content": "a", "metadata": {"k": 1}},), {}),
    "message=": ((), {"message": {"role": "user", "content": "a", "metadata": {"k": 1}}}),
}


@pytest.mark.parametrize("kind", [SimpleContext, MemoryContext, MockContextManager])
@pytest.mark.parametrize("form", FORMS)
async def test_every_form_of_adding_by_position_and_by_keyword(kind: Any, form: str) -> None:
    """`add_message(role=…, content=…, metadata=…)`, as the architecture document calls it."""
    one = kind()
    arguments, keywords = FORMS[form]
    await resolve(one.add_message(*arguments, **keywords))
    (added,) = await one.get_messages()
    assert (added["role"], added["content"], added["metadata"]) == ("user", "a", {"k": 1})


async def test_a_hook_can_change_how_much_is_kept() -> None:
    """context:pre_compact: what a hook makes of target_tokens takes effect."""
    sizes: list[int] = []
    for wanted in (None, 40, 400):
        coordinator = TestCoordinator()
        if wanted is not None:

            async def change(event: str, data: dict[str, Any], wanted: int = wanted) -> HookResult:
                return HookResult(action="modify", data={**data, "target_tokens": wanted})

            coordinator.hooks.register("context:pre_compact", change)
        one = SimpleContext(SimpleContextConfig(max_tokens=500, keep_last=1), coordinator)
        for number in range(60):
            one.add_message("user" if number % 2 else "assistant", f"message {number:02} " * 3)
        assert await one.compact() is True
        sizes.append(one.token_count())
    usual, small, large = sizes
    assert small < usual < large
    assert large <= 400 + 30


@pytest.mark.parametrize("wanted", [0, -5, "many", None, True])
async def test_a_target_that_is_none_is_passed_over(wanted: Any, caplog: Any) -> None:
    """What a hook left unusable does not decide; the log says so."""
    coordinator = TestCoordinator()

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "target_tokens": wanted})

    coordinator.hooks.register("context:pre_compact", change)
    one = SimpleContext(SimpleContextConfig(max_tokens=100, keep_last=1), coordinator)
    for number in range(40):
        one.add_message("user", f"message {number}")
    assert await one.compact() is True
    assert "A hook left target_tokens as" in caplog.text


def test_the_list_that_was_handed_out_is_not_the_contexts_own() -> None:
    """What a caller does to its list does not change the conversation."""
    one = context()
    one.add_message("user", "a")
    one.get_messages().clear()
    assert len(one.get_messages()) == 1


def conversation(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["user", "assistant", "system", "calls"]))
        size = draw(st.integers(1, 200))
        if kind != "calls":
            source = {"source": "hook", "hook_name": "h"} if kind == "system" else {}
            messages.append({"role": kind, "content": "x" * size, "metadata": source})
            continue
        ids = [f"{number}-{i}" for i in range(draw(st.integers(1, 3)))]
        made = [{"id": one, "name": "T", "arguments": {}} for one in ids]
        messages.append({"role": "assistant", "content": "", "tool_calls": made})
        messages += [{"role": "tool", "content": "y" * size, "tool_call_id": one} for one in ids]
    return messages


@given(st.composite(conversation)(), st.integers(1, 8), st.integers(20, 400))
async def test_no_compaction_separates_a_call_from_its_results(
    messages: list[dict[str, Any]], keep_last: int, max_tokens: int
) -> None:
    """Calls keep their results, hooks' messages their origin, and the last prompt stays."""
    one = context(max_tokens=max_tokens, keep_last=keep_last)
    one.set_messages(messages)
    before = one.token_count()
    await one.compact()
    called = {c["id"] for m in one.messages for c in m.get("tool_calls") or ()}
    answered = {m["tool_call_id"] for m in one.messages if m["role"] == "tool"}
    assert called == answered
    assert all(
        m["metadata"].get("source") in ("hook", "context")
        for m in one.messages
        if m["role"] == "system"
    )
    again = context()
    again.set_messages(one.get_messages())
    assert one.token_count() == again.token_count()
    asked = [m for m in messages if m["role"] == "user"]
    assert not asked or asked[-1]["content"] in [m["content"] for m in one.messages]
    assert one.token_count() <= before + 20


async def fill(coordinator: TestCoordinator) -> SimpleContext:
    one = SimpleContext(SimpleContextConfig(max_tokens=100, keep_last=1), coordinator)
    for number in range(20):
        one.add_message("user", f"{number} " + "x" * 60)
    return one


async def test_a_compaction_is_announced_decided_and_reported() -> None:
    """Hooks hear the strategy, may refuse, and learn what came of it."""
    coordinator = TestCoordinator()
    heard = EventRecorder()
    coordinator.hooks.register("*", heard)
    one = await fill(coordinator)
    assert one.should_compact()
    assert await one.compact()
    assert heard.names == [
        "decision:context_resolution", "context:pre_compact", "context:post_compact"
    ]  # fmt: skip
    told = heard.events[-1][1]
    assert told["messages_before"] == 20
    assert told["messages_after"] == len(one.messages)
    assert told["tokens_after"] < told["tokens_before"]
    assert "earlier messages were left out" in one.messages[0]["content"]
    assert not one.should_compact()


@pytest.mark.parametrize("spelling", ["context:pre_compact", "context:pre-compact"])
async def test_a_hook_can_refuse_a_compaction(spelling: str) -> None:
    """Both spellings are the same event; a denied compaction does not happen."""
    coordinator = TestCoordinator()
    coordinator.hooks.register(spelling, says("deny", reason="no"))
    one = await fill(coordinator)
    assert not await one.compact()
    assert len(one.messages) == 20


async def test_a_short_conversation_is_left_alone() -> None:
    """Nothing to drop, nothing told."""
    one = context(max_tokens=1000)
    one.add_message("user", "hi")
    assert not one.should_compact()
    assert not await one.compact()


def test_the_providers_way_of_counting_is_used() -> None:
    """Without it, tokens are estimated from the length of the text."""
    one = context()
    one.add_message("user", "x" * 40)
    assert one.token_count() == 14
    one.count_tokens_with(len)
    assert one.token_count() == 44


async def test_what_a_hook_adds_while_it_is_asked_is_kept() -> None:
    """The conversation that is compacted is the one after the hooks have spoken."""
    coordinator = TestCoordinator()
    one = await fill(coordinator)

    async def remember(event: str, data: dict[str, Any]) -> HookResult:
        one.add_message("user", "remember this")
        return HookResult()

    coordinator.hooks.register("context:pre_compact", remember)
    assert await one.compact()
    assert one.messages[-1]["content"] == "remember this"


async def test_two_compactions_at_once_are_two_after_one_another() -> None:
    """The second finds nothing left to drop."""
    one = await fill(TestCoordinator())
    assert sorted(await asyncio.gather(one.compact(), one.compact())) == [False, True]


async def test_instructions_and_the_current_task_stay() -> None:
    """The system message at the start and the last prompt survive any compaction."""
    one = context(max_tokens=60, keep_last=1)
    one.add_message("system", "Be brief.")
    one.add_message("user", "old " * 40)
    one.add_message("user", "the task")
    one.add_message("user", "a remark of a hook", {"source": "hook", "hook_name": "h"})
    for _ in range(5):
        one.add_message("assistant", "word " * 40)
    assert await one.compact()
    contents = [str(message["content"]) for message in one.messages]
    assert contents[0] == "Be brief."
    assert contents[1].endswith("earlier messages were left out to fit the context.")
    assert "the task" in contents
    assert not [text for text in contents if text.startswith("old")]


def test_without_a_limit_nothing_is_ever_compacted() -> None:
    """With `max_tokens: null` the conversation may grow without end."""
    one = context(max_tokens=None)
    one.add_message("user", "x" * 10_000_000)
    assert not one.should_compact()


@given(st.lists(st.text(max_size=40), max_size=20))
def test_the_running_count_is_the_count_of_the_whole(texts: list[str]) -> None:
    """Counting as messages arrive gives what counting all of them gives."""
    one, again = context(), context()
    for text in texts:
        one.add_message("user", text)
    again.set_messages(one.get_messages())
    again.count_tokens_with(lambda text: -(-len(text) // 4))
    assert one.token_count() == again.token_count()


def test_tool_calls_and_blocks_count_as_text() -> None:
    """A message without text is not without size."""
    one = context()
    one.add_message({"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "T"}]})
    calls_only = one.token_count()
    one.add_message({"role": "user", "content": [{"type": "text", "text": "x" * 400}]})
    assert calls_only > 4
    assert one.token_count() > calls_only + 100


async def test_it_mounts_with_its_options_and_tells_of_others() -> None:
    """The options of the plan are those of the mounted context."""
    screen = RecordingDisplay()
    coordinator = TestCoordinator(display_system=screen)
    assert await mount(coordinator, {"keep_last": 2}) is None
    mounted = coordinator.get("context")
    assert isinstance(mounted, SimpleContext)
    assert isinstance(mounted, ContextManager)
    assert (mounted.config.keep_last, mounted.config.max_tokens) == (2, 150_000)
    await mount(coordinator, {"max_token": 9})
    [(shown, _, _)] = screen.messages
    assert shown.startswith("context-simple: unknown option 'max_token' is ignored")
    with pytest.raises(ModuleLoadError, match="option 'compact_threshold' cannot be 2"):
        await mount(coordinator, {"compact_threshold": 2})


@pytest.mark.parametrize(("threshold", "expected"), [(1.0, False), (0.5, True)])
async def test_it_may_compact_before_the_budget_is_used_up(
    threshold: float, expected: bool
) -> None:
    """From a share of it on, whoever asks whether it is time."""
    config = SimpleContextConfig(
        max_tokens=100, compact_threshold=threshold, target=0.2, keep_last=1
    )
    context = SimpleContext(config)
    for _ in range(8):
        context.add_message("assistant", "x" * 24)
    assert context.token_count() == 80
    assert context.should_compact() is expected
    assert (len(await context.get_messages_for_request()) < 8) is expected


def test_its_options_may_be_changed_while_it_is_used() -> None:
    """They hold from the next request on."""
    one = context(max_tokens=100)
    one.add_message("user", "x" * 184)
    assert not one.should_compact()
    one.config.max_tokens = 20
    assert one.should_compact()
    one.config = SimpleContextConfig(max_tokens=100, compact_threshold=0.1)
    assert one.should_compact()


async def test_a_context_that_counts_otherwise_compacts_by_its_own_count() -> None:
    """Whoever builds on it may know better how much it holds."""

    class Pessimist(SimpleContext):
        def token_count(self) -> int:
            return 10 * super().token_count()

    one = Pessimist(SimpleContextConfig(max_tokens=100, target=0.1, keep_last=1))
    for _ in range(4):
        one.add_message("user", "x" * 24)
    assert one.should_compact()
    assert len(await one.get_messages_for_request()) < 4


# What to send


def long_talk(**options: Any) -> SimpleContext:
    """About 1,000 tokens in 20 messages."""
    one = context(keep_last=2, **options)
    for _ in range(20):
        one.add_message("user", "x" * 184)
    return one


class Reads:
    """A provider of which the limits are known."""

    def __init__(self, **defaults: Any) -> None:
        self.defaults = defaults

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id="p", display_name="P", defaults=self.defaults)


@pytest.mark.parametrize(
    ("options", "asked", "left"),
    [
        ({}, {}, 1000),
        ({"max_tokens": 1000}, {}, 1000),
        ({"max_tokens": 900}, {}, 450),
        ({"max_tokens": None}, {}, 1000),
        ({}, {"token_budget": 500}, 250),
        ({"max_tokens": None}, {"token_budget": 500}, 250),
        ({"max_tokens": 900}, {"token_budget": 2000}, 1000),
        ({}, {"provider": Reads(context_window=800, max_output_tokens=200)}, 300),
        ({}, {"provider": Reads(context_window=800)}, 400),
        ({}, {"provider": Reads(context_window=800, max_output_tokens=800)}, 400),
        ({}, {"provider": Reads(context_window=0)}, 1000),
        ({}, {"provider": Reads(context_window="large")}, 1000),
        ({}, {"provider": Reads()}, 1000),
        ({}, {"provider": object()}, 1000),
        ({"max_tokens": 600}, {"provider": Reads(context_window=800)}, 300),
        ({"max_tokens": None}, {"provider": Reads(context_window=800)}, 1000),
    ],
)
async def test_room_is_made_before_the_messages_are_handed_out(
    options: dict[str, Any], asked: dict[str, Any], left: int
) -> None:
    """For the budget that is asked for, else for the smaller of the configured and the model's."""
    one = long_talk(**options)
    sent = await one.get_messages_for_request(**asked)
    assert sent == one.get_messages()
    assert left - 60 <= one.token_count() <= left + 20  # with the note on what was left out
    assert all(mine is theirs for mine, theirs in zip(one.messages, sent, strict=True))


async def test_what_was_handed_out_is_a_list_of_its_own() -> None:
    """A loop may put something for one request into it."""
    one = long_talk()
    (await one.get_messages_for_request()).clear()
    assert len(one.get_messages()) == 20


def test_a_picture_counts_as_a_picture_and_not_as_its_letters():
    """Otherwise one of them would push the whole conversation out."""
    one = SimpleContext()
    picture = {"type": "image", "source": {"type": "base64", "data": "a" * 1_000_000}}
    one.add_message({"role": "tool", "content": [{"type": "text", "text": "A cat:"}, picture]})
    assert 1_600 < one.token_count() < 2_000


async def test_who_added_a_message_cannot_change_it_any_more() -> None:
    """Neither its fields nor its blocks."""
    one, block = context(), {"type": "text", "text": "a"}
    given: dict[str, Any] = {"role": "user", "content": [block], "metadata": {"k": 1}}
    one.add_message(given)
    block["text"] = "b"
    given["content"].append(block)
    given["metadata"]["k"] = 2
    [message] = one.get_messages()
    assert (message["content"], message["metadata"]) == ([{"type": "text", "text": "a"}], {"k": 1})


@pytest.mark.parametrize("kind", [list, tuple])
def test_nor_those_of_a_content_of_any_kind(kind: type) -> None:
    """Models take a tuple of blocks as well."""
    one, block = context(), {"type": "text", "text": "a"}
    one.add_message({"role": "user", "content": kind([block])})
    block["text"] = "changed"
    assert asyncio.run(look(one))[0]["content"][0]["text"] == "a"
