"""tool-filesystem: Read, Write, Edit and MultiEdit files inside the allowed directories.

Emits       artifact:read, artifact:write
Configure   roots, allowed_write_paths, working_dir, tools, protected, max_bytes, max_lines,
            max_line_length, max_output
"""

from __future__ import annotations

from amplifier_hooks.agent.tools.filesystem.edit import Edit, MultiEdit
from amplifier_hooks.agent.tools.filesystem.module import mount
from amplifier_hooks.agent.tools.filesystem.read import Read
from amplifier_hooks.agent.tools.filesystem.write import Write

__all__ = ["Edit", "MultiEdit", "Read", "Write", "mount"]
