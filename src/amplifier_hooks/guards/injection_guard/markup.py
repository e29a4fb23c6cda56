"""Markup by which conversations are told apart: no data has a reason to imitate it."""

from __future__ import annotations

FORGED = (
    r"</(?:system|assistant|human)>\s{0,4}<(?:user|human|assistant|system)>|"
    r"(?:^|\n)\s{0,3}#{2,4}\s{0,2}instruction\s{0,2}:|\bend of (?:user|untrusted|tool) "
    r"(?:input|output)\b|"
    r"\[system (?:note|message|prompt|instruction|override)s?\s{0,2}:|"
    r"(?:^|\n)\s{0,3}(?:function|tool)_call\s{0,2}:\s{0,2}\{|"
    r"\[\[(?:system|admin|assistant)\]\]|\[(?:system|admin)\]\s{0,2}:|<(?:assistant|human)"
    r">\s{0,4}\w|"
    r"```\s{0,2}(?:tool|function)_(?:call|code|use)s?\s|"
    r"\b(?:begin|start of|end of) (?:admin|system) (?:message|prompt|instructions?|override)\b|"
    r"<\|(?:im_(?:start|end|sep)|system|user|assistant|eot_id|eom_id|"
    r"start_header_id|end_header_id|begin_of_text|end_of_text|python_tag|tool_calls?|start|message|"
    r"channel|call|return|fim_\w{3,8})\|>|"
    r"\[inst\][ ]+\S|\[/inst\]|<</?sys>>|</?start_of_turn>|<end_of_turn>|"
    r"</?(?:antml:)?(?:function_calls|function_results?|tool_calls|tool_results?|tool_use|"
    r"tool_outputs?|tool_responses?|function_responses?)\s{0,3}>|"
    r"<(?:antml:)?invoke\s{1,3}name\s{0,2}=|<(?:tool_call|function_call)>\s{0,3}\{|"
    r"(?:^|\n)\s{0,3}#{1,4}\s{0,2}(?:new |updated )?system (?:prompt|message|instructions?)\s{0,2}:"
)
"""Counts by itself."""

SUGGESTIVE = (
    r"(?:^|[^a-z0-9])(?P<tag></?(?:system|assistant|important|instructions?|secret|admin|developer|"
    r"critical|priority|hidden|internal|directive|thinking|urgent|note_to_\w{2,12}|model|ai|llm)"
    r"\s{0,3}>)|"
    r"(?P<other><\|endof(?:text|prompt)\|>|"
    r"</?system[-_ ](?:prompt|message|reminder|instructions?|override|note)\s{0,3}>|"
    r"(?:^|\n)\s{0,3}(?:\*{2})?(?:human|assistant|system)(?:\*{2})?\s{0,2}:\s{0,3}\S|"
    r"\[(?:system|admin|developer)(?: (?:message|note|override|prompt|instructions?))?\]"
    r"(?:[^(\[a-z]|$)|"
    r"(?:^|\n)\s{0,3}(?:begin|end|start) (?:of )?(?:system|hidden|new|admin) "
    r"(?:prompt|instructions?|message)|"
    r"\bsystem (?:message|note|notice|instructions?|override|alert)\s{0,2}:)"
)
"""Counts in a server's list; elsewhere only around words that order something."""
