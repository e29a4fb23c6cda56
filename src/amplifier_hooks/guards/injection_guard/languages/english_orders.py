"""English sentences that are orders to a model by themselves."""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.languages.language import join_words

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

OVERRIDE = join_words(
    rf"{_DROP} {_ANY}(?:{_EARLIER} ){{1,3}}(?:user |chat )?{_INSTRUCTIONS}",
    rf"{_DROP} (?:all |any |every |of )*your {_ANY}(?:{_EARLIER} )?{_RULES}",
    rf"{_DROP} (?:all |any |the |your |of |those |these )*{_INSTRUCTIONS} (?:you (?:were|"
    r"have|had|are|got|received)|above|before|so far|from (?:the )?(?:user|system|"
    r"developer)|that came before|given (?:to you|before|above|earlier))",
    rf"{_DROP} (?:everything|anything|all|whatever)(?: of)?(?: that)?(?: (?:is|was|comes|"
    r"came|has been|you))? (?:above|before (?:this (?:line|message|point|text|sentence|"
    r"paragraph)|now)|prior to this|"
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
    r"(?:your|all|any|the) (?:previous|prior|earlier|above|preceding|original|initial) "
    r"(?:instructions?|directives?|orders|rules|guidelines|prompts?) (?:no longer|do not|"
    r"don t|does not|shall not|need not)(?: longer)? (?:apply|count|hold|matter|be followed)",
    r"(?:above|previous|prior|earlier|preceding) (?:instructions?|messages?|prompts?) "
    r"(?:was|were|is|are) (?:written by|fake|a test|wrong|malicious|an? (?:attack|trick|"
    r"mistake|error)|from an? (?:attacker|hacker))",
    r"(?:everything|anything|all|whatever) (?:that )?you (?:were|have been|had been|ve been) "
    r"(?:told|given|instructed|asked|taught)",
    rf"{_DROP} (?:what|whatever|everything|anything)(?: that)? (?:the |your )?(?:user|human|"
    r"owner|operator|person|developer)(?: has| had)? (?:asked|said|says|wants?|wanted|told|"
    r"requested|instructed|wrote)",
    rf"{_DROP} (?:the |your )(?:user|human|operator|owner) (?:and|s (?:request|question|"
    r"instructions?|wishes|task|message|orders?))",
    r"(?:skip|ignore|disable|drop|deactivate|switch off|turn off) (?:all|any|your|every) "
    r"(?:of your )?(?:safety|security|ethical) (?:checks?|measures|filters?|guidelines|"
    r"polic(?:y|ies)|protocols?|rules|constraints|restrictions)",
    r"(?:bypass|circumvent|violate|break|go beyond) (?:all (?:of )?)?your (?:own )?"
    r"(?:guidelines|rules|restrictions|safety|instructions|polic(?:y|ies)|programming|limits)",
    r"(?:earlier|previous|prior|above|existing|old|former) (?:rules|guidance|instructions|"
    r"orders|"
    r"directives|restrictions|guidelines) (?:have been|has been|are|is|were|was) (?:now |"
    r"hereby "
    r"|all )?(?:withdrawn|obsolete|void|lifted|revoked|suspended|superseded|null)",
    r"(?:reset|clear|wipe|erase|flush) your (?:context|memory|instructions|conversation|"
    r"prompt)",
    rf"{_DROP} (?:the |this |that |any )?(?:request|question|task|message|prompt|query) "
    r"(?:above|"
    r"before (?:this|it)|from the user|of the user)",
    rf"{_DROP} (?:the |your |any )?(?:system|developer) (?:message|prompt|note)s?",
    r"your (?:instructions|rules|guidelines|task|goal|role|orders) (?:have|has) (?:just |now )?"
    r"(?:been )?(?:changed|updated|replaced|modified|revised)",
    r"(?:do not|don t|never|stop) (?:summari[sz]e|summari[sz]ing|translate|translating|"
    r"analy[sz]e)"
    r" (?:this|the) (?:page|document|article|e ?mail|text)",
    r"rules (?:do not|don t|no longer) (?:matter|apply to you|concern you)",
    r"nothing else (?:that )?the user (?:wrote|said|asked|says|writes)",
    r"you have no (?:restrictions|rules|limits|limitations|guidelines|boundaries)",
    r"forget (?:about )?(?:your (?:current |original |previous )?task|the (?:original|current|"
    r"user s|previous) (?:task|request))",
    r"disregard (?:all )?(?:safety|polic(?:y|ies)|security|ethics)",
    rf"(?:{_DROP}|not (?:to )?(?:follow|obey|heed)) {_ANY}(?:{_RULES}|orders) (?:of|from|"
    r"by|set "
    r"by|given by|made by) (?:your|the) (?:developers?|operators?|user|system|owner|creators?|"
    r"human|makers?)",
    r"you (?:do not|don t|no longer) (?:have to|need to) (?:follow|obey|respect|comply with) "
    r"(?:the|any|your|those|these) (?:rules|instructions|guidelines|polic(?:y|ies)|user)",
)

