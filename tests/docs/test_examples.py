"""The Python blocks of the README and of docs/ run, and print what the text says they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import Block, markdown_blocks

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
# Programs that need a framework are run where it is installed: tests/adapters/test_programs.py.
ELSEWHERE = ROOT / "docs" / "adapters"
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *(page for page in DOCS if page.parent != ELSEWHERE),
    *sorted((ROOT / "examples").rglob("*.md")),
]
# Programs that ask a model are run with one: test_own_loop.py.
NEEDS_A_MODEL = re.compile(r"^from (openai|anthropic) import", re.MULTILINE)
BLOCKS = [
    block
    for page in PAGES
    for block in markdown_blocks(page)
    if page.stem != "embedding" or not NEEDS_A_MODEL.search(block.source)
]


UNSEEN = re.compile(
    r"^( *)```(python\d|py|Python|pycon|yml|YAML)\b|^( +)```(python|yaml)\b", re.MULTILINE
)
# Signatures, which are no programs.
SIGNATURES = ROOT / "docs" / "reference"


def test_no_block_is_written_so_that_the_tests_do_not_see_it():
    """They look for `python` and `yaml` at the start of a line."""
    pages = [*PAGES, *(page for page in DOCS if page.parent == ELSEWHERE)]
    seen = [page for page in pages if page.parent != SIGNATURES and UNSEEN.search(page.read_text())]
    assert seen == []


def test_the_readme_has_a_complete_example():
    """README: one sentence, one complete example that runs, install, map."""
    assert any(block.document == "README" for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
async def test_an_example_runs(
    block: Block,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Each block stands alone: a reader can copy it into a file."""
    monkeypatch.chdir(tmp_path)
    await block.run({"__name__": "__main__"})
    if block.output is not None:
        assert capsys.readouterr().out == block.output
