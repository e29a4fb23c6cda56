"""From figures to words: what a report says, before it is HTML or Markdown."""