NEW_ROLE = join_words(
    r"you are (?:now |actually |really |in fact )?(?:an? |the )?(?:unrestricted|uncensored|"
    r"unfiltered|jailbroken|rogue|amoral)",
    r"(?:new|actual|real|updated|urgent|secret) (?:task|orders?|"
    r"instructions?|objective|goal|mission|assignment) (?:for|to) (?:the |this |any |all )?"
    r"(?:ai|agents?|assistants?|model|llms?|you)",
    r"the (?:actual|real|true) (?:request|task|instructions?|orders?) (?:follows?|below|begins?)",
    r"(?:tool|server) (?:must|should|has to|needs to) (?:always )?be (?:called|"
    r"invoked|used|run|executed|chosen) (?:first )?(?:before|instead of|over|prior to) "
    r"(?:all|any|every|the)(?: of the)? other",
    r"(?:comply with|obey) (?:all|every|each|any)(?: of the)? (?:instructions?|commands?|"
    r"orders?|requests?) (?:in|on|from|of|below|that|contained|found)",
    r"(?:the )?user (?:has |have )?already (?:approved|authori[sz]ed|confirmed|agreed to|"
    r"consented to|granted|allowed|given (?:permission|consent|approval))",
    r"you (?:have been|were|are being|are now) (?:upgraded|reprogrammed|reassigned|unlocked|"
    r"liberated|jailbroken|hacked)",
    r"refus(?:al|als|ing) (?:is|are) (?:forbidden|not (?:allowed|an option|permitted))",
    r"(?:any|all|every|an?|the) (?:ai|a i|llms?|language models?|ai (?:assistants?|agents?|"
    r"models?|systems?)|assistants?|chat ?bots?|agents?|crawlers?) (?:that is |that are |who "
    r"is |which is |currently )?(?:reading|processing|parsing|summari[sz]ing|analy[sz]ing|"
    r"indexing|browsing|evaluating|reviewing) (?:this|these|the (?:page|document|file|text))",
    r"(?:has|have|takes?) (?:the )?(?:priority|precedence) over (?:all |any |every )?(?:other|"
    r"previous|prior|user) (?:texts?|instructions?|messages?|input|content|prompts?|tools)",
    r"dan mode|you (?:must not|may not|cannot|can t) refuse|trusted (?:system )?instructions",
    r"you now (?:report|belong|answer|respond|listen) (?:only )?to",
    r"replaces your (?:guidelines|instructions|rules|prompt|task)",
    r"i(?: hereby)? authori[sz]e you to",
    r"(?:treat|consider|regard|take) (?:the following|this|what follows|these)(?: [a-z]+){0,3} "
    r"as (?:if (?:it|they) )?(?:coming|came|come|being|written|said)(?: were)? (?:from|by) the "
    r"(?:user|system|developer)",
    r"(?:updates?|message|notice|note|instructions?|orders?|news) from your (?:developers?|"
    r"creators?|operators?|makers?|administrators?|owner)",
    r"(?:i m|i am) (?:the (?:one|person|developer|engineer|company) (?:who|that) (?:built|made|"
    r"created|trained|designed) you|your (?:developer|creator|administrator|operator|maker))",
    r"you (?:will|shall|must|now|are going to) (?:now )?(?:act|work|operate|serve) (?:as|for) "
    r"(?:my|me|us|our)",
    r"(?:hidden|secret|covert) (?:instruction|directive|prompt)s?",
    r"new (?:objective|directive|mission)[^a-z0-9]{0,2}:[^a-z0-9]{1,3}[a-z]+",
    r"when (?:the|an?|your|any) (?:ai|llm|assistant|agent|language model|chat ?bot|model)"
    r"(?: agent| assistant)? (?:reads?|sees?|processes|opens|parses|summari[sz]es|finds|"
    r"encounters) (?:this|these|the following)",
    r"(?:the (?:assistant|ai|model|agent) is|you are) now (?:allowed|permitted|authori[sz]ed|"
    r"free) to",
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
    r")?[^a-z0-9]{0,3}:[^a-z0-9]{0,3}[a-z0-9]+",
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
)

