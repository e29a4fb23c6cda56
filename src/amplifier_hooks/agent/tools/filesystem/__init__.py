"""tool-filesystem: Read, Write, Edit and MultiEdit files inside the allowed directories.

Emits       artifact:read, artifact:write
Configure   roots, allowed_write_paths, working_dir, tools, protected, max_bytes, max_lines,
            max_line_length, max_output
"""

from __future__ import annotations

from amplifier_hooks.agent.tools.filesystem.module import Edit, MultiEdit, Read, Write, mount

__all__ = ["Edit", "MultiEdit", "Read", "Write", "mount"]
