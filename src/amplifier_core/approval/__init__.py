"""Asking a person: the question, what an option means, the gate, the way through all gates."""

from amplifier_core import only_kernel as only_kernel
from amplifier_core.approval.gate import ApprovalGate as ApprovalGate
from amplifier_core.approval.options import allows as allows
from amplifier_core.approval.options import read_option as read_option
from amplifier_core.approval.question import AnyAnswer as AnyAnswer
from amplifier_core.approval.question import AnyApprovalSystem as AnyApprovalSystem
from amplifier_core.approval.question import ApprovalAnswer as ApprovalAnswer
from amplifier_core.approval.question import ApprovalQuestion as ApprovalQuestion
from amplifier_core.approval.question import ApprovalSystem as ApprovalSystem
from amplifier_core.approval.question import DecidingApprovalSystem as DecidingApprovalSystem
from amplifier_core.approval.question import HandedOver as HandedOver
from amplifier_core.errors import ApprovalTimeout as ApprovalTimeout
from amplifier_core.errors import ApprovalTimeoutError as ApprovalTimeoutError
