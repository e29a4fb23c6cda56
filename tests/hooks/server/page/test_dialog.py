"""A waiting approval is a modal dialog that decides only what a person chose."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from amplifier_hooks.approvals.models import Approval, Requirement
from tests.hooks.server.page.browser import People
from tests.hooks.server.page.questions import COMMAND, ONCE, OPTIONS, make_edit, make_question
from tests.hooks.server.page.running_server import RunningServer

# As if what the server tells were still on its way.
HEAR_NOTHING = """async () => {
  const { model } = await import("/static/link/model.js");
  model.live.dispatchEvent = () => true;
}"""


def get_dialog(page: Page) -> Locator:
    """The open dialog, once it listens: at first it is deaf to clicks meant for something else."""
    dialog = page.locator("dialog.approval[open]")
    expect(dialog).to_have_attribute("data-settled", "")
    return dialog


def expect_words(page: Page, words: str) -> None:
    """The dialog says so, and a notice after it has closed."""
    said = page.locator("dialog .status, .notice").filter(has_text=words)
    expect(said.first).to_be_attached()


def choose(page: Page, name: str) -> None:
    """Click an answer."""
    get_dialog(page).get_by_role("button", name=name).click()


def test_a_question_opens_by_itself_and_can_be_allowed(page: Page, server: RunningServer) -> None:
    """What is asked is shown in full, and the answer reaches the agent with the person's name."""
    asked = server.ask(make_question())
    dialog = get_dialog(page)
    expect(dialog.get_by_role("heading", level=2)).to_have_text(
        "Allow Bash to write to the guarded path ~/shop/production/flags.env?"
    )
    expect(dialog.locator("pre.code")).to_have_text(COMMAND)
    for fact in ("hooks-production-guard (tool:pre)", "guarded by", "build-3", "/home/ann/shop"):
        expect(dialog.locator(".facts")).to_contain_text(fact)
    dialog.get_by_role("button", name="Exact", exact=True).click()
    expect(dialog.locator("pre.exact")).to_contain_text('"command": "sed -i')
    expect(dialog.locator(".digest")).to_contain_text(asked.request.digest)
    choose(page, "Allow once")
    expect(dialog).to_have_count(0)
    decided = server.wait(asked)
    assert (decided.status, decided.option) == ("approved", "Allow once")
    assert (decided.decided_by, decided.decided_via) == ("ann", "web")


def test_a_refusal_carries_its_comment(page: Page, server: RunningServer) -> None:
    """What the person writes to the agent comes with the answer."""
    asked = server.ask(make_question())
    get_dialog(page).get_by_role("button", name="Comment").click()
    page.get_by_label("Comment to the agent").fill("Use the staging flags.")
    choose(page, "Deny")
    decided = server.wait(asked)
    assert (decided.status, decided.comment) == ("denied", "Use the staging flags.")


