"""context-window: keeps the conversation, and sends what fits into the model's window of it."""

__amplifier_module_type__ = "context"


class WindowContext:
    def __init__(self, instructions=None, max_tokens=200_000):
        self.instructions = instructions
        self.max_tokens = max_tokens
        self.messages = []

    async def add_message(self, message):
        self.messages.append(message)

    async def get_messages(self):
        return list(self.messages)

    async def get_messages_for_request(self, token_budget=None, provider=None):
        budget = token_budget or self._read_budget(provider)
        kept = list(self.messages)
        while len(kept) > 1 and sum(len(str(one["content"])) // 4 for one in kept) > budget:
            kept.pop(0)
        if self.instructions:
            return [{"role": "system", "content": self.instructions}, *kept]
        return kept

    def _read_budget(self, provider):
        if provider is None:
            return self.max_tokens
        defaults = provider.get_info().defaults
        window = defaults.get("context_window")
        return window - defaults.get("max_output_tokens", 0) if window else self.max_tokens

    async def set_messages(self, messages):
        self.messages = list(messages)

    async def clear(self):
        self.messages = []


async def mount(coordinator, config=None):
    config = config or {}
    context = WindowContext(config.get("instructions"), config.get("max_tokens", 200_000))
    await coordinator.mount("context", context)
