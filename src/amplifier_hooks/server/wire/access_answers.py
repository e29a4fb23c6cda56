"""The shape of answers about who may do what, for the API's description."""

from __future__ import annotations

from pydantic import BaseModel

from amplifier_hooks.approvals.models import Token


class Me(BaseModel):
    """Who is logged in."""

    name: str
    scopes: list[str]
    csrf: str


class TokenList(BaseModel):
    """Tokens, without their text."""

    tokens: list[Token]


class NewToken(BaseModel):
    """A token whose text is shown once."""

    text: str
    token: Token


class NewCode(BaseModel):
    """A one-time code."""

    code: str


class Health(BaseModel):
    """That the server answers."""

    status: str


class Done(BaseModel):
    """That it is done."""

    status: str
