"""The shape of answers about access is what is really answered."""

from __future__ import annotations

from amplifier_hooks.server.answers import Health, Me, NewCode, NewToken, TokenList
from tests.hooks.server.world import World


async def test_answers_fit_their_description(world: World):
    """Clients are written by the description."""
    async with await world.person() as person:
        assert Me.model_validate_json((await person.get("/me")).text).name == "ann"
        made = await person.post("/tokens", json={"name": "x", "scopes": ["read"]})
        assert NewToken.model_validate_json(made.text).token.name == "x"
        listed = TokenList.model_validate_json((await person.get("/tokens")).text)
        assert {one.name for one in listed.tokens} == {"ann", "x"}
        code = await person.post("/codes", json={"name": "x"})
        assert NewCode.model_validate_json(code.text).code
        assert Health.model_validate_json((await person.get("/health")).text).status == "ok"
