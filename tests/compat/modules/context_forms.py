"""Contexts of every form: one dict or role and content, plain or async."""


class _Store:
    def __init__(self):
        self.messages = []

    async def set_messages(self, messages):
        self.messages = list(messages)

    async def clear(self):
        self.messages = []


class DictAsync(_Store):
    async def add_message(self, message):
        self.messages.append(dict(message))

    async def get_messages(self):
        return list(self.messages)

    async def should_compact(self):
        return len(self.messages) > 1000

    async def compact(self):
        raise AssertionError("not needed")


class DictPlain(_Store):
    def add_message(self, message):
        self.messages.append(message)

    def get_messages(self):
        return self.messages.copy()


class RoleAsync(_Store):
    async def add_message(self, role, content, metadata=None, tool_calls=None, tool_call_id=None):
        message = {"role": role, "content": content, "metadata": metadata or {}}
        if tool_calls:
            message["tool_calls"] = tool_calls
        if tool_call_id:
            message["tool_call_id"] = tool_call_id
        self.messages.append(message)

    async def get_messages(self):
        return list(self.messages)


class RolePlain(_Store):
    def add_message(self, role, content, metadata=None, **fields):
        self.messages.append(
            {"role": role, "content": content, "metadata": metadata or {}, **fields}
        )

    def get_messages(self):
        return list(self.messages)

    def should_compact(self):
        return len(self.messages) == 3

    def compact(self):
        self.messages.insert(0, {"role": "system", "content": "compacted", "metadata": {}})


async def mount(coordinator, config=None):
    kind = {one.__name__: one for one in (DictAsync, DictPlain, RoleAsync, RolePlain)}
    await coordinator.mount("context", kind[(config or {}).get("form", "DictAsync")]())
