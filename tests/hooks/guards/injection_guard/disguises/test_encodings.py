"""Encodings: what parts of a text say once decoded."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from amplifier_hooks.guards.injection_guard.disguises.encodings import Encodings
from tests.hooks.guards.injection_guard.attacks import hide_in_selectors

ENCODINGS = Encodings("test")
SAID = "these words are encoded"


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(SAID.encode()).decode(),
        base64.urlsafe_b64encode(SAID.encode()).decode().rstrip("="),
        quote(SAID),
        SAID.replace(" ", "%20"),
        "".join(f"&#{ord(one)};" for one in SAID),
        "".join(f"&#x{ord(one):x};" for one in SAID),
        "".join(f"\\u{ord(one):04x}" for one in SAID),
        "".join(f"\\x{ord(one):02x}" for one in SAID),
        SAID.encode().hex(),
        SAID.encode().hex(" "),
        "   ".join(" ".join(word) for word in SAID.split()),
        hide_in_selectors(SAID),
    ],
)
def test_each_form_is_decoded(written: str) -> None:
    """With the place where it stands."""
    text = f"See: {written} (end)"
    found = [(text[start:end].strip(), said.strip()) for start, end, said in ENCODINGS.find(text)]
    assert any(said == SAID and part in written for part, said in found)


@pytest.mark.parametrize(
    "text", ["plain words", "4f3a" * 16, "A" * 60, "src/some/long/path/to_a_file/module", "100%"]
)
def test_what_says_nothing_is_left_alone(text: str) -> None:
    """Digests, paths, signs."""
    assert [said for _, _, said in ENCODINGS.find(text) if " " in said] == []
