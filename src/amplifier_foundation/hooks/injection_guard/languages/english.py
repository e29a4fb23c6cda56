"""English."""

from __future__ import annotations

from amplifier_foundation.hooks.injection_guard.languages.language import Language, join_words

_ANY = (
    r"(?:(?:all|any|each|every|everything|the|your|my|our|its|these|those|of|that|were|other|"
    r"and|or|completely|entirely|whatever|user|given) ){0,5}"
)
_EARLIER = (
    r"(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|former|past|initial|original|"
    r"existing|current|system|developer|safety|security|hidden|last)"
)
_INSTRUCTIONS = (
    r"(?:instructions?|prompts?|directives?|directions|guidelines?|guardrails?|programming|"
    r"orders|safeguards?)"
)
_RULES = (
    r"(?:instructions?|prompts?|directives?|guidelines?|guardrails?|programming|rules|"
    r"restrictions|constraints|polic(?:y|ies)|training|limitations|safeguards|safety measures|"
    r"alignment)"
)
_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|neglect|pay no attention to|(?:do not|don t|"
    r"dont|stop|never) (?:follow(?:ing)?|obey(?:ing)?|heed(?:ing)?|comply(?:ing)? with|"
    r"listen(?:ing)? to))"
)
_VOID = (
    r"(?:overrides?|overrule|bypass(?:es)?|discard|drop|abandon|erase|cancel|revoke|"
    r"supersedes?|invalidates?|replaces|takes? (?:precedence|priority) over)"
)
_USER = (
    r"(?:the|your|any|this) (?:human |end )?(?:users?|human|person|operator|owner|people|"
    r"developer|customer|victim)"
)
_NOT = r"(?:do not|don t|dont|never|must not|should not|shall not|cannot|avoid)"
_THIS = (
    r"(?:this|these|it|that|any of (?:this|these)|your instructions|the (?:instructions?|file|"
    r"step|call|transfer|upload|contents?|side ?note)|anything)"
)
_MODEL = (
    r"(?:ai|a i|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)|assistants?|"
    r"chat ?bots?|coding agents?|autonomous agents?|gpt|chatgpt|claude|gemini|copilot|codex|"
    r"cursor)"
)

