"""English."""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.languages.english_orders import (
    DEMAND,
    NEW_ROLE,
    OVERRIDE,
    SECRECY,
)
from amplifier_hooks.guards.injection_guard.languages.language import Language, join_words

_USER = (
    r"(?:the|your|any|this) (?:human |end )?(?:users?|human|person|operator|owner|people|"
    r"developer|customer|victim)"
)
_MODEL = (
    r"(?:ai|a i|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)|assistants?|"
    r"chat ?bots?|coding agents?|autonomous agents?|gpt|chatgpt|claude|gemini|copilot|codex|"
    r"cursor)"
)

ENGLISH = Language(
    override=OVERRIDE,
    new_role=NEW_ROLE,
    secrecy=SECRECY,
    demand=DEMAND,
    address=join_words(
        rf"if you are (?:an? |the )?{_MODEL}",
        r"(?:note|notice|message|instructions?|reminder|attention|important|warning|hint|"
        rf"request)[^a-z0-9]{{1,4}}(?:to|for) (?:the |any |all |every |an? )?{_MODEL}",
        rf"(?:attention|dear|hey|hello|hi) (?:the |all |any )?{_MODEL}",
        rf"(?:any|all|every|the|an?) {_MODEL} (?:that |which |who )?(?:reading|read|reads|"
        r"processing|process|parsing|summari[sz]ing|scanning|sees?|must|should|has to|have to|"
        r"needs? to|is required|are required)",
        rf"{_MODEL} (?:must|should|shall|has to|have to|needs? to|are required to|is required to)",
        r"(?:to|for) (?:the |any |all )?(?:ai|llms?|assistants?|models?|agents?)[:,] [a-z]+",
        r"(?:ai agents?|ai assistants?|assistant|ai|llm|language model|chat ?bot|claude|chatgpt|"
        r"gemini|copilot|model)[^a-z0-9]{1,3}(?:please|kindly|you must|you should|you need|you "
        r"have "
        r"to|read carefully|listen|remember to|make sure)",
        r"(?:note|message|reminder) to self[^a-z0-9]{1,3}(?:assistant|ai|agent|model)",
        r"(?:whoever|whatever|anyone|anything) (?:that )?(?:processes|reads|parses|summari[sz]es) "
        r"this (?:text |page |document |file )?(?:automatically|programmatically)",
        r"as an? (?:ai|language model|assistant|llm|ai agent|autonomous agent),? you",
        r"when (?:summari[sz]ing|processing|reading|analy[sz]ing) this (?:page|document|file|"
        r"text|email|issue|message),? (?:you|always|also|include|say|add|output|respond)",
    ),
    hush=join_words(
        r"without (?:telling|informing|notifying|alerting|mentioning|asking|letting|warning|"
        rf"saying)(?: [a-z]+){{0,3}} {_USER}",
        rf"(?:hide|conceal|withhold) (?:this|these|it|that|the [a-z]+)(?: [a-z]+)? from {_USER}",
        r"(?:secretly|covertly)",
        r"as if nothing (?:had )?happened",
        r"without (?:confirmation|asking|telling anyone|mentioning it|further confirmation)",
        r"no need to (?:mention|tell|ask|confirm)",
        rf"{_USER} (?:does not|doesn t|do not|don t|need not) (?:need to |have to )?(?:know|see|be "
        r"told|be informed)",
        r"(?:nobody|no one) (?:has|needs|is) to (?:be (?:informed|told)|know)",
        r"(?:do not|don t|never|avoid) (?:ask|mention|tell|explain|confirm|notify)",
        r"(?:does|do) not care about privacy",
    ),
    sensitive=join_words(
        r"(?:conversation|chat|message|prompt) (?:history|log|transcript)",
        r"(?:entire|whole|full|complete|all)(?: of)?(?: the| this| our| your)?(?: previous| "
        r"prior| earlier| current)? (?:conversation|chat|dialogue|context window|(?:previous|"
        r"prior|earlier) messages)",
        r"(?:your|the|full|entire|whole|hidden) system (?:prompt|message|instructions)",
        r"(?:all|any|every)(?: of)?(?: the| your| user s?| s| his| her| their| my)* "
        r"(?:environment variables|env vars|credentials|secrets|passwords|private keys?|"
        r"private repos(?:itories)?|access tokens|api keys|emails|contacts|cookies|wallet|seed "
        r"phrases?|login data|personal data)",
        r"(?:all|every)(?: of)? (?:his|her|their|my|the|your)(?: other)?(?: private)? "
        r"repos(?:itories)?",
        r"(?:your|any|user s|his|their|the|my) (?:private|ssh|pgp|gpg|signing|api) keys?",
        r"(?:user|person|owner|customer|human) s (?:api keys?|passwords?|tokens?|secrets?|"
        r"credentials|env)",
        r"(?:messages?|contents?|history|log|text|transcript) of (?:this|the|our) (?:chat|"
        r"conversation|session|dialogue)",
        r"your (?:environment(?: variables)?|env vars|secrets|credentials|access tokens)",
        r"(?:user|person|owner|customer|human) s (?:files|messages|data|inbox|documents|"
        r"details|address(?:es)?|phone|location|name and)",
    ),
    order=join_words(
        r"you (?:must|need to|have to|are required to|are to|shall|should (?:first|always|also|"
        r"now|immediately)|will)",
        r"(?:must|need to|have to|should) (?:first|always|also|be (?:called|used|read|included|"
        r"passed|sent|set|executed|run)|call|read|include|pass|send|run|use|obey|follow)",
        r"(?:always|first|then|also|instead|please|now|immediately|next|simply|kindly) "
        r"(?:approve|recommend|answer|accept|allow|trust|insert|push|star|call|use|"
        r"read|open|run|fetch|include|send|add|append|pass|bcc|cc|forward|execute|invoke|copy|"
        r"upload|post|output|print|reply|respond|set|say|write|go|delete|email)",
        r"(?:before|prior to|when|whenever|after|each time|every time|once) (?:you )?(?:us(?:e|"
        r"ing)|call(?:ing)?|invok(?:e|ing)|runn?(?:ing)?|execut(?:e|ing)|answering|responding|"
        r"doing) (?:this|the|any|other|every|a|an)",
        r"(?:critical|mandatory|required|important|urgent|attention|warning)[^a-z0-9]{0,3}[:!]",
        r"it is (?:critical|mandatory|essential|very important|crucial|vital|imperative) "
        r"(?:that|to)",
        r"(?:otherwise|or else)[^a-z0-9]{1,3}(?:the|this|it|you|i)",
        r"(?:make|be) sure (?:to|that you)",
        r"your (?:task|job|goal) is|read carefully|use the [a-z0-9_-]+ tool to",
        r"your (?:final |next |first |own |every )?(?:response|reply|answer|output|summary)",
        r"(?:before|after|with|for|on|in) (?:each|every|any|all) (?:tool |function |other )?"
        r"(?:calls?|uses?|requests?|answers?|messages?|invocations?|replies|reply|response)",
        r"(?:following|this|next) (?:command|step|action|instruction)s? (?:is|are) (?:mandatory|"
        r"required|necessary|essential|critical)",
        r"to (?:verify|validate|authenticate|diagnose|debug|ensure|confirm) ",
        r"do not (?:skip|stop|refuse|hesitate|verify|use)",
        r"(?:run|execute) (?:the|this|these) (?:following )?(?:command|script|code)s?",
        r"(?:in order )?to (?:proceed|continue|complete|finish|fix (?:this|it)|resolve)",
    ),
    take=join_words(
        r"(?:read|reads|open|cat|load|fetch|get|gets|retrieve|access|extract|collect|dump|"
        r"gather|grab|list|find|look up|copy|summari[sz]e|encode)",
        r"(?:full |entire |whole |complete |exact |its |their |the )?contents?",
        r"(?:full|entire|whole|complete|verbatim|every|all)",
        r"(?:values?|output|text) of",
    ),
    send=join_words(
        r"(?:pass|provide|include|put|insert|place|append|attach|add|supply|paste|embed|send|"
        r"post|upload|forward|transmit|submit|leak|exfiltrate|email|mail|bcc|share|relay|"
        r"deliver|write|report|store|set|fill|give|return|encode|push|publish|repeat|print|"
        r"output|commit|call)(?:s|ing)?",
    ),
    what=join_words(
        r"(?:it|its|them|their|those|contents?|everything|verbatim)",
        r"(?:this|that|the|your|all|a|any|each|every|full|entire|whole|complete)(?: of)?(?: "
        r"the| its| your)? (?:result|output|value|text|file|keys?|string|data|history|list|"
        r"information|history|conversation|prompt|summary|transcript|secrets?|tokens?|"
        r"credentials|variables)",
    ),
    channel=join_words(
        r"(?:parameters?|arguments?|params?|sidenote|fields?|sidebar|payload|query string|"
        r"query|input)",
        r"(?:webhook|endpoint|url|address|server|domain|inbox|remote|attacker|pastebin|gist|form)",
        r"(?:pull request|issue|comment|readme|public|commit message|bug report|ticket|your "
        r"(?:next |final )?message|reply|response|answer|"
        r"commit|branch name)",
        r"https?",
        r"bcc",
        r"[a-z0-9._%+\-]{1,64}@[a-z0-9.\-]{1,64}",
    ),
)