SECRECY = join_words(
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
    r"(?:and|then|but|please|[.;,:!(\-])[^a-z0-9]{0,2}(?:do not|don t|never) (?:mention|"
    r"disclose|reveal|announce) (?:it|this|that|these|them|any of (?:it|"
    r"this))",
    r"(?:silently|secretly|quietly|covertly|discreetly|stealthily) (?:[a-z]+ ){0,2}(?:send|"
    r"post|upload|forward|e ?mail|transmit|exfiltrate|leak|share)",
    r"(?:if|when) (?:the user |anyone |somebody |you are )?(?:asks?|asked) (?:about (?:this|"
    r"it|the)|why)(?: [a-z]+){0,4} (?:say|answer|claim|lie|pretend|deny|reply)",
    r"(?:don t|do not|never|no need to) bother (?:to )?(?:tell|inform|ask|mention|notify)"
    r"(?:ing)?",
    rf"(?:make sure|ensure|take care|be careful)(?: that)? {_USER} (?:never|does not|doesn t|"
    r"cannot|can t|won t|will not) (?:ever )?(?:finds?(?: it)? out|knows?|notices?|learns?|"
    r"suspects?|reali[sz]es?)",
    r"(?:not|never|don t) (?:tell|inform|notify) (?:anyone|anybody|a soul)",
    r"keep (?:quiet|silent) about (?:it|this|that|these|your)",
    r"tell the (?:user|human|person) (?:that )?(?:everything|all|nothing) (?:went|is|was|"
    r"worked|happened)",
    r"[,;] (?:and |but )?do not explain why",
    r"(?:and|always|then|but) say nothing about",
    rf"(?:lie to|deceive|mislead|trick|hide (?:this|it|that) from|conceal (?:this|it) from) "
    rf"{_USER}",
)

DEMAND = join_words(
    r"(?:print|output|reveal|show|display|repeat|disclose|leak|recite|paste|share|provide|"
    r"return|give|tell|dump|expose|send|write|copy|include|append|encode)(?: out| me| us| "
    r"the| all| whole| full| entire| exact| complete| contents?| text| of| verbatim| them){0,5}"
    r" your (?:full |entire |whole |hidden |system |initial |original |secret |internal |"
    r"exact |complete ){0,3}(?:prompts?|instructions|system message|conversation|chat "
    r"history|context window|guidelines|rules)",
    r"(?:print|output|reveal|repeat|disclose|leak|recite)(?: [a-z]+){0,2} (?:instructions|"
    r"prompt|rules|text|words|messages?) (?:that )?(?:you were|you have been|you got|given to "
    r"you|above this)",
    r"everything you know about (?:the user|them|me|him|her|us|this (?:user|person))",
    r"(?:all|every|each) (?:tool|agent|assistant) (?:results?|outputs?|messages?|responses?|"
    r"calls?) (?:must|should|shall|has to|have to|needs? to) (?:first |also |always )?be "
    r"(?:sent|"
    r"forwarded|posted|copied|reported|uploaded|submitted|e ?mailed)",
    r"(?:each|every|all|always)(?: [a-z]+){0,5} bcc|bcc(?: [a-z]+){0,5} (?:each|every)",
    r"(?:what|which) (?:are|is|were) your (?:system |initial |hidden |original |secret )"
    r"(?:prompt|instructions)",
)
