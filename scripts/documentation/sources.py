"""Sources as pages of their own, with a mark on every line: what the reference links to."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path, PurePosixPath

from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
from pygments.lexers.special import TextLexer  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from scripts.documentation.places import find_place

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title} - Amplifier Hooks</title>
<link rel="stylesheet" href="{up}source/source.css">
</head>
<body>
<header><a href="{up}index.html">Amplifier Hooks</a></header>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""
STYLE = """\
:root {{
  color-scheme: light dark;
  --paper: #fff; --ink: #222; --mark: #fff3b0; --line: #d0d0d0; --faint: #6b6b6b;
  --link: #1c4fd6;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --paper: #0d1117; --ink: #e6edf3; --mark: #4a4216; --line: #444; --faint: #9a9a9a;
    --link: #8fb0ff;
  }}
}}
body {{
  margin: 0; font: 16px/1.5 system-ui, sans-serif; background: var(--paper); color: var(--ink);
}}
header {{ padding: .8rem 1.2rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }}
main {{ padding: 0 1.2rem 2rem; overflow-x: auto; }}
a {{ color: var(--link); }}
h1 {{ font-size: 1.2rem; overflow-wrap: anywhere; }}
pre {{ font: 13px/1.55 ui-monospace, monospace; }}
pre a {{ color: var(--faint); text-decoration: none; user-select: none; }}
span:target {{ background: var(--mark); }}
{light}
@media (prefers-color-scheme: dark) {{
{dark}
}}
"""


def write_sources(root: Path, paths: Iterable[PurePosixPath], target: Path) -> None:
    """A page for each file, and for each folder the names of what is in it."""
    for path in sorted(paths):
        page = target / find_place(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        found = root / path
        body = list_folder(found) if found.is_dir() else show_file(found)
        up = "../" * len(PurePosixPath(find_place(path)).parent.parts)
        page.write_text(PAGE.format(title=escape(str(path)), up=up, body=body), encoding="utf-8")
    (target / "source").mkdir(exist_ok=True)
    (target / "source" / "source.css").write_text(write_style(), encoding="utf-8")


def list_folder(folder: Path) -> str:
    """What is in it, by name."""
    names = sorted(one.name for one in folder.iterdir() if not one.name.startswith((".", "__")))
    return "<ul>" + "".join(f"<li><code>{escape(name)}</code></li>" for name in names) + "</ul>"


def show_file(path: Path) -> str:
    """Its text in colours; line 12 has the address `#L12`, as on a code host."""
    text = path.read_text(encoding="utf-8")
    try:
        lexer = get_lexer_for_filename(path.name, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).splitlines()
    width = len(str(len(lines)))
    numbered = (
        f'<span id="L{number}"><a href="#L{number}">{number:>{width}}</a>  {line}</span>'
        for number, line in enumerate(lines, 1)
    )
    return '<pre class="highlight">' + "\n".join(numbered) + "</pre>"


def write_style() -> str:
    """For light and for dark."""
    light, dark = (
        "\n".join(
            line
            for line in HtmlFormatter(style=name).get_style_defs(".highlight").splitlines()
            if line.startswith(".highlight .")
        )
        for name in ("default", "github-dark")
    )
    return STYLE.format(light=light, dark=dark)
