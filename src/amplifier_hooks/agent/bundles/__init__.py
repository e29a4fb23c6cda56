"""Bundles: the files in which users say what a session is made of."""

from amplifier_hooks.agent.bundles.bundle import Bundle
from amplifier_hooks.agent.bundles.load import load_bundle
from amplifier_hooks.agent.bundles.mount_plan import (
    bundle_from_plan,
    mount_plan_problems,
    validate_mount_plan,
)
from amplifier_hooks.yaml_files.node import BundleError, Place, Problem

__all__ = [
    "Bundle",
    "BundleError",
    "Place",
    "Problem",
    "bundle_from_plan",
    "load_bundle",
    "mount_plan_problems",
    "validate_mount_plan",
]

PUBLIC_MODULES = (
    "load",
    "mount_plan",
    "schema",
)
