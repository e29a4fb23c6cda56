"""The inbox shows all that waits, the history how it ended."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.hooks.server.page.browser import People
from tests.hooks.server.page.questions import DENY, ONCE, make_edit, make_question
from tests.hooks.server.page.running_server import RunningServer

# A browser without a screen refuses notifications; this one allows them, and keeps what is shown.
BE_AWAY = """() => {
  document.hasFocus = () => false;
  Object.defineProperty(Notification, "permission", { value: "granted" });
  Notification.requestPermission = async () => "granted";
  window.shown = new Promise((resolve) => {
    ServiceWorkerRegistration.prototype.showNotification = async (title, options) =>
      resolve([title, options.body, options.data]);
  });
}"""


def put_aside(page: Page) -> None:
    """Put all open questions aside."""
    page.get_by_role("button", name="All later").click()
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_filters_narrow_the_inbox(page: Page, server: RunningServer) -> None:
    """By text, machine, session, hook and tool, also together."""
    server.ask(make_question(machine="build-3"))
    server.ask(make_edit(machine="laptop", session_id="docs-2"))
    put_aside(page)
    cards = page.locator(".card")
    expect(cards).to_have_count(2)
    page.get_by_label("Search").fill("checkout=off/checkout")
    expect(cards).to_have_count(1)
    page.get_by_label("Tool").select_option("Edit")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    page.get_by_label("Search").fill("")
    expect(cards).to_contain_text(["Allow Edit"])
    page.get_by_label("Machine").select_option("build-3")
    expect(cards).to_have_count(0)
    for label, value in (("Machine", "laptop"), ("Session", "docs-2")):
        page.get_by_label(label, exact=True).select_option(value)
    expect(page.get_by_text("1 of 2 waiting")).to_be_visible()


def test_several_are_refused_at_once(page: Page, server: RunningServer) -> None:
    """Only those that were selected, after a question that begins on "Cancel"."""
    asked = [server.ask(make_question()) for _ in range(3)]
    put_aside(page)
    page.get_by_role("checkbox").nth(0).check()
    page.get_by_role("checkbox").nth(2).check()
    page.get_by_role("button", name="Refuse selected (2)").click()
    question = page.get_by_role("dialog")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    question.get_by_label("Comment to the agents").fill("Not today.")
    question.get_by_role("button", name="Refuse").click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".notice").last).to_have_text("2 approvals refused.")
    found = [server.get(one) for one in asked]
    assert [one.status for one in found] == ["denied", "pending", "denied"]
    assert found[0].comment == "Not today."


def test_of_hundreds_the_first_are_shown_and_all_are_found(
    page: Page, server: RunningServer
) -> None:
    """The number is known at once; the rest is loaded by who looks further, searches or selects."""
    asked = [server.ask(make_question(machine=f"m-{number}")) for number in range(230)]
    page.reload()
    put_aside(page)
    cards = page.locator(".card")
    expect(page).to_have_title("(230) Inbox · Amplifier")
    expect(page.locator(".heading [role=status]")).to_have_text("230 waiting")
    expect(cards).to_have_count(100)
    page.get_by_role("button", name="Show more").click()
    expect(cards).to_have_count(200)
    page.reload()
    page.get_by_label("Search").fill("m-229")
    expect(cards).to_have_count(1)
    expect(page.locator(".heading [role=status]")).to_have_text("1 of 230 waiting")
    page.get_by_label("Search").fill("")
    page.reload()
    page.get_by_role("button", name="Select all").click()
    expect(page.get_by_role("button", name="Refuse selected (230)")).to_be_visible()
    page.reload()
    for one in asked[:60]:  # what is answered makes room for what was not loaded yet
        server.decide(one, DENY)
    expect(page.locator(".heading [role=status]")).to_have_text("170 waiting")
    expect(cards).to_have_count(100)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_title_and_icon_say_how_many_wait(page: Page, server: RunningServer) -> None:
    """Also where the page is only a tab among others."""
    icon = page.locator("link[rel=icon]")
    expect(page).to_have_title("Inbox · Amplifier")
    asked = [server.ask(make_question())]
    expect(page.locator("#spoken")).to_contain_text("Approval needed: Allow Bash to write")
    asked += [server.ask(make_question())]
    expect(page).to_have_title("(2) Inbox · Amplifier")
    expect(icon).to_have_attribute("href", "/static/icons/waiting.svg")
    for one in asked:
        server.decide(one, DENY)
    expect(page).to_have_title("Inbox · Amplifier")
    expect(icon).to_have_attribute("href", "/favicon.svg")


def test_a_notification_is_shown_to_who_asked_for_them(
    people: People, server: RunningServer
) -> None:
    """Through the service worker, with words that cannot move or hide anything."""
    page = people.log_in()
    page.evaluate(BE_AWAY)
    page.get_by_role("button", name="Desktop notifications").click()
    expect(page.get_by_role("button", name="Desktop notifications")).to_have_attribute(
        "aria-pressed", "true"
    )
    asked = server.ask(make_question(prompt="Allow \u202eevil?", machine="m\x07"))
    title, body, path = page.evaluate("window.shown")
    assert title == "Allow \\u{202E}evil?"
    assert body == "hooks-production-guard on m\\u{7}"
    assert path == f"/approvals/{asked.id}"
    server.withdraw_all()


def test_the_history_shows_how_things_ended(page: Page, server: RunningServer) -> None:
    """With who decided, filtered by the end it took; each opens in full."""
    for option, name in ((ONCE, "bob"), (DENY, "cleo")):
        server.decide(server.ask(make_question(session_id="history-1")), option, name)
    page.get_by_role("link", name="History").click()
    page.get_by_label("Session").select_option("history-1")
    cards = page.locator(".card")
    expect(cards).to_have_count(2)
    expect(cards.filter(has_text="Allowed by bob by command line: Allow once")).to_have_count(1)
    page.get_by_label("Status").select_option("Refused")
    expect(cards).to_have_count(1)
    cards.locator("a.headline").click()
    expect(page.locator(".outcome")).to_contain_text("Refused by cleo by command line: Deny")
    expect(page.locator("pre.code")).to_contain_text("sed -i")


def test_a_link_to_an_approval_opens_it(page: Page, server: RunningServer) -> None:
    """The one that the link names comes before older ones."""
    server.ask(make_question())
    asked = server.ask(make_edit())
    put_aside(page)
    page.goto(f"/approvals/{asked.id}")
    expect(page.locator("dialog[open] h2")).to_have_text(asked.request.prompt)
    page.goto("/approvals/no-such-approval")
    expect(page.get_by_role("alert")).to_be_visible()
    page.goto("/")
