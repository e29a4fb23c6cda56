"""Reads a page as a browser would: its elements, and the text between them."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "hr"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "section", "div", "figure"),
    *("figcaption", "h1", "h2", "h3", "h4", "p", "ul", "li", "dl", "dt", "dd", "table", "thead"),
    *("tbody", "tr", "th", "td", "pre", "code", "details", "summary", "span", "small", "strong"),
    *("b", "i", "a", "bdi", "svg", "rect", "text", "line"),
}


class Page(HTMLParser):
    """The skeleton of a page: every tag and attribute, in order, without texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.skeleton: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name == "href"]
        if (tag, dict(attrs).get("class")) != ("span", "hidden"):
            self.skeleton.append(tag)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"closed and never opened: {tag}"
        assert self._open.pop() == tag
        self.skeleton.append("/")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")
