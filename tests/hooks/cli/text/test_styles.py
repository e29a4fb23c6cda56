"""The one table of styles, in the words of each library that draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prompt_toolkit.styles import Style
from rich.color import ColorSystem
from rich.style import Style as RichStyle

import amplifier_hooks.cli
from amplifier_hooks.cli.text.output import STYLES, to_ansi, to_prompt_toolkit

SOURCES = Path(amplifier_hooks.cli.__file__).parent


@pytest.mark.parametrize(
    ("style", "codes"),
    [("good", "32"), ("tool", "1;36"), ("dim", "90"), ("escape", "7;35"), ("", ""), ("odd", "")],
)
def test_a_style_has_codes_for_a_terminal(style: str, codes: str) -> None:
    """Attributes first, then the colour; what is not in the table is plain."""
    assert to_ansi(style) == codes
    assert (to_prompt_toolkit(style) == "") == (codes == "")


@pytest.mark.parametrize("style", STYLES)
def test_every_library_understands_every_style_in_the_same_way(style: str) -> None:
    """The same colour and the same attributes, whoever draws."""
    rich = RichStyle.parse(STYLES[style])
    ours = Style.from_dict({style: to_prompt_toolkit(style)}).get_attrs_for_style_str(
        f"class:{style}"
    )
    painted = rich.render("x", color_system=ColorSystem.STANDARD)
    assert painted == f"\x1b[{to_ansi(style)}mx\x1b[0m"
    colour = rich.color.name.replace("_", "") if rich.color else ""
    assert (ours.color or "").removeprefix("ansi") == colour
    assert (ours.bold, ours.italic, ours.reverse) == (
        bool(rich.bold),
        bool(rich.italic),
        bool(rich.reverse),
    )


def test_no_other_file_knows_a_colour() -> None:
    """What a thing looks like is decided in one place."""
    colour = re.compile(
        r"\bansi[a-z]+\b|\"(bold )?(red|green|yellow|cyan|magenta)\"|\\x1b\[[1-9][0-9;]*m"
    )
    found = {
        path.name
        for path in SOURCES.rglob("*.py")
        if colour.search(path.read_text()) and path != SOURCES / "text/output.py"
    }
    assert found == set()
