"""The page as a whole: logging in, coming back, every screen, every eye, every hand."""

from __future__ import annotations

import random
import re
import unicodedata
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, Response, expect

import amplifier_hooks
from amplifier_hooks.text.escape import escape, make_readable
from tests.hooks.cli.hostile_text import NASTY
from tests.hooks.server.page.browser import People
from tests.hooks.server.page.questions import DENY, make_edit, make_question
from tests.hooks.server.page.running_server import RunningServer
from tests.hooks.server.page.test_sessions import add_session

PAGE = Path(amplifier_hooks.__file__).parent / "server" / "page"
MODULES = sorted(path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*.js"))
FIRST_LOAD = 150_000
NAVIGATE = "async (path) => (await import('/static/kit/router.js')).navigate(path)"
COLOURFUL = ("/", "/approvals", "/sessions/view-1", "/statistics")
PHONE = {"width": 360, "height": 740}


def test_a_code_in_the_address_is_used_and_removed(people: People, server: RunningServer) -> None:
    """It stays neither in the address nor in the history, and a wrong one is told in words."""
    page = people.open("/#code=wrong")
    expect(page.get_by_role("alert")).to_contain_text("This code is not valid")
    assert "code" not in page.url
    page.get_by_label("One-time code").fill(server.make_code("ann"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in to Amplifier")).to_be_visible()


def test_the_first_load_is_small_and_blocked_by_nothing(
    people: People, server: RunningServer
) -> None:
    """All files together, and nothing against the content policy."""
    page = people.open()
    sizes: dict[str, int] = {}

    def measure(response: Response) -> None:
        sizes[response.url] = int(response.headers.get("content-length", 0))

    page.on("response", measure)
    page.goto(f"/?again#code={server.make_code('ann')}")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert len(sizes) > 30
    assert sum(sizes.values()) < FIRST_LOAD


def test_after_a_restart_the_page_has_what_it_missed(people: People, server: RunningServer) -> None:
    """It says that it is cut off, comes back by itself, and knows how things ended meanwhile."""
    asked = server.ask(make_question())
    page = people.log_in()
    expect(page.locator("dialog[open]")).to_be_visible()
    server.stop()
    expect(page.locator("connection-state")).to_be_visible()
    server.start()
    server.decide(asked, DENY, "bob")
    missed = server.ask(make_edit())
    expect(page.locator("connection-state")).to_be_hidden()
    expect(page.locator("dialog[open] h2")).to_have_text(missed.request.prompt)
    expect(page.locator(".card")).to_have_count(1)
    server.withdraw_all()


def fill(server: RunningServer) -> dict[str, str]:
    """Something for each view; returns their addresses, and what is seen there."""
    add_session(server, "view-1")
    decided = server.decide(server.ask(make_question()), DENY)
    return {
        "/": "All answered",
        "/approvals": "Refused by bob",
        f"/approvals/{decided.id}": "Refused by bob",
        "/sessions": "Flags view-1",
        "/sessions/view-1": "hooks-production-guard",
        "/statistics": "hooks-production-guard",
        "/rules": "No rules",
        "/tokens": "There are no tokens",
        "/nothing-here": "Go to the inbox",
    }


def list_violations(page: Page, rules: list[str]) -> list[str]:
    """What an accessibility check finds; all rules if none are named."""
    found = Axe().run(page, options={"runOnly": rules} if rules else {}).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in found
        for node in one["nodes"]
    ]


def visit_all(page: Page, server: RunningServer, rules: list[str]) -> list[str]:
    """Go to each view; returns what is wrong there."""
    wrong: list[str] = []
    for path, text in fill(server).items():
        if rules and path not in COLOURFUL:
            continue
        page.evaluate(NAVIGATE, path)
        expect(page.locator("main")).to_contain_text(text)
        wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        wrong += [f"{path} scrolls sideways"] * bool(wide)
        wrong += [f"{path}: {one}" for one in list_violations(page, rules)]
    server.ask(make_edit())
    page.locator("dialog[data-settled]").get_by_role("button", name="Keep as a rule").click()
    page.get_by_role("button", name="Comment").click()
    wrong += [f"dialog: {one}" for one in list_violations(page, rules)]
    server.withdraw_all()
    return wrong


# In the dark only the colours are others.
@pytest.mark.parametrize(("scheme", "rules"), [("light", []), ("dark", ["color-contrast"])])
def test_every_view_is_accessible_on_a_phone(
    people: People, server: RunningServer, scheme: str, rules: list[str]
) -> None:
    """In light and dark: no violation is found, and nothing is wider than 360 pixels."""
    scopes = ("read", "decide", "admin")
    page = people.log_in(scopes=scopes, viewport=PHONE, color_scheme=scheme, has_touch=True)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(245, 246, 250)" if scheme == "light" else "rgb(15, 17, 24)")
    assert visit_all(page, server, rules) == []


def test_answers_are_in_reach_on_a_phone(people: People, server: RunningServer) -> None:
    """The answers stand on the screen however long the input is."""
    server.ask(make_question(tool_input={"command": "echo line\n" * 300}))
    page = people.log_in(viewport=PHONE)
    for name in ("Deny", "Allow once"):
        expect(page.locator("dialog").get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    server.withdraw_all()


def test_the_page_can_be_installed(people: People) -> None:
    """The manifest names icons that exist, and the document names the manifest."""
    page = people.open()
    found = page.evaluate(
        """async () => {
          const link = document.querySelector("link[rel=manifest]").href;
          const manifest = await (await fetch(link)).json();
          const sizes = await Promise.all(manifest.icons.map(async (icon) => {
            const answer = await fetch(icon.src);
            return [answer.ok, answer.headers.get("content-type") === icon.type];
          }));
          return { display: manifest.display, start: manifest.start_url, sizes };
        }"""
    )
    assert (found["display"], found["start"]) == ("standalone", "/")
    assert found["sizes"] == [[True, True]] * 4


def test_every_module_is_asked_for_at_once() -> None:
    """The document names what the first view needs: a browser need not find it step by step."""
    document = (PAGE / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'modulepreload" href="/static/([^"]+)"', document))
    wanted = collect_imports("app.js") - {"app.js"}
    assert named == wanted


def collect_imports(name: str, known: set[str] | None = None) -> set[str]:
    """A module and all that it imports at once."""
    known = known if known is not None else set()
    if name in known:
        return known
    known.add(name)
    text = (PAGE / name).read_text(encoding="utf-8")
    for found in re.findall(r'^import (?:[^;"]* from )?"([^"]+)"', text, re.MULTILINE):
        target = (PAGE / name).parent.joinpath(found).resolve().relative_to(PAGE.resolve())
        collect_imports(target.as_posix(), known)
    return known


@pytest.mark.parametrize("name", MODULES)
def test_a_module_stays_small_and_makes_no_html(name: str) -> None:
    """No text ever becomes markup, and no module is longer than 300 lines."""
    text = (PAGE / name).read_text(encoding="utf-8")
    forbidden = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|"
        r"setHTML|createContextualFragment",
        text,
    )
    assert forbidden == []
    assert len(text.splitlines()) <= 300


SHOW = """async (texts) => {
  const { escapeText, unescapeText, makeReadable, escapeForEditing, readEdited } =
    await import("/static/kit/escape.js");
  return texts.map((text) => [escapeText(text), escapeText(text, true), makeReadable(text),
    unescapeText(escapeText(text, true)) === text, readEdited(escapeForEditing(text)) === text]);
}"""


def make_texts() -> list[str]:
    """Hostile pieces alone, after a letter, and mixed; and most characters that there are."""
    known = [chr(code) for code in range(0xD800) if unicodedata.category(chr(code)) != "Cn"]
    pieces = [one for one in NASTY if not any(0xD800 <= ord(ch) < 0xE000 for ch in one)]
    rows = ["x".join(["", *known[at : at + 500]]) for at in range(0, len(known), 500)]
    chance = random.Random(7)
    mixed = [
        "".join(chance.choices([*pieces, "a", " ", "é", "\n", "שלום"], k=9)) for _ in range(200)
    ]
    return [*pieces, *(f"a{one}b" for one in pieces), *mixed, *rows]


def test_both_front_ends_show_the_same(page: Page) -> None:
    """On one line, with lines, and for reading; and what is shown maps back to the text."""
    texts = make_texts()
    shown = page.evaluate(SHOW, texts)
    wanted = [
        [escape(text), escape(text, lines=True), make_readable(text), True, True] for text in texts
    ]
    wrong = [(text, a, b) for text, a, b in zip(texts, shown, wanted, strict=True) if a != b]
    assert wrong == []
