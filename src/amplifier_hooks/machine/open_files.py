"""The limit of connections of this process: each is an open file."""

from __future__ import annotations

import resource


def raise_file_limit(wanted: int) -> None:
    """Let the process have more open files, as far as the system allows it to decide that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def share_of_files(parts: int, most: int) -> int:
    """How many connections something may use that may have one part of all open files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if soft == resource.RLIM_INFINITY else max(4, min(most, soft // parts))
