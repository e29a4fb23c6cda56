"""hooks-cost-control: limit the tokens and the cost of a turn, a session or a day.

Listens to  prompt:submit, provider:response, provider:request
Answers     deny, ask_user, or continue with a warning
Configure   turn, session, day, prices, currency, file, priority, timeout, approval_*
"""

from __future__ import annotations

from amplifier_hooks.guards.cost_control.config import NAME, Config
from amplifier_hooks.guards.cost_control.control import mount
from amplifier_hooks.guards.cost_control.price import compute_cost, find_price

__all__ = ["NAME", "Config", "compute_cost", "find_price", "mount"]
