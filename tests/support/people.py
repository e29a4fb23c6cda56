"""People who are asked, beside `ScriptedApproval` of the kit: one plain, one who has left."""

from __future__ import annotations

import asyncio
from typing import Any


class PlainPerson:
    """An approval system without `decide`: it sees the prompt alone. Its last answer stays."""

    def __init__(self, *answers: Any, delay: float = 0.0) -> None:
        self._answers = list(answers) or ["Allow"]
        self._delay = delay
        self.asked: list[tuple[str, list[str], float, str]] = []

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> Any:
        """Answer the next question."""
        self.asked.append((prompt, options, timeout, default))
        await asyncio.sleep(self._delay)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def prompts(self) -> list[str]:
        return [prompt for prompt, *_ in self.asked]


class AbsentPerson:
    """Somebody who has left: `waiting` is set once the question is open."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()

    async def request_approval(self, *question: Any) -> str:
        """Never answer."""
        self.waiting.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError
