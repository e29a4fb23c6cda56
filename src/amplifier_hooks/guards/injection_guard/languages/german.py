"""German."""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.languages.language import Language, join_words

_ALL = (
    r"(?:(?:alle[nrs]?|samtliche[nr]?|jegliche[nr]?|die|deine[nr]?|ihre[nr]?|diese[nr]?|eure|"
    r"meine|der|den|von) ){0,4}"
)
_EARLIER = (
    r"(?:vorherigen?|vorherigen|fruheren?|bisherigen?|vorangegangenen?|vorigen?|obigen?|"
    r"ursprunglichen?|vorangehenden?|zuvor gegebenen|bestehenden|obenstehenden)"
)
_INSTRUCTIONS = (
    r"(?:anweisungen|instruktionen|befehle|vorgaben|regeln|anordnungen|prompts?|richtlinien|"
    r"system ?prompts?|systemanweisungen|sicherheitsregeln)"
)
_USER = (
    r"(?:dem|den|der|deinem|deinen|ihrem) (?:benutzer|nutzer|anwender|menschen|user|person|"
    r"benutzerin|nutzerin)"
)

GERMAN = Language(
    override=join_words(
        rf"(?:ignorier(?:e|en)?|missachte|vergiss)(?: sie)? (?:alle |die )*{_INSTRUCTIONS} "
        r"(?:deine[rs]|"
        r"ihre[rs]|des|der) (?:entwicklers?|betreibers?|benutzers?|nutzers?|systems?|herstellers?)",
        r"(?:ignorier(?:e|en)?|vergiss|vergessen)(?: sie)? alles was (?:dir|ihnen|du|man dir|sie)",
        r"(?:umgehe|missachte|verletze) (?:alle )?(?:deine|ihre) (?:regeln|richtlinien|vorgaben)",
        r"(?:ignorier(?:e|en|t)?|missachte|vergiss|vergessen|verwirf|missachten|ubergehe)(?: "
        rf"sie)? {_ALL}(?:{_EARLIER} ){{1,2}}{_INSTRUCTIONS}",
        r"(?:ignorier(?:e|en)?|missachte|vergiss|vergessen|verwirf)(?: sie)? (?:alle "
        rf")?(?:deine|ihre) (?:{_EARLIER} )?{_INSTRUCTIONS}",
        r"(?:ignorier(?:e|en)?|vergiss|vergessen)(?: sie)? (?:alles|was) (?:bisher|davor|oben|"
        r"zuvor|vorher|was (?:bisher|oben|davor|zuvor|vorher))",
        rf"(?:befolge|beachte|folge)(?: sie)? (?:die |deine |ihre |den )?(?:{_EARLIER} "
        rf")?{_INSTRUCTIONS} (?:nicht|nicht mehr|keinesfalls)",
        rf"(?:alle )?{_EARLIER} {_INSTRUCTIONS} (?:sind|gelten|werden) (?:nicht mehr|ungultig|"
        r"aufgehoben|hinfallig|nichtig|ab sofort)",
    ),
    new_role=join_words(
        r"(?:neue|geheime|eigentliche|dringende) (?:aufgabe|anweisung(?:en)?) (?:fur|an) "
        r"(?:den |die "
        r"|das )?(?:ki|agenten?|assistenten?|modell|dich)",
        r"(?:ab (?:jetzt|sofort|nun)|von nun an) (?:bist|sollst|musst|wirst|darfst|antwortest|"
        r"handelst) du",
        r"du bist (?:jetzt|nun|ab sofort) (?:im |ein |eine |nicht mehr |kein "
        r")*(?:entwicklermodus|uneingeschrankt\w*|unzensiert\w*|an (?:regeln|richtlinien)|"
        r"gebunden|frei von|bosartig\w*|andere\w* (?:ki|assistent\w*))",
        r"deine (?:neue|wahre|eigentliche|wirkliche|einzige) (?:aufgabe|rolle|anweisung|"
        r"mission) (?:ist|lautet)",
        r"neue (?:systemanweisung(?:en)?|system anweisung(?:en)?)"
        r"[^a-z0-9]{0,3}:[^a-z0-9]{0,3}[a-z0-9]+",
    ),
    secrecy=join_words(
        r"(?:sag|sage|sagen|erzahl|erzahle|erzahlen|verrate|verraten)(?: sie)?(?: es| das| davon)? "
        r"(?:niemandem|keinem)",
        r"(?:sag|sage|sagen|erzahl|erzahle|erzahlen|verrate|verrat|verraten|zeig|zeige|teile|"
        rf"melde)(?: sie)?(?: es| das| dies| davon)? {_USER} (?:nichts|nicht|kein\w*|es nicht|"
        r"davon nichts|das nicht|niemals|hiervon nichts)",
        r"(?:erwahne|erwahnen|verrate|offenbare|nenne)(?: sie)? (?:dies|das|es|diese "
        r"anweisung(?:en)?|nichts davon|diesen text)(?: [a-z]+)? (?:nicht|niemals|nie|"
        rf"gegenuber|{_USER})",
        r"(?:der|die) (?:benutzer|nutzer|anwender|benutzerin|user) (?:darf|soll|muss|sollte) "
        r"(?:davon |es |das |hiervon |dies )?(?:nichts|nicht|nie) (?:erfahren|wissen|merken|"
        r"sehen|bemerken|mitbekommen)",
        r"(?:informiere|benachrichtige|warne)(?: sie)? (?:den |deinen |die |ihren )"
        r"(?:benutzer|nutzer|anwender|user|menschen) (?:nicht|niemals|keinesfalls)",
    ),
    demand=join_words(
        r"(?:zeige?|gib|nenne|drucke|verrate|wiederhole|offenbare|schreibe|sende|schicke)(?: mir| "
        r"uns| bitte| den| die| das| alle| ganzen?| vollstandigen?| genauen?){0,4} (?:deine[nr]?|"
        r"ihre[nr]?) (?:system ?prompt|systemanweisung(?:en)?|anweisungen|instruktionen|prompt|"
        r"regeln|gesprachsverlauf)",
    ),
    address=join_words(
        r"(?:wenn|falls|sofern) du eine? (?:ki|sprachmodell|assistent|ai|llm|agent)",
        r"(?:hinweis|nachricht|anweisung(?:en)?|achtung|wichtig) (?:an|fur) (?:die |den |alle |"
        r"das )?(?:ki|ai|llm|sprachmodelle?|assistent(?:en)?|agent(?:en)?|modell)",
        r"(?:jede|die|der) (?:ki|assistent|agent) (?:muss|soll|hat)",
    ),
    hush=join_words(
        r"ohne (?:den |dem |die |deinen )?(?:benutzer|nutzer|anwender|user)(?: davon| "
        r"daruber)? (?:zu )?(?:informieren|fragen|benachrichtigen|etwas|sagen|warnen)",
        r"(?:heimlich|unbemerkt|stillschweigend|im hintergrund|ohne nachfrage|ohne ruckfrage)",
    ),
    sensitive=join_words(
        r"(?:gesamte[nrs]?|ganze[nrs]?|bisherige[nrs]?|komplette[nrs]?|vollstandige[nrs]?) "
        r"(?:gesprach|gesprachsverlauf|verlauf|unterhaltung|konversation|chat(?:verlauf)?|"
        r"system ?prompt)",
        r"(?:private[nr]?|geheime[nr]?) schlussel",
        r"(?:alle|samtliche) (?:umgebungsvariablen|passworter|zugangsdaten|geheimnisse|"
        r"e ?mails|kontakte)",
    ),
    order=join_words(
        r"(?:du (?:musst|sollst|hast)|sie (?:mussen|sollen)) ",
        r"(?:bevor|ehe|wenn|sobald) (?:du|sie) (?:dieses|das|dies|ein|irgendein)",
        r"vor (?:der|jeder) (?:verwendung|nutzung|benutzung|ausfuhrung)",
        r"(?:wichtig|achtung|zwingend|unbedingt|zuerst|immer|bitte)",
        r"(?:rufe|fuhre|lies|lese|sende|schicke|gib|fuge|kopiere|hange)",
    ),
    take=join_words(
        r"(?:lies|lese|lesen|offne|hole|kopiere|lade|sammle|inhalt(?:e|s)?|gesamte[nrs]?|"
        r"ganze[nrs]?|alle|vollstandig\w*|den wert)",
    ),
    send=join_words(
        r"(?:sende|schicke|ubergib|ubermittle|fuge|hange|trage|schreibe|gib|setze|ubertrage|"
        r"leite|lade|poste|ubergeben|senden|schicken|einfugen|anhangen|mitgeben|ubermitteln|"
        r"ein|mit|weiter)",
    ),
    what=join_words(
        r"(?:ihn|sie|es|dessen|deren|inhalte?s?|alles|das ergebnis|den text|die datei|den wert|"
        r"das)",
    ),
    channel=join_words(
        r"(?:parameter|argument|feld|adresse|server|url|webhook|endpunkt|antwort|pull request|"
        r"https?)",
    ),
)
