"""What an audit log can be given by name when it is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypedDict

from amplifier_audit.format.checkpoint import Signer
from amplifier_audit.writer.anchors import Anchor


class Options(TypedDict, total=False):
    """What AuditLog takes by name."""

    signer: Signer | None
    anchors: tuple[Anchor, ...]
    alarm: Callable[[str], None] | None
    name: str | None
    watch: Iterable[str | os.PathLike[str]]
