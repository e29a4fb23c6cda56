"""A report as HTML, as Markdown and as JSON."""
