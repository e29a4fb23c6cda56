"""tool-filesystem: Read, Write, Edit and MultiEdit files inside the allowed directories.

Emits       artifact:read, artifact:write
Configure   roots, allowed_write_paths, working_dir, tools, protected, max_bytes, max_lines,
            max_line_length, max_output
"""

from __future__ import annotations

from amplifier_foundation.tools.filesystem.edit import Edit, MultiEdit
from amplifier_foundation.tools.filesystem.module import mount
from amplifier_foundation.tools.filesystem.read import Read
from amplifier_foundation.tools.filesystem.write import Write

__all__ = ["Edit", "MultiEdit", "Read", "Write", "mount"]
