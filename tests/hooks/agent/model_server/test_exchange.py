"""The exchange: the model, the tokens and the ids of one reply."""

from __future__ import annotations

from amplifier_core.message_models import Usage
from amplifier_hooks.agent.model_server import Reply, ScriptedCall
from amplifier_hooks.agent.model_server.exchange import Exchange


def test_the_reply_comes_from_the_model_that_was_asked() -> None:
    """Whatever stands there is made a name; without one it is the script's own."""
    assert Exchange(Reply(), 1, {"model": "big"}).model == "big"
    assert Exchange(Reply(), 1, {"model": ["odd"]}).model == "['odd']"
    assert Exchange(Reply(), 1, {}).model == "scripted"


def test_usage_is_that_of_the_script_or_an_estimate() -> None:
    """Four characters are a token: of the request, and of all that the reply consists of."""
    written = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    assert Exchange(Reply(text="x", usage=written), 1, {}).usage == written
    call = ScriptedCall(name="B", arguments="x" * 8)
    estimated = Exchange(Reply(text="x" * 4, thinking="x" * 4, tool_calls=(call,)), 1, {}).usage
    assert (estimated.input_tokens, estimated.output_tokens) == (1, 4)
    longer = Exchange(Reply(), 1, {"messages": ["x" * 400]}).usage
    assert longer.input_tokens > 100


def test_calls_are_numbered_unless_the_script_names_them() -> None:
    """Ids differ between replies and within one."""
    calls = (ScriptedCall(name="A"), ScriptedCall(name="B", id="mine"), ScriptedCall(name="C"))
    numbered = Exchange(Reply(tool_calls=calls), 7, {}).number_calls("call")
    assert [call_id for call_id, _ in numbered] == ["call_7_1", "mine", "call_7_3"]
    assert [call.name for _, call in numbered] == ["A", "B", "C"]
