"""Run the agent of this folder with a server of its own, and play the people who decide."""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.approvals.client import PeopleClient
from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.models import Choice
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.server.server import serve_beside
from amplifier_hooks.server.settings import ServerSettings


async def allow(address: str, store: Store, name: str) -> None:
    """What `amplifier approvals allow` does, with the token of this person."""
    token, _ = await store.access.add_token(name, ["read", "decide"])
    client = PeopleClient(address, token)
    question = await anext(client.watch())
    yes = next(option.id for option in question.request.options if option.allows)
    try:
        decided = await client.decide(
            question.id, Choice(option=yes, nonce=question.nonce, key=uuid4().hex)
        )
        need = decided.request.requirement.persons - len(decided.votes)
        print(f"{name} allows it:", f"{need} more must allow it" if need else decided.status)
    except StoreError as refusal:
        print(f"{name} is refused:", refusal)
    await client.close()


async def main(people: list[str]) -> None:
    """The agent asks; the people answer one after the other."""
    folder = Path(__file__).parent
    with TemporaryDirectory() as place:
        async with (
            await open_store(Path(place, "store.db")) as store,
            serve_beside(store, ServerSettings(port=0)) as settings,
        ):
            address = f"http://127.0.0.1:{settings.port}"
            token, _ = await store.access.add_token("build-7", ["agent"])
            os.environ.update(AMPLIFIER_SERVER=address, AMPLIFIER_TOKEN=token)
            session = await open_session(load_bundle(project_dir=folder), working_dir=folder)
            turn = asyncio.create_task(session.execute("release it"))
            for name in people:
                await allow(address, store, name)
            print("The agent:", await turn)
            await session.cleanup()


if __name__ == "__main__":
    asyncio.run(main(["ann", "ann", "build-7", "bob"]))
