"""Credentials: bearer tokens, one-time codes, and the logins of browsers. Kept as digests only."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import ADMIN, ASKING, DECIDE, SCOPES, Identity, Login, Token
from amplifier_hooks.approvals.stores.approval_rows import CHUNK, name_values
from amplifier_hooks.approvals.stores.checks import identify_person, read_name, read_seconds
from amplifier_hooks.approvals.stores.engine import Engine, Row, Transaction
from amplifier_hooks.approvals.stores.gathering import Gathering

TOKEN = "amp_"
LOGIN_SECONDS = 7 * 24 * 3600.0
LONGEST_CODE = 24 * 3600.0
LONGEST_TOKEN = 10 * 366 * 24 * 3600.0
USE_NOTED = 60.0
"""Seconds within which a further use of a token is not noted: each note is a write."""

# Without letters and digits that look alike.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_SCOPE = re.compile(r"[a-z][a-z0-9_.-]{0,63}|decide:(hook|tool)=[^\s\0]{1,200}")

_ADD_TOKEN = """
INSERT INTO tokens (id, digest, name, scopes, created, expires)
VALUES (:id, :digest, :name, :scopes, unix_now(),
    CASE WHEN :seconds < 0 THEN NULL ELSE unix_now() + :seconds END)
RETURNING *
"""
_FIND_TOKENS = """
SELECT *, unix_now() AS now FROM tokens
WHERE digest IN ({names}) AND revoked IS NULL AND (expires IS NULL OR expires > unix_now())
"""
_ADD_LOGIN = """
INSERT INTO logins (digest, name, scopes, created, expires)
VALUES (:digest, :name, :scopes, unix_now(), unix_now() + :seconds)
RETURNING *
"""


class Access:
    """Who may come in, and as whom."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tokens: Gathering[str, Row] = Gathering(self._find_tokens, CHUNK)

    # Tokens

    async def add_token(
        self, name: str, scopes: Iterable[str], expires: float | None = None
    ) -> tuple[str, Token]:
        """A new bearer token, which is shown once; `expires` is in seconds from now."""
        values = {"name": _read_person(name), "scopes": _write_scopes(scopes)}
        seconds = -1.0 if expires is None else read_seconds("lifetime", expires, LONGEST_TOKEN)
        text = TOKEN + secrets.token_urlsafe(32)
        rows = await self._engine.write(
            lambda transaction: transaction.run(
                _ADD_TOKEN,
                id=secrets.token_hex(8),
                digest=_digest(text),
                seconds=seconds,
                **values,
            )
        )
        return text, _read_token(rows[0])

    async def list_tokens(self) -> list[Token]:
        """All tokens there ever were, the newest first."""
        statement = "SELECT * FROM tokens ORDER BY created DESC, id"
        rows = await self._engine.read(lambda transaction: transaction.run(statement))
        return [_read_token(row) for row in rows]

    async def revoke_token(self, token_id: str) -> Token:
        """End a token at once."""
        statement = (
            "UPDATE tokens SET revoked = COALESCE(revoked, unix_now()) WHERE id = :id RETURNING *"
        )
        rows = await self._engine.write(lambda transaction: transaction.run(statement, id=token_id))
        if not rows:
            raise NotFound(f"There is no token {token_id!r}")
        return _read_token(rows[0])

    async def identify_token(self, text: str) -> Identity | None:
        """Whose token that is; None if it is nobody's, or is over."""
        digest = _digest(text)
        row = await self._tokens.get(digest)
        if row is None:
            return None
        if (row["last_used"] or 0.0) < row["now"] - USE_NOTED:
            statement = "UPDATE tokens SET last_used = unix_now() WHERE digest = :digest"
            await self._engine.write(
                lambda transaction: transaction.run(statement, digest=digest), repeatable=True
            )
        return _read_identity(row)

    async def _find_tokens(self, digests: Sequence[str]) -> dict[str, Row]:
        names, values = name_values(digests)
        rows = await self._engine.read(
            lambda transaction: transaction.run(_FIND_TOKENS.format(names=names), **values),
            one_state=False,
        )
        return {row["digest"]: row for row in rows}

    # Codes

    async def add_code(self, name: str, scopes: Iterable[str], seconds: float = 600.0) -> str:
        """A new code for a person to type into a browser, good for one login."""
        read = frozenset(scopes)
        if ASKING & read:
            raise BadRequest("Agents do not log in with codes; make a token for an agent")
        values = {"name": _read_person(name), "scopes": _write_scopes(read)}
        lifetime = read_seconds("lifetime", seconds, LONGEST_CODE)
        text = "".join(secrets.choice(_ALPHABET) for _ in range(12))
        await self._engine.write(
            lambda transaction: transaction.run(
                "INSERT INTO codes (digest, name, scopes, expires) "
                "VALUES (:digest, :name, :scopes, unix_now() + :seconds)",
                digest=_digest(text),
                seconds=lifetime,
                **values,
            )
        )
        return "-".join(text[at : at + 4] for at in (0, 4, 8))

    async def exchange_code(self, code: str) -> tuple[str, Login] | None:
        """A cookie for a code, once; None if the code is not good (any more)."""
        text = re.sub(r"[\s-]", "", code).upper() if isinstance(code, str) else ""
        csrf = secrets.token_urlsafe(32)
        cookie = derive_cookie(csrf)
        login = await self._engine.write(
            lambda transaction: _exchange(transaction, _digest(text), cookie)
        )
        return None if login is None else (cookie, replace(login, csrf=csrf))

    # Logins

    async def identify_login(self, cookie: str) -> Login | None:
        """Whose login that is, without its `csrf`; None if it is nobody's, or is over."""
        statement = "SELECT * FROM logins WHERE digest = :digest AND expires > unix_now()"
        rows = await self._engine.read(
            lambda transaction: transaction.run(statement, digest=_digest(cookie)),
            one_state=False,
        )
        return _read_login(rows[0]) if rows else None

    async def end_login(self, cookie: str) -> None:
        """Log out."""
        statement = "DELETE FROM logins WHERE digest = :digest"
        await self._engine.write(
            lambda transaction: transaction.run(statement, digest=_digest(cookie))
        )

    async def end_logins(self, name: str) -> int:
        """Log a person out of every browser, and end codes that are not used yet; how many."""
        person = identify_person(_read_person(name))
        return await self._engine.write(lambda transaction: _end_logins(transaction, person))


