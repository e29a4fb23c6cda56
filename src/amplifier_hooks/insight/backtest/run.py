"""Backtests recorded sessions one after another."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path

from amplifier_audit.errors import AuditError
from amplifier_core.loader import ModuleLoader
from amplifier_hooks.insight.backtest.policy import Policy
from amplifier_hooks.insight.backtest.reading import Window
from amplifier_hooks.insight.backtest.tally import Tally
from amplifier_hooks.insight.backtest.trail_run import TrailRun, Wanted

Progress = Callable[[Path, int, Tally], None]
"""Told of a trail, the bytes of it that were read, and what was found in it so far."""


async def backtest_trails(
    trails: Iterable[Path],
    policy: Policy,
    baseline: Policy | None = None,
    *,
    window: Window | None = None,
    examples: int = 3,
    tell: Progress = lambda path, read, tally: None,
) -> AsyncIterator[tuple[Path, Tally]]:
    """What a policy would have decided in recorded sessions, against what happened.

    With a `baseline`, against what that other policy would have decided. The hooks of both run
    here, in this process; see `process` for one that can write nothing. No tool runs.
    """
    with _hold(policy) as loader, _hold_other(baseline) as other:
        wanted = Wanted(policy, loader, baseline, other, window or Window(), examples)
        for path in trails:
            yield path, await _run(path, wanted, tell)


async def _run(path: Path, wanted: Wanted, tell: Progress) -> Tally:
    try:
        return await TrailRun(path, wanted).run(lambda read, tally: tell(path, read, tally))
    except (AuditError, OSError) as error:
        return Tally(unreadable=[{"trail": str(path), "why": str(error)}])


@contextlib.contextmanager
def _hold(policy: Policy) -> Iterator[ModuleLoader]:
    """Load only what was read of the policy, as its sessions do."""
    material = policy.material
    material.claim_packages()
    with material.hold():
        yield ModuleLoader(base=material.folder, sources=material.snapshot)


def _hold_other(policy: Policy | None) -> contextlib.AbstractContextManager[ModuleLoader | None]:
    return contextlib.nullcontext() if policy is None else _hold(policy)
