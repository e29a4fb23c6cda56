"""The machine that modules run on: processes, files, HTTP, background tasks, text."""
