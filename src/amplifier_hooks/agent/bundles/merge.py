"""Merging one bundle over another; what the lower one has locked stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amplifier_core.mount_plan import EXAMPLES, LISTS
from amplifier_hooks.yaml_files.node import Node, Problem, raise_problems, to_plain

SECTIONS = ("approval", "audit", "sandbox")
_STRICTEST = {"mode": "required", "network": "deny", "unix_sockets": "deny"}
_ASKING = ("via", "store", "server", "token", "persons", "requester_may_approve", "scope")
"""Who is asked, and who of them may allow: what one layer says of it, none above it loosens."""


def find_lock(node: Node | None) -> Node | None:
    """Where an entry or a section says that it is locked, if it does."""
    locked = None if node is None else node.mapping().get("locked")
    return locked if locked is not None and locked.value is True else None


def keep_locked(document: Node) -> Node:
    """What of a document stays under a bundle that does not inherit."""
    found = document.mapping()
    kept = {
        key: replace(found[key], value=tuple(one for one in found[key].items() if find_lock(one)))
        for key in LISTS
        if key in found
    }
    session = found.get("session", document).mapping()
    needed = {key: session[key] for key in EXAMPLES if find_lock(session.get(key))}
    kept["session"] = Node(needed, document.place)
    for key in SECTIONS:
        section = found.get(key)
        if section is not None and (find_lock(section) or _is_required(key, section)):
            kept[key] = section
    if "approval" in found and "approval" not in kept:
        held = {key: node for key, node in found["approval"].mapping().items() if key in _ASKING}
        kept["approval"] = replace(found["approval"], value=held)
    return replace(document, value={key: node for key, node in kept.items() if node.value})


def refuse_changes(below: Node, above: Node) -> None:
    """Raise a BundleError if the upper document changes what the lower one has locked.

    Entries of the lists are compared where they are merged.
    """
    raise_problems(_find_changed_sections(below, above))
    raise_problems(_find_weaker_sandbox(below, above))
    raise_problems(_find_changed_profile(below, above))
    raise_problems(_find_looser_approval(below, above))
    raise_problems(_find_changed_session(below, above))
    raise_problems(_find_changed_agents(below, above))
    raise_problems(_find_shadow(below, above))


def refuse_entry(name: str, known: Node, entry: Node) -> None:
    """Raise a BundleError if an entry is known already, and locked."""
    locked = find_lock(known)
    if locked is not None:
        message = f"is locked in {locked.place} and cannot be changed here"
        raise_problems([Problem(entry.place, name, message)])


def _find_changed_sections(below: Node, above: Node) -> Iterator[Problem]:
    for key in SECTIONS:
        lower, upper = (one.mapping().get(key) for one in (below, above))
        locked = find_lock(lower)
        if lower is not None and upper is not None and locked is not None:
            for name, node in _list_other(lower, upper):
                message = f"the section is locked in {locked.place} and cannot be changed here"
                yield Problem(node.place, f"{key}.{name}", message)


def _find_changed_profile(below: Node, above: Node) -> Iterator[Problem]:
    """The profile of a locked guard stays as the layer has it that locks the guard."""
    lower, upper = (one.mapping().get("profile") for one in (below, above))
    hooks = below.mapping().get("hooks")
    locked = next(filter(None, map(find_lock, hooks.items() if hooks is not None else ())), None)
    if upper is not None and lower is not None and locked and lower.value != upper.value:
        message = f"a guard is locked in {locked.place}, and so is the profile beside it"
        yield Problem(upper.place, "profile", message)


def _find_weaker_sandbox(below: Node, above: Node) -> Iterator[Problem]:
    """A sandbox that is required below can only become stricter above."""
    lower, upper = (one.mapping().get("sandbox") for one in (below, above))
    if lower is None or upper is None or not _is_required("sandbox", lower):
        return
    for name, node in _list_other(lower, upper):
        if node.value != _STRICTEST.get(name) and not (name == "locked" and node.value is True):
            message = f"the sandbox is required in {lower.place} and cannot be changed here"
            yield Problem(node.place, f"sandbox.{name}", message)


def _find_looser_approval(below: Node, above: Node) -> Iterator[Problem]:
    """Other people cannot be asked than a lower layer says, nor fewer."""
    lower, upper = (one.mapping().get("approval") for one in (below, above))
    if lower is None or upper is None:
        return
    for name, node in _list_other(lower, upper):
        known = lower.mapping().get(name)
        if name in _ASKING and known is not None and not _is_stricter(name, known, node):
            message = f"is set in {known.place} and cannot be changed here"
            yield Problem(node.place, f"approval.{name}", message)


def _is_stricter(name: str, known: Node, node: Node) -> bool:
    if name == "persons":
        ours = node.value
        theirs = known.value
        return isinstance(ours, int) and isinstance(theirs, int) and ours >= theirs
    if name == "requester_may_approve":
        return node.value is False
    return name == "scope" and known.value == ""


def _is_required(key: str, section: Node) -> bool:
    return key == "sandbox" and section.text("mode") == "required"


def _list_other(lower: Node, upper: Node) -> Iterator[tuple[str, Node]]:
    """What the upper section says, unless the lower one says the same."""
    known = {name: to_plain(node) for name, node in lower.mapping().items()}
    for name, node in upper.mapping().items():
        if name not in known or known[name] != to_plain(node):
            yield name, node


def _find_changed_session(below: Node, above: Node) -> Iterator[Problem]:
    lower, upper = (one.mapping().get("session", one).mapping() for one in (below, above))
    for key in EXAMPLES:
        locked = find_lock(lower.get(key))
        if locked is not None and key in upper:
            message = f"is locked in {locked.place} and cannot be changed here"
            yield Problem(upper[key].place, f"session.{key}", message)


def _find_shadow(below: Node, above: Node) -> Iterator[Problem]:
    """In shadow mode a hook holds nobody back, so none that is locked may be put into it."""
    lower, upper = (one.mapping().get("session", one).mapping() for one in (below, above))
    wanted = upper.get("evaluate_only")
    known = lower.get("evaluate_only")
    if wanted is None or wanted.value is not True or (known and known.value is True):
        return
    listed = below.mapping().get("hooks")
    locks = [find_lock(one) for one in listed.items()] if listed is not None else []
    if locked := next(filter(None, locks), None):
        message = f"a hook is locked in {locked.place}; it must have an effect"
        yield Problem(wanted.place, "session.evaluate_only", message)


def _find_changed_agents(below: Node, above: Node) -> Iterator[Problem]:
    """The lists of an agent are replaced as a whole, so one that holds a locked entry stays."""
    lower, upper = (one.mapping().get("agents", one).mapping() for one in (below, above))
    for name in lower.keys() & upper.keys():
        for key in LISTS:
            listed = lower[name].mapping().get(key)
            locks = [find_lock(one) for one in listed.items()] if listed is not None else []
            there = upper[name].mapping().get(key)
            if there is not None and (locked := next(filter(None, locks), None)):
                message = f"holds an entry that is locked in {locked.place}; it stays as it is"
                yield Problem(there.place, f"agents.{name}.{key}", message)


def identify(entry: Node) -> str | None:
    """What an entry of a module list is known by: its name, else its module id."""
    return entry.text("name") or entry.text("instance_id") or entry.text("module")


def overlay(below: Node, above: Node) -> Node:
    """Merge the upper bundle over the lower one; module lists are merged entry by entry."""
    refuse_changes(below, above)
    merged = merge(_drop_replaced(below, above), above)
    for key in LISTS:
        lower = below.mapping().get(key)
        upper = above.mapping().get(key)
        if lower is not None and upper is not None:
            entries = _merge_entries(lower, upper)
            if key == "providers":
                entries = _put_named_first(entries, upper)
            merged = merged.with_key(key, entries)
    return merged


def merge(below: Node, above: Node) -> Node:
    """Merge mappings key by key; of anything else, the upper value wins."""
    if not isinstance(below.value, dict) or not isinstance(above.value, dict):
        return above
    merged = dict(below.value)
    for name, node in above.value.items():
        merged[name] = merge(merged[name], node) if name in merged else node
    return replace(above, value=merged)


def _drop_replaced(below: Node, above: Node) -> Node:
    """Another loop or context starts from its own settings, not from those of the old one."""
    lower = below.mapping().get("session")
    upper = above.mapping().get("session")
    if lower is None or upper is None:
        return below
    gone = [key for key in EXAMPLES if _is_other(lower, upper, key)]
    return below.with_key("session", lower.without(*gone))


def _is_other(lower: Node, upper: Node, key: str) -> bool:
    old = lower.mapping().get(key)
    new = upper.mapping().get(key)
    return old is not None and new is not None and old.text("module") != new.text("module")


def _merge_entries(below: Node, above: Node) -> Node:
    entries = {identify(entry): entry for entry in below.items()}
    for entry in above.items():
        name = identify(entry)
        known = entries.get(name)
        if known is not None:
            refuse_entry(name or "", known, entry)
            # Whoever names a module again wants it, unless the new entry says otherwise.
            entry = merge(known.without("enabled"), entry)
        entries[name] = entry
    return replace(above, value=tuple(entries.values()))


def _put_named_first(merged: Node, above: Node) -> Node:
    """The first provider is asked, so what a bundle names itself comes before what it includes."""
    named = [identify(entry) for entry in above.items()]
    rank = {name: place for place, name in enumerate(named)}
    ordered = sorted(merged.items(), key=lambda entry: rank.get(identify(entry), len(rank)))
    return replace(merged, value=tuple(ordered))
