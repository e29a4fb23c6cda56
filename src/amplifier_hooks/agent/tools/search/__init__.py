"""tool-search: find files by path (Glob) and text in files (Grep).

Emits       artifact:read for each file of which Grep shows text
Configure   roots, working_dir, tools, skip, engine, max_results, max_files, max_bytes, seconds
"""

from __future__ import annotations

from amplifier_hooks.agent.tools.search.module import mount

__all__ = ["mount"]
