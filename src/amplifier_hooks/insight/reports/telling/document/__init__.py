"""The parts of a report: headings, sentences, tables, quotations and charts.

They hold text and no markup: whoever renders them escapes every text, whatever it holds.
"""

from amplifier_hooks.insight.reports.telling.document.blocks import (
    Block,
    Bullets,
    Card,
    Chapter,
    Document,
    Folded,
    Heading,
    Listing,
    Paragraph,
)
from amplifier_hooks.insight.reports.telling.document.charts import Bar, Bars, Lane, Timeline
from amplifier_hooks.insight.reports.telling.document.inline import (
    Code,
    Inline,
    Link,
    Marked,
    Parts,
    Quoted,
    Tone,
)
from amplifier_hooks.insight.reports.telling.document.tables import (
    Column,
    Facts,
    Table,
    Tile,
    Tiles,
)

__all__ = [
    "Bar",
    "Bars",
    "Block",
    "Bullets",
    "Card",
    "Chapter",
    "Code",
    "Column",
    "Document",
    "Facts",
    "Folded",
    "Heading",
    "Inline",
    "Lane",
    "Link",
    "Listing",
    "Marked",
    "Paragraph",
    "Parts",
    "Quoted",
    "Table",
    "Tile",
    "Tiles",
    "Timeline",
    "Tone",
]
