"""Whose trail a log is, against whose it should be.

A folder of one session that holds the files of another is a log without a flaw: every hash and
every signature is right. Only its name tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_audit.format.log_name import name_log
from amplifier_audit.reader.claims import Claims
from amplifier_audit.reader.report import Finding


@dataclass(frozen=True, slots=True)
class Identity:
    """What is expected: `told` by whoever verifies, or `folder`, the name of the log's folder."""

    told: str | None = None
    folder: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names under which the log may be known."""
        return frozenset(filter(None, (self.told, self.folder)))

    def find_stranger(self, claims: Claims, position: int | None) -> Finding | None:
        """The log has the name of somebody else than was told: this is tampering."""
        found = claims.find_name(position)
        if self.told is None or found in (None, self.told):
            return None
        return Finding("wrong log", 0, f"this is the trail of {found!r}, not of {self.told!r}")

    def find_doubt(self, claims: Claims, position: int | None) -> Finding | None:
        """Whose log it is cannot be proven: a copy may have another name, a swapped one too."""
        found = claims.find_name(position)
        if found is None:
            return self._find_nameless(claims.find_session(position))
        if self.told is not None or self.folder in (None, found):
            return None
        message = (
            f"this is the trail of {found!r} in a folder called {self.folder!r}; "
            f"if that is what you want to verify, say so with --session {found}"
        )
        return Finding("wrong log", 0, message)

    def find_double(self, claims: Claims, position: int | None, others: bool) -> Finding | None:
        """Of several logs without a name, that the same anchors know, any could be put here."""
        session = claims.find_session(position)
        is_known = session is not None and name_log(session) in self.names
        if not others or is_known or claims.find_name(position) is not None:
            return None
        message = (
            "the log has no name, and the anchors know other logs without one: nothing shows that "
            "it is this one that belongs here"
        )
        return Finding("wrong log", 0, message)

    def _find_nameless(self, session: str | None) -> Finding | None:
        """Logs that were written before they had names are known by their first session."""
        if self.told is None or (session is not None and name_log(session) == self.told):
            return None
        message = f"nothing that is proven says that this is the trail of {self.told!r}"
        return Finding("wrong log", 0, message)
