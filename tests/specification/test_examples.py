"""Every Python block of the specification runs, except those listed here with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.hooks import HookRegistry
from tests.docs.blocks import Block, markdown_blocks, plain_text_blocks
from tests.specification.preamble import preamble

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"

CANNOT_RUN = {
    "hooks_api_a:45": "a signature without a body",
    "hooks_api_b:91": "a signature without a body",
    "hooks_api_b:132": "a signature without a body",
    "hooks_api_b:165": "a signature without a body",
    "hooks_api_b:198": "a signature without a body",
    "hooks_api_b:232": "a signature without a body",
    "hooks_api_b:265": "a signature without a body",
    "hooks_api_b:352": "a signature without a body",
    "hooks_architecture:265": "a protocol whose method has no body",
    "hooks_architecture:578": "a syntax error: an if whose body is only a comment",
    "hooks_architecture:883": "a syntax error: `Mock ApprovalSystem(...)`",
}

BLOCKS = {
    block.name: block
    for path in sorted(SEEDS.iterdir())
    for block in (markdown_blocks(path) if path.suffix == ".md" else plain_text_blocks(path))
}
RUNNING = [block for name, block in BLOCKS.items() if name not in CANNOT_RUN]


def test_the_blocks_of_every_document_are_found():
    """Counted by hand once, so that a change of the extraction cannot lose examples unseen."""
    found = [block.document for block in BLOCKS.values()]
    assert {document: found.count(document) for document in found} == {
        "hooks_api_a": 16,
        "hooks_api_b": 26,
        "hooks_architecture": 27,
        "hooks_events": 27,
        "understanding_hooks": 9,
    }


def test_the_guide_has_no_fences_and_its_blocks_are_these():
    """The extraction from plain text takes whole blocks and no prose."""
    guide = [block for block in BLOCKS.values() if block.document == "understanding_hooks"]
    assert [(block.line, len(block.source.rstrip().splitlines())) for block in guide] == [
        (9, 6), (45, 1), (103, 5), (145, 13), (163, 20), (190, 4), (199, 24), (226, 17), (248, 28),
    ]  # fmt: skip


@pytest.mark.parametrize("block", RUNNING, ids=lambda block: block.name)
async def test_a_block_that_is_not_listed_runs(block: Block):
    """Every Python block of the seeds runs in our tests with a stated preamble."""
    await block.run(preamble())


@pytest.mark.parametrize("name", CANNOT_RUN)
def test_a_listed_block_cannot_run(name: str):
    """The few that cannot are listed by name with the reason."""
    with pytest.raises(SyntaxError):
        BLOCKS[name].compile()


async def test_the_bare_contribution_channel_of_the_guide_collects():
    """The guide's bare register_contributor(…) / collect_contributions(…) are shorthand."""
    found = await BLOCKS["understanding_hooks:103"].run(preamble())
    assert found["capabilities"] == [["search", "write"]]


def test_the_constants_of_the_registry_are_those_of_the_event_reference():
    """All event names are defined in amplifier_core.hooks.HookRegistry."""
    lines = [line for line in BLOCKS["hooks_events:543"].source.splitlines() if " = " in line]
    stated = dict(line.removeprefix("HookRegistry.").split(" = ") for line in lines)
    assert len(stated) == 16
    for constant, value in stated.items():
        assert f'"{getattr(HookRegistry, constant)}"' == value
