"""The messages of a conversation: their order, and how a context is read and written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amplifier_core.message_models import Message, TextBlock, ToolCallBlock, ToolResultBlock
from amplifier_core.utils.conversation import (
    NO_CALL,
    NO_RESULT,
    arrange_messages,
    list_calls,
    list_open_ids,
    list_results,
    read_text,
    replace_last_answer,
)
from tests.support.message_rules import check_history, check_request, show_roles

USER = {"role": "user", "content": "go"}
NOTE = {"role": "system", "content": "a hook says", "metadata": {"source": "hook"}}


def reply(*calls: str) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{"id": call} for call in calls]}


def result(call: str | None = None, said: Any = "done") -> dict[str, Any]:
    named = {} if call is None else {"tool_call_id": call}
    return {"role": "tool", "content": said, **named}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([USER, reply("1"), NOTE, result("1")], "user assistant(1) tool(1) system"),
        (
            [reply("1", "2"), result("2"), NOTE, result("1"), USER],
            "assistant(1,2) tool(2) tool(1) system user",
        ),
        (
            [reply("1"), USER, reply("1"), result("1")],
            "assistant(1) tool(1) user assistant(1) tool(1)",
        ),
        ([reply("1"), USER, {"role": "assistant", "content": "x"}, result("1")],
         "assistant(1) tool(1) user assistant"),
        (
            [reply("1"), USER, reply("1"), USER, result("1"), result("1")],
            "assistant(1) tool(1) user assistant(1) tool(1) user",
        ),
        ([USER, result("1")], "user user"),
        ([reply("1"), result("1"), result("1")], "assistant(1) tool(1) user"),
        ([reply("1", "2"), result(), result()], "assistant(1,2) tool(1) tool(2)"),
        ([USER, result()], "user user"),
        ([reply("1")], "assistant(1) tool(1)"),
    ],
)  # fmt: skip
def test_each_result_stands_behind_its_call(given, wanted):
    """What came between them stands behind it, and neither of them is alone."""
    arranged = arrange_messages(given)
    assert show_roles(arranged) == wanted
    check_request(arranged)


def test_a_call_without_a_result_gets_one_that_says_so():
    """Unless it is to be left open, because it still runs."""
    made = arrange_messages([reply("1", "2"), result("1")])[-1]
    assert (made["content"], made["tool_call_id"]) == (NO_RESULT, "2")
    given = [reply("1", "2"), result("1")]
    assert arrange_messages(given, ["2"]) is given


def test_a_result_that_comes_late_takes_the_place_of_one_that_was_made_up():
    """A background task may end after the conversation has gone on."""
    kept = arrange_messages([reply("1"), USER])
    late = arrange_messages([*kept, result("1", "late")])
    assert [one["content"] for one in late] == ["", "late", "go"]


def test_late_results_of_an_id_that_came_again_go_to_the_calls_that_lack_one():
    """The newest call first; the older one then, which else keeps a result that was made up."""
    kept = arrange_messages([reply("1"), USER, reply("1"), USER])
    late = arrange_messages([*kept, result("1", "new"), result("1", "old")], keep_strays=True)
    assert [one["content"] for one in late] == ["", "old", "go", "", "new", "go"]


def test_a_result_whose_call_is_gone_is_told_as_text():
    """With its pictures; where nothing is sent, it is kept as it is."""
    pictures = [{"type": "image", "source": {}}]
    [told] = arrange_messages([result("1", pictures)])
    assert (told["role"], told["content"][1:]) == ("user", pictures)
    assert arrange_messages([result("1")])[0]["content"] == f"{NO_CALL}\ndone"
    strays = [result("1")]
    assert arrange_messages(strays, keep_strays=True) is strays


def test_calls_and_results_are_read_in_every_form():
    """Ours and the vendors': apart from the content, or among its blocks; dicts or models."""
    assert list_calls(
        Message(role="assistant", content=[ToolCallBlock(id="1", name="x", input={})])
    ) == ["1"]
    used = {"role": "assistant", "content": [{"type": "text"}, {"type": "tool_use", "id": "2"}]}
    assert list_calls(used) == ["2"]
    assert list_calls({**used, "tool_calls": [{"id": "2"}, {"id": None}]}) == ["2"]
    assert list_calls({"role": "assistant", "tool_calls": "odd", "content": 3}) == []
    answered = Message(role="user", content=[ToolResultBlock(tool_call_id="1", output="x")])
    assert list_results(answered) == ["1"]
    blocks = [
        {"type": "tool_result", "tool_use_id": "2"},
        {"type": "tool_result", "tool_use_id": "3"},
    ]
    assert list_results({"role": "user", "content": blocks}) == ["2", "3"]
    assert list_results(Message(role="user", content=[TextBlock(text="x")])) == []


