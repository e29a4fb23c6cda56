"""Clients of a server that stands in front of a store: for agents, and for people."""

from amplifier_hooks.approvals.client.http_link import HttpLink
from amplifier_hooks.approvals.client.people_client import PeopleClient

__all__ = ["HttpLink", "PeopleClient"]
