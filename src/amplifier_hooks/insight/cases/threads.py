"""The threads of a case: those that never end are left behind, not waited for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

_PREFIX = "amplifier-case"


class _CaseThreads(ThreadPoolExecutor):
    """Like the loop's own, which would wait for a thread that hangs, some minutes or for ever."""

    is_abandoned = False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait and not self.is_abandoned, cancel_futures=cancel_futures)


@contextmanager
def own_threads() -> Iterator[None]:
    """Have `asyncio.to_thread` use threads that are abandoned if what is done inside fails."""
    threads = _CaseThreads(thread_name_prefix=_PREFIX)
    asyncio.get_running_loop().set_default_executor(threads)
    try:
        yield
    except BaseException:
        threads.is_abandoned = True
        raise


def has_abandoned() -> bool:
    """Whether threads of a case still run; Python waits for them before it ends."""
    return any(one.name.startswith(_PREFIX) for one in threading.enumerate())
