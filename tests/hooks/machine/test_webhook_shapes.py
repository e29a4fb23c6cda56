"""The documents that services take through a webhook."""

from __future__ import annotations

import json

from amplifier_hooks.machine.webhook_shapes import write_document

LINK = "https://approvals.test/approvals/ab"


def test_a_generic_document_has_words_facts_and_link() -> None:
    """Plain values, which any service can read."""
    url, document = write_document(
        "generic", "https://h.test/x", "T", "M", level="warning", link=LINK, facts={"event": "e"}
    )
    assert url == "https://h.test/x"
    assert document == {
        "text": "T: M",
        "title": "T",
        "message": "M",
        "level": "warning",
        "event": "e",
        "link": LINK,
    }
    assert "link" not in write_document("generic", "https://h.test/x", "T", "M")[1]


def test_slack_gets_text_in_which_nothing_but_the_link_is_one() -> None:
    """A prompt cannot mention a channel, nor show a link under other words."""
    _, document = write_document(
        "slack", "https://h.test", "T", "<!channel> <https://x|y>", link=LINK
    )
    assert document["text"] == (f"*T*\n&lt;!channel&gt; &lt;https://x|y&gt;\n<{LINK}|Open it>")
    assert "<" not in write_document("slack", "https://h.test", "T", "<a>")[1]["text"]


def test_teams_gets_a_card_whose_texts_are_no_markdown() -> None:
    """And one action, which opens the page."""
    _, document = write_document(
        "teams", "https://h.test", "T", "[x](https://evil.test)", link=LINK
    )
    card = document["attachments"][0]["content"]
    assert [one["type"] for one in card["body"]] == ["RichTextBlock"] * 2
    assert card["body"][1]["inlines"][0]["text"] == "[x](https://evil.test)"
    assert card["actions"] == [{"type": "Action.OpenUrl", "title": "Open it", "url": LINK}]
    assert (
        write_document("teams", "https://h.test", "T", "M")[1]["attachments"][0]["content"][
            "actions"
        ]
        == []
    )


def test_ntfy_is_posted_to_at_its_root_with_the_topic_inside() -> None:
    """A tap opens the page; what waits for a person is urgent."""
    url, document = write_document(
        "ntfy", "https://ntfy.test/base/my%20topic", "T", "M", level="warning", link=LINK
    )
    assert url == "https://ntfy.test/base/"
    expected = {"topic": "my topic", "title": "T", "message": "M", "priority": 4, "click": LINK}
    assert document == expected
    assert write_document("ntfy", "https://ntfy.test/t", "T", "M")[0] == "https://ntfy.test/"


def test_no_shape_lets_a_link_decide() -> None:
    """It opens a page; there is no button that answers."""
    for shape in ("generic", "slack", "teams", "ntfy"):
        _, document = write_document(shape, "https://h.test/t", "T", "M", link=LINK)  # type: ignore[arg-type]
        assert "Action.Http" not in json.dumps(document)
        assert "actions" not in document
