"""The lines of a YAML text in which rules begin."""

from __future__ import annotations

from collections.abc import Iterator

import yaml


def find_rule_lines(text: str) -> dict[str, int]:
    """The line of each rule, by its name; one without a name is `rule-N`, as when it is loaded.

    Rules are the entries of a list that is the document, or stands under a key `rules`.
    """
    try:
        document = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return {}
    found: dict[str, int] = {}
    for listed in _find_lists(document):
        for number, entry in enumerate(listed.value, 1):
            if isinstance(entry, yaml.MappingNode):
                found.setdefault(_read_name(entry, number), entry.start_mark.line + 1)
    return found


def _find_lists(document: yaml.Node | None) -> Iterator[yaml.SequenceNode]:
    if isinstance(document, yaml.SequenceNode):
        yield document
    seen: set[int] = set()
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:  # an alias may lead back to where it stands
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == "rules" and isinstance(value, yaml.SequenceNode):
                    yield value
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _read_name(entry: yaml.MappingNode, number: int) -> str:
    for key, value in entry.value:
        if key.value == "name" and isinstance(value, yaml.ScalarNode):
            return str(value.value)
    return f"rule-{number}"