def _end_logins(transaction: Transaction, person: str) -> int:
    ended = 0
    for table in ("logins", "codes"):
        names = {row["name"] for row in transaction.run(f"SELECT DISTINCT name FROM {table}")}
        for name in sorted(one for one in names if identify_person(one) == person):
            statement = f"DELETE FROM {table} WHERE name = :name RETURNING digest"
            ended += len(transaction.run(statement, name=name))
    return ended


def _exchange(transaction: Transaction, digest: str, cookie: str) -> Login | None:
    for table in ("codes", "logins"):
        transaction.run(f"DELETE FROM {table} WHERE expires <= unix_now()")
    used = transaction.run("DELETE FROM codes WHERE digest = :digest RETURNING *", digest=digest)
    if not used:
        return None
    login = transaction.run(
        _ADD_LOGIN,
        digest=_digest(cookie),
        name=used[0]["name"],
        scopes=used[0]["scopes"],
        seconds=LOGIN_SECONDS,
    )
    return _read_login(login[0])


def derive_cookie(csrf: str) -> str:
    """The cookie that belongs to an anti-forgery token; there is no way back.

    A browser sends a cookie to every port of a host: to whatever an agent serves there as well.
    So the cookie must not be enough, nor lead to the other half, which only our page has.
    """
    return _digest(f"cookie of {csrf}")


def _digest(secret: str) -> str:
    text = secret if isinstance(secret, str) else ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_person(name: str) -> str:
    if not read_name("name", name).strip():
        raise BadRequest("The name is empty")
    return name


def _write_scopes(scopes: Iterable[str]) -> str:
    read = sorted(set(scopes))
    for scope in read:
        if not isinstance(scope, str) or not _SCOPE.fullmatch(scope):
            raise BadRequest(
                f"{scope!r} is no scope; use {', '.join(sorted(SCOPES))}, decide:hook=GLOB, "
                "decide:tool=GLOB, or a name in small letters that a requirement asks for"
            )
    if not read:
        raise BadRequest(f"Name at least one scope of {', '.join(sorted(SCOPES))}")
    # Who makes tokens could make one that decides.
    if ASKING.intersection(read) and any(scope.startswith((DECIDE, ADMIN)) for scope in read):
        raise BadRequest(
            "A token is either an agent's, or may decide or administer; make two tokens"
        )
    return to_json(read)


def _read_identity(row: Row) -> Identity:
    return Identity(row["name"], frozenset(json.loads(row["scopes"])))


def _read_login(row: Row) -> Login:
    return Login(_read_identity(row), "", row["expires"])


def _read_token(row: Row) -> Token:
    return Token(
        id=row["id"],
        name=row["name"],
        scopes=frozenset(json.loads(row["scopes"])),
        created=row["created"],
        expires=row["expires"],
        revoked=row["revoked"],
        last_used=row["last_used"],
    )
