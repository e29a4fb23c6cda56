"""An application as the ecosystem has them: it builds sessions and offers them what it can.

It finds modules by a resolver that it mounts before the start, and starts helpers as sessions of
their own, which stop when the session that wanted them is stopped.
"""

import uuid
from pathlib import Path

from amplifier_core import AmplifierSession
from amplifier_core.module_sources import ModuleNotFoundError as UnknownModule
from amplifier_core.module_sources import ModuleSource


class FolderSource(ModuleSource):
    def __init__(self, folder):
        self.folder = Path(folder)

    def resolve(self):
        return self.folder


class FolderResolver:
    """Finds packages in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.asked = []

    async def async_resolve(self, module_id, source_hint=None, profile_hint=None):
        return self.resolve(module_id, source_hint, profile_hint)

    def resolve(self, module_id, source_hint=None, profile_hint=None):
        self.asked.append(module_id)
        if not (self.folder / f"amplifier_module_{module_id.replace('-', '_')}").is_dir():
            raise UnknownModule(f"Module '{module_id}' is in no folder")
        return FolderSource(self.folder)


class Person:
    """An approval system that remembers "Allow always" and then answers by itself."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.always = set()

    async def request_approval(self, prompt, options, timeout, default):
        if prompt in self.always:
            return "Allow once"
        self.asked.append((prompt, options, timeout, default))
        answer = self.answers.pop(0)
        if answer == "Allow always":
            self.always.add(prompt)
        return answer


class Screen:
    """A display system."""

    def __init__(self):
        self.shown = []

    def show_message(self, message, level, source="hook"):
        self.shown.append((message, level, source))


class App:
    """One application; `helper_plan` is the plan of the sessions that it starts for others."""

    def __init__(self, folder, person=None, screen=None, resolver=None, helper_plan=None):
        self.folder = folder
        self.person = person
        self.screen = screen
        self.resolver = resolver
        self.helper_plan = helper_plan
        self.sessions = []

    async def open(self, plan, **given):
        """A session that is ready to work."""
        session = await self.construct(plan, **given)
        await session.initialize()
        return session

    async def construct(self, plan, **given):
        session = AmplifierSession(
            plan,
            session_id=given.pop("session_id", None) or str(uuid.uuid4()),
            approval_system=self.person,
            display_system=self.screen,
            **given,
        )
        self.sessions.append(session)
        coordinator = session.coordinator
        if self.resolver is not None:
            await coordinator.mount("module-source-resolver", self.resolver)
        coordinator.register_capability("session.working_dir", str(self.folder))
        coordinator.register_capability("mention_resolver", self.resolve_mention)
        coordinator.register_capability("self_delegation_depth", 0)
        coordinator.register_capability("session.spawn", self.spawn)
        return session

    def resolve_mention(self, mention):
        return self.folder / mention.removeprefix("@")

    async def ask(self, session, prompt):
        """One prompt; who streams leaves it to the application to say that it is done."""
        reply = await session.execute(prompt)
        loop = session.coordinator.get("orchestrator")
        if type(loop).__name__ == "BlocksLoop":
            data = {"prompt": prompt, "response": reply}
            await session.coordinator.hooks.emit("prompt:complete", data)
        return reply

    async def spawn(self, task, parent_session, self_delegation_depth):
        """Have a task done in a session of its own."""
        child = await self.construct(
            self.helper_plan,
            session_id=f"{parent_session.session_id}-helper",
            parent_id=parent_session.session_id,
            loader=parent_session.loader,
        )
        child.coordinator.register_capability("self_delegation_depth", self_delegation_depth)
        cancellation = parent_session.coordinator.cancellation
        cancellation.register_child(child.coordinator.cancellation)
        try:
            await child.initialize()
            return await child.execute(task)
        finally:
            cancellation.unregister_child(child.coordinator.cancellation)
            await child.cleanup()

    async def close(self):
        for session in self.sessions:
            await session.cleanup()
