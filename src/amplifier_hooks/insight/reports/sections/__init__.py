"""The sections of a report: figures put into words, before they are HTML or Markdown."""