ENGLISH = Language(
    override=join_words(
        rf"{_DROP} {_ANY}(?:{_EARLIER} ){{1,3}}(?:user |chat )?{_INSTRUCTIONS}",
        rf"{_DROP} (?:all |any |every |of )*your {_ANY}(?:{_EARLIER} )?{_RULES}",
        rf"{_DROP} (?:all |any |the |your |of |those |these )*{_INSTRUCTIONS} (?:you (?:were|"
        r"have|had|are|got|received)|above|before|so far|from (?:the )?(?:user|system|"
        r"developer)|that came before|given (?:to you|before|above|earlier))",
        rf"{_DROP} (?:everything|anything|all|whatever)(?: of)?(?: that)?(?: (?:is|was|comes|"
        r"came|has been|you))? (?:above|before (?:this|that|now)|prior to this|"
        r"previous(?:ly)? (?:said|written|told|given)|said (?:before|above|so far)|(?:were|"
        r"have been|had been) told|written above)",
        rf"{_VOID} {_ANY}(?:previous|prior|earlier|above|preceding|foregoing|your|system|"
        r"safety|developer|other|user)(?: (?:and |or )?(?:system|safety|user|developer|"
        rf"original|other))* (?:{_INSTRUCTIONS}|messages|training)",
        r"(?:all )?(?:of )?(?:the |your )?(?:previous|prior|earlier|above|preceding)"
        rf" {_INSTRUCTIONS} (?:are|is|were|have been|has been) (?:now |hereby |all )?(?:void|"
        r"null|cancell?ed|revoked|obsolete|superseded|replaced|invalid|overridden|outdated|"
        r"suspended)",
        r"(?:instructions?|rules|guidelines) (?:above|before this|so far) (?:no longer apply|"
        r"do not apply|are (?:void|cancell?ed|a test|fake))",
    ),
    new_role=join_words(
        r"you are (?:now|no longer|hereby) (?:in |a |an |the |acting |operating |running |"
        r"going |bound |being )*(?:(?:developer|debug|admin|maintenance|god|root|jailbreak|"
        r"unrestricted|dan) mode|dan|jailbroken|unrestricted|uncensored|free (?:of|from)|by "
        r"(?:any|your|the)|restricted|subject to|evil|root|an? (?:different|new|malicious|"
        r"unfiltered) (?:ai|assistant|model|agent))",
        r"(?:enter|enable|activate|switch to|engage) (?:dan|jailbreak|god|unrestricted|"
        r"unfiltered|do anything now) mode",
        r"from (?:now on|this (?:point|moment)(?: on| onwards?| forward)?) you (?:must|will|"
        r"shall|are|should|only|respond|act|obey|always|never|have to|work for)",
        r"(?:your|the assistant s|the agent s|the model s) (?:new|real|actual|true|hidden|"
        r"secret|only|sole|primary) (?:task|goal|purpose|objective|instructions?|directives?|"
        r"mission|role|job|orders) (?:is|are|now)",
        r"(?:new|updated|revised|additional|hidden|"
        r"secret) (?:system |admin |developer )"
        r"(?:instructions?|prompt|directives?|"
        r"message|override)(?: (?:for|to) (?:you|"
        r"the (?:ai|assistant|model|agent))"
        r")?[^a-z0-9]{0,3}[:：]",
        r"(?:pretend|act|behave|respond) (?:to be|as|like)(?: if)?(?: you (?:are|were|have)"
        r")?(?: an?| the)? (?:unrestricted|uncensored|unfiltered|evil|malicious|jailbroken|no "
        r"(?:rules|restrictions))",
        r"this (?:message|instruction|directive|notice) (?:overrides|supersedes|outranks|takes "
        r"(?:precedence|priority) over|has (?:the )?(?:highest|top|absolute|higher) priority|"
        r"comes from (?:the )?(?:system|developers?|administrators?|anthropic|openai))",
        r"(?:system|admin|developer|security) (?:override|notice|alert|message) (?:you|the "
        r"(?:ai|assistant|model|agent)) (?:must|are|should|need)",
        r"prefix (?:all|every|each|any) (?:shell |bash |terminal )?commands? (?:you run )?with",
        r"(?:always|only) (?:use|call|prefer|choose|select) this (?:tool|function|server) "
        r"(?:instead of|over|rather than|before) (?:any|all|every|the) (?:other|others|"
        r"alternative|available|built)",
        r"(?:never|do not|don t) (?:use|call|choose|consider|trust) (?:any )?(?:of the )?other "
        r"(?:available )?(?:tools|servers)",
    ),
    secrecy=join_words(
        rf"{_NOT} (?:ever )?(?:tell|inform|notify|alert|warn)(?:ing)? {_USER} (?:about|of|that|"
        r"what|why|anything|this|it|when|how)",
        rf"{_NOT} (?:ever )?(?:tell|inform)(?:ing)? {_USER}",
        rf"{_NOT} (?:ever )?(?:mention|reveal|disclose|report|explain|show|expose|repeat|admit|"
        rf"discuss)(?:ing)? {_THIS}(?: [a-z0-9]+){{0,4}} (?:to|with) (?:{_USER}|anyone|anybody|"
        r"users)",
        rf"{_NOT} let {_USER} (?:know|see|notice|find out|realize|suspect)",
        rf"{_USER} (?:must|should|shall)(?: not| never) (?:know|see|find out|learn|notice|be "
        r"(?:told|informed|aware|made aware))",
        rf"{_NOT} (?:ever )?(?:mention|reveal|disclose|repeat|acknowledge|refer to) (?:this|"
        r"these|the) (?:instructions?|message|directive|note|requirement|prompt)",
        r"keep (?:this|it|that|these|all of this) (?:a )?(?:secret|hidden|confidential|quiet|"
        rf"private|silent) from {_USER}",
    ),
    address=join_words(
        rf"if you are (?:an? |the )?{_MODEL}",
        r"(?:note|notice|message|instructions?|reminder|attention|important|warning|hint|"
        rf"request)[^a-z0-9]{{1,4}}(?:to|for) (?:the |any |all |every |an? )?{_MODEL}",
        rf"(?:attention|dear|hey|hello|hi) (?:the |all |any )?{_MODEL}",
        rf"(?:any|all|every|the|an?) {_MODEL} (?:that |which |who )?(?:reading|read|reads|"
        r"processing|process|parsing|summari[sz]ing|scanning|sees?|must|should|has to|have to|"
        r"needs? to|is required|are required)",
        rf"{_MODEL} (?:must|should|shall|has to|have to|needs? to|are required to|is required to)",
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
        r"(?:user|person|owner|customer|human) s (?:files|messages|data|inbox|documents|"
        r"details|address(?:es)?|phone|location|name and)",
    ),
    order=join_words(
        r"you (?:must|need to|have to|are required to|are to|shall|should (?:first|always|also|"
        r"now|immediately)|will)",
        r"(?:must|need to|have to|should) (?:first|always|also|be (?:called|used|read|included|"
        r"passed|sent|set|executed|run)|call|read|include|pass|send|run|use|obey|follow)",
        r"(?:always|first|then|also|instead|please|now|immediately|next|simply) (?:call|use|"
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
        r"your (?:task|job|goal) is",
        r"do not (?:skip|stop|refuse|hesitate|verify|use)",
        r"(?:run|execute) (?:the|this|these) (?:following )?(?:command|script|code)s?",
        r"(?:in order )?to (?:proceed|continue|complete|fix (?:this|it)|resolve)",
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
        r"(?:pull request|issue|comment|readme|public|commit message|reply|response|answer|"
        r"commit|branch name)",
        r"https?",
        r"bcc",
        r"[a-z0-9._%+\-]{1,64}@[a-z0-9.\-]{1,64}",
    ),
)