def test_the_keyboard_alone_suffices_and_begins_on_the_refusal(
    page: Page, server: RunningServer
) -> None:
    """Enter refuses; the answers that allow are a Tab away; Escape neither decides nor closes."""
    asked = server.ask(make_question())
    dialog = get_dialog(page)
    expect(dialog.get_by_role("button", name="Deny")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("status")).to_contain_text("Escape does not decide")
    assert server.get(asked).status == "pending"
    page.keyboard.press("Enter")
    assert server.wait(asked).status == "denied"
    expect(dialog).to_have_count(0)
    again = server.ask(make_question())
    get_dialog(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert server.wait(again).option == "Allow once"


def test_a_double_click_decides_only_the_first_of_two(page: Page, server: RunningServer) -> None:
    """The second click falls on the next question, which does not listen yet."""
    first, second = server.ask(make_question()), server.ask(make_question())
    get_dialog(page).get_by_role("button", name="Allow once").dblclick()
    assert server.wait(first).status == "approved"
    expect(page.locator("dialog[open] .others")).to_have_text("")
    assert server.get(second).status == "pending"
    choose(page, "Deny")
    assert server.wait(second).status == "denied"


def test_the_input_can_be_edited_before_it_runs(page: Page, server: RunningServer) -> None:
    """Other members stay exactly as they were, also numbers that JavaScript cannot hold."""
    given = {"command": COMMAND, "limit": 12345678901234567890, "wait": 1.0}
    asked = server.ask(make_question(tool_input=given))
    dialog = get_dialog(page)
    dialog.get_by_role("button", name="Exact", exact=True).click()
    expect(dialog.locator("pre.exact")).to_contain_text("12345678901234567890")
    dialog.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Edit the command").fill("echo no")
    expect(dialog.get_by_role("button", name="Allow always")).to_be_disabled()
    choose(page, "Allow once")
    decided = server.wait(asked)
    assert decided.edited_input == {**given, "command": "echo no"}
    assert isinstance(decided.edited_input["wait"], float)


def test_an_edit_that_is_no_json_is_refused_in_words(page: Page, server: RunningServer) -> None:
    """The dialog stays, says what is wrong, and nothing is decided."""
    asked = server.ask(make_edit())
    dialog = get_dialog(page)
    dialog.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Edit the input (JSON)").fill('{"file_path": ')
    choose(page, "Allow once")
    expect(dialog.get_by_role("status")).to_contain_text("not valid JSON")
    assert server.get(asked).status == "pending"


def test_an_edit_of_a_file_is_shown_as_its_diff(page: Page, server: RunningServer) -> None:
    """Lines that go and come are told apart by their marks and their colour."""
    server.ask(make_edit())
    dialog = get_dialog(page)
    expect(dialog.locator(".diff .removed")).to_have_text("-checkout=off")
    expect(dialog.locator(".diff .added")).to_have_text("+checkout=on")
    expect(dialog.locator(".notes")).to_contain_text("not under version control")


def test_when_time_is_over_the_dialog_says_so_and_closes(page: Page, server: RunningServer) -> None:
    """Nobody has refused it: it has expired."""
    asked = server.ask(make_question(timeout=3))
    dialog = page.locator("dialog.approval[open]")
    expect(dialog.get_by_role("timer")).to_have_text(re.compile(r"Refuses in 0:0\d"))
    expect_words(page, "Nobody answered in time")
    expect(dialog).to_have_count(0)
    assert server.get(asked).status == "expired"


def test_of_two_browsers_one_decides_and_the_other_learns_who(
    people: People, page: Page, server: RunningServer
) -> None:
    """The loser's dialog names the winner and closes by itself."""
    bob = people.log_in("bob")
    asked = server.ask(make_question())
    get_dialog(bob)
    choose(page, "Deny")
    dialog = bob.locator("dialog.approval[open]")
    expect_words(bob, "Refused by ann in the browser: Deny")
    expect(dialog).to_have_count(0)
    assert server.get(asked).decided_by == "ann"


def test_a_click_that_comes_too_late_is_told_who_was_first(
    people: People, server: RunningServer
) -> None:
    """A page that has not heard of the decision yet gets it with the conflict."""
    page = people.log_in()
    asked = server.ask(make_question())
    dialog = get_dialog(page)
    page.evaluate(HEAR_NOTHING)
    server.decide(asked, ONCE, "bob")
    choose(page, "Deny")
    expect_words(page, "You were too late. Allowed by bob")
    expect(dialog).to_have_count(0)
    assert server.get(asked).decided_by == "bob"


def test_what_is_put_aside_stays_in_the_inbox(page: Page, server: RunningServer) -> None:
    """Later is no decision; the next question comes, and the first can be opened again."""
    first, second = server.ask(make_question()), server.ask(make_edit())
    get_dialog(page).get_by_role("button", name="Later", exact=True).click()
    expect(get_dialog(page).get_by_role("heading", level=2)).to_contain_text("Allow Edit")
    choose(page, "Deny")
    assert server.wait(second).status == "denied"
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.reload()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.locator(".card a.headline").click()
    choose(page, "Allow once")
    assert server.wait(first).status == "approved"


def test_keeping_an_answer_says_in_words_what_it_grants(page: Page, server: RunningServer) -> None:
    """Scope, expiry and uses stand there before the click, and become the rule."""
    asked = server.ask(make_edit())
    dialog = get_dialog(page)
    dialog.get_by_role("button", name="Keep as a rule").click()
    dialog.get_by_role("radio").nth(1).check()
    dialog.get_by_label("For how long").select_option("1 day")
    dialog.get_by_label("How many times").fill("5")
    words = dialog.locator(".grant")
    expect(words).to_contain_text("nobody is asked again for 1 day")
    expect(words).to_contain_text("at most 5 times")
    expect(words).to_contain_text("any file below /home/ann/shop/production")
    expect(dialog.get_by_role("button", name="Allow always")).to_be_disabled()
    choose(page, "Allow once and keep as a rule for 1 day")
    decided = server.wait(asked)
    (rule,) = server.run(server.store.rules.list())
    assert (rule.id, rule.author, rule.uses_left) == (decided.rule_id, "ann", 5)
    assert rule.scope == "below:/home/ann/shop/production"
    assert rule.expires - rule.created == pytest.approx(24 * 3600, abs=1)


def test_two_persons_are_needed_where_the_request_says_so(
    people: People, page: Page, server: RunningServer
) -> None:
    """The first word counts and is told; the second decides."""
    asked = server.ask(make_question(requirement=Requirement(persons=2)))
    bob = people.log_in("bob")
    choose(page, "Allow once")
    expect_words(page, "1 more must allow it")
    assert server.get(asked).status == "pending"
    choose(bob, "Allow once")
    assert server.wait(asked).status == "approved"


HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script>",
    "cat invoice\u202egnp.exe",
    "\x1b[2K\x07\r\u200b\u2028",
    "{{7*7}} ${alert(1)} javascript:alert(1)",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_never_acts(page: Page, server: RunningServer, text: str) -> None:
    """HTML stays text, what cannot be seen is written out, and the text reads back exactly."""
    alerts: list[str] = []

    def keep_alert(alert: Dialog) -> None:
        alerts.append(alert.message)
        alert.dismiss()

    page.on("dialog", keep_alert)
    shown = {"prompt": text, "reason": text, "machine": text, "notes": (text,), "preview": text}
    server.ask(make_question(**shown, hook=text, tool_input={"command": text, text[:9]: text}))
    dialog = get_dialog(page)
    dialog.get_by_role("button", name="Readable").click()
    read = """async (element) => (await import("/static/kit/escape.js")).unescapeText(
        element.textContent)"""
    assert dialog.locator("pre.code").first.evaluate(read) == text
    assert dialog.locator("h2").evaluate(read) in text
    inside: Any = dialog.evaluate("(element) => element.querySelectorAll('img, script').length")
    assert (inside, alerts) == (0, [])
    page.remove_listener("dialog", keep_alert)
    assert not set(dialog.inner_text()) & set("\u202e\x1b\x07\u200b\u2028")


def test_an_input_of_a_megabyte_is_there_to_its_end(page: Page, server: RunningServer) -> None:
    """Allowing needs a look at the end: the first click goes there, the second allows."""
    text = "x = 1\n" * 140_000 + "rm -rf the-end"
    asked = server.ask(
        make_question(tool_name="Write", tool_input={"file_path": "a.py", "content": text})
    )
    dialog = get_dialog(page)
    assert dialog.locator("pre.code").evaluate("(one) => one.textContent.length") == len(text)
    choose(page, "Allow once")
    expect(dialog.locator(".status")).to_contain_text("There was more to see")
    expect(dialog.locator(".piece").last).to_be_in_viewport()
    assert server.get(asked).status == "pending"
    choose(page, "Allow once")
    assert server.wait(asked).status == "approved"


def test_a_long_change_is_there_to_its_end(page: Page, server: RunningServer) -> None:
    """No line of it is left out: whoever allows it was shown all of it."""
    lines = "".join(f"+line {number}\n" for number in range(6_000))
    server.ask(make_edit(preview=f"--- a\n+++ a\n@@ -1 +1 @@\n{lines}+the last one\n"))
    dialog = get_dialog(page)
    expect(dialog.locator(".diff div.added")).to_have_count(6_001)
    choose(page, "Allow once")
    expect(dialog.get_by_text("+the last one")).to_be_in_viewport()


LONG = "abcdefghij" * 30
LONG_INPUTS: dict[str, dict[str, Any]] = {
    "many lines": {"content": "a line of a file that is written\n" * 600},
    "one line": {"command": "echo " + "a word " * 4_000},
    "one word": {"command": "echo " + "x" * 20_000},
    "long lines": {"content": f"{LONG} {LONG}\n" * 120},
    "long names": {LONG: {LONG: [LONG] * 30}},
}
# What reaches beyond the dialog's edges, and what would have to be scrolled sideways.
LIST_OVERFLOWS = """(dialog) => {
  const edge = dialog.getBoundingClientRect();
  return [dialog, ...dialog.querySelectorAll("*")]
    .filter((one) => {
      if (!one.checkVisibility()) return false;
      const place = one.getBoundingClientRect();
      const scrolls = getComputedStyle(one).overflowX !== "visible";
      return place.right > edge.right + 1 || place.left < edge.left - 1
        || (scrolls && one.scrollWidth > one.clientWidth + 1);
    })
    .map((one) => `${one.tagName}.${one.className} ${one.scrollWidth} in ${one.clientWidth}`);
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", LONG_INPUTS)
def test_an_input_never_runs_out_of_the_dialog_sideways(
    page: Page, server: RunningServer, name: str, width: int
) -> None:
    """In each view: whoever has gone down to its end has seen all of it."""
    before = page.viewport_size
    page.set_viewport_size({"width": width, "height": 800})
    facts = {"machine": LONG, "hook": LONG, "reason": LONG, "prompt": f"Allow {LONG}?\n\n{LONG}"}
    preview = f"--- a\n+++ a\n@@ -1 +1 @@\n-{LONG}\n+{LONG * 20}\n"
    server.ask(make_question(**facts, preview=preview, tool_input=LONG_INPUTS[name]))
    dialog = get_dialog(page)
    for view in ("Change", "Readable", "Exact"):
        dialog.get_by_role("button", name=view, exact=True).click()
        assert dialog.evaluate(LIST_OVERFLOWS) == []
        dialog.locator(".end").scroll_into_view_if_needed()
        assert dialog.evaluate(LIST_OVERFLOWS) == []
    dialog.get_by_role("button", name="Edit", exact=True).click()
    assert dialog.evaluate(LIST_OVERFLOWS) == []
    if before is not None:
        page.set_viewport_size(before)


def test_without_a_refusal_nothing_is_focused_that_decides(
    page: Page, server: RunningServer
) -> None:
    """Enter on such a question puts it aside."""
    asked = server.ask(make_question(options=OPTIONS[:1]))
    expect(get_dialog(page).get_by_role("button", name="Later", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert server.get(asked).status == "pending"


def test_who_may_only_read_is_not_asked(people: People, server: RunningServer) -> None:
    """They see what waits, and no way to answer it."""
    asked: Approval = server.ask(make_question())
    page = people.log_in("eve", scopes=("read",))
    expect(page.locator(".card")).to_have_count(1)
    page.locator(".card a.headline").click()
    expect(page.get_by_text("You may look, but not decide.")).to_be_visible()
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert server.get(asked).model_copy(update={"seconds_left": 0}) == asked.model_copy(
        update={"seconds_left": 0}
    )
