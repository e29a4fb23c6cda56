"""The machine that modules run on: processes, files, HTTP, background tasks, text."""

PUBLIC_MODULES = (
    "background",
    "files",
    "http",
    "locations",
    "open_files",
    "pipes",
    "programs",
    "text",
)