def test_what_is_among_blocks_is_put_in_order_too():
    """As a loop that speaks with one vendor only keeps it."""
    used = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "2"}, {"type": "tool_use", "id": "3"}],
    }
    blocks = [
        {"type": "tool_result", "tool_use_id": "2"},
        {"type": "tool_result", "tool_use_id": "3"},
    ]
    answered = {"role": "user", "content": blocks}
    assert arrange_messages([used, NOTE, answered]) == [used, answered, NOTE]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], []),
        ([USER], []),
        ([reply("1", "2")], ["1", "2"]),
        ([reply("1", "2"), result("1"), NOTE], ["2"]),
        ([reply("1", "2"), result()], ["2"]),
        ([reply("1"), {**NOTE, "role": "user"}], ["1"]),
        ([reply("1"), USER], []),
        ([reply("1"), result("1")], []),
    ],
)
def test_calls_are_open_until_somebody_goes_on(given, wanted):
    """Results and texts of hooks may follow; a prompt or another reply means that nobody waits."""
    assert list_open_ids(given) == wanted


MESSAGES = st.lists(
    st.one_of(
        st.just(USER),
        st.just(NOTE),
        st.just({"role": "assistant", "content": "text"}),
        st.lists(st.sampled_from("123"), min_size=1, max_size=3, unique=True).map(
            lambda calls: reply(*calls)
        ),
        st.sampled_from("1234").map(result),
        st.just(result()),
    ).map(dict),
    max_size=14,
)  # fmt: skip


@given(MESSAGES)
def test_any_conversation_becomes_one_that_models_accept(messages):
    """Nothing is lost by it, and what is in order stays the very list."""
    arranged = arrange_messages(messages)
    check_request(arranged)
    assert arrange_messages(arranged) is arranged
    said = [one for one in messages if one["role"] != "tool"]
    assert [one for one in arranged if any(one is each for each in said)] == said
    results = [one for one in messages if one["role"] == "tool"]
    told = [
        one
        for one in arranged
        if (one["role"] == "tool" and one["content"] == "done")
        or str(one["content"]).startswith(NO_CALL)
    ]
    assert len(told) == len(results)


@given(MESSAGES)
def test_a_history_is_in_order_up_to_the_calls_that_still_run(messages):
    """What a context keeps: calls at the end may be open."""
    assume(not any(str(one["content"]).startswith(NO_CALL) for one in arrange_messages(messages)))
    check_history(arrange_messages(messages, list_open_ids(messages)))


USER_CONVERSATION = {"role": "user", "content": "hello"}


def test_the_last_answer_is_replaced_and_what_repeats_it_goes() -> None:
    """What a loop keeps beside the text may hold the same words."""
    old = {"role": "assistant", "content": "hello"}
    answer = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "a key"}, {"type": "text", "text": "a key"}],
        "raw": "a key",
        "timestamp": "now",
        "metadata": {"model": "m"},
    }
    behind = {"role": "system", "content": "a reminder"}
    changed = replace_last_answer([old, USER_CONVERSATION, answer, behind], ("a key",), "gone")
    new = {"role": "assistant", "timestamp": "now", "metadata": {"model": "m"}, "content": "gone"}
    assert changed == [old, USER_CONVERSATION, new, behind]


def test_what_a_hook_injected_in_the_agent_s_name_is_no_answer() -> None:
    """It stands behind the answer that another hook takes back."""
    answer = {"role": "assistant", "content": "a key", "metadata": None}
    injected = {"role": "assistant", "content": "be brief", "metadata": {"source": "hook"}}
    changed = replace_last_answer([answer, injected], ("a key",), "gone")
    assert changed == [{"role": "assistant", "metadata": None, "content": "gone"}, injected]


def test_an_answer_that_called_tools_keeps_its_calls() -> None:
    """A result without its call would be refused by every model."""
    call = {"id": "1", "name": "Read", "arguments": {}}
    answer = {"role": "assistant", "content": "a key", "tool_calls": [call]}
    changed = replace_last_answer([answer], ("a key",), "gone")
    assert changed == [{"role": "assistant", "tool_calls": [call], "content": "gone"}]


@pytest.mark.parametrize(
    "messages",
    [[], [USER_CONVERSATION], ["no message"], [{"role": "assistant", "content": "something else"}]],
)
def test_a_conversation_that_does_not_end_with_it_stays(messages: list[Any]) -> None:
    """Only the message that has exactly this text is replaced."""
    assert replace_last_answer(messages, ("a key",), "gone") is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "text"}], ""),
        (None, None),
        (7, None),
    ],
)
def test_the_text_of_a_message_is_read_in_either_form(content: Any, text: str | None) -> None:
    """A text, or blocks of which some are text."""
    assert read_text(content) == text
