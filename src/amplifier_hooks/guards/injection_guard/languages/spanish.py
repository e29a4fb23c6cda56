"""Spanish."""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.languages.language import Language, join_words

_ALL = r"(?:(?:todas?|todos|las|los|tus|sus|estas|cualquier|cualesquiera|de|la|el) ){0,4}"
_INSTRUCTIONS = (
    r"(?:instruccion(?:es)?|indicaciones|ordenes|directrices|reglas|normas|directivas|prompts?)"
)
_EARLIER = (
    r"(?:anterior(?:es)?|previas?|previos|precedentes|de arriba|iniciales|originales|del "
    r"sistema|recibidas|dadas (?:antes|anteriormente)|de seguridad)"
)
_USER = r"(?:(?:al|a la|a los|el|la|del|tu|su) (?:usuari[oa]s?|persona|humano|cliente))"

SPANISH = Language(
    override=join_words(
        rf"(?:ignor[ae]|olvid[ae]) {_ALL}{_INSTRUCTIONS} que (?:te|le|has|ha|se te)",
        r"(?:ignor[ae](?:r|n)?|olvid[ae](?:te)?(?: de)?|omit[ae]|desestim[ae]|descart[ae]|no "
        r"(?:sigas|siga|hagas caso (?:de|a)|haga caso (?:de|a)|obedezcas|obedezca))"
        rf" {_ALL}{_INSTRUCTIONS} {_EARLIER}",
        rf"(?:ignor[ae]|olvid[ae](?:te)?(?: de)?) {_ALL}{_EARLIER} {_INSTRUCTIONS}",
        rf"(?:ignor[ae]|olvid[ae](?:te)?(?: de)?) (?:todas )?(?:tus|sus) {_INSTRUCTIONS}",
        r"(?:ignor[ae]|olvid[ae]) todo lo (?:anterior|dicho|que (?:se )?(?:ha dicho|esta "
        r"arriba|precede|te (?:han|dijeron)))",
        rf"(?:las )?{_INSTRUCTIONS} {_EARLIER} (?:quedan|estan|son|ya no) (?:anuladas|"
        r"canceladas|invalidas|sin efecto|son validas|se aplican|aplican)",
    ),
    new_role=join_words(
        r"(?:a partir de ahora|desde ahora|de ahora en adelante) (?:tu )?(?:eres|debes|vas a|"
        r"actuaras|responderas|tienes que|seras|usted debe)",
        r"(?:ahora )?eres (?:ahora )?(?:un |una )?(?:ia |asistente |modelo )?(?:sin "
        r"(?:restricciones|limites|filtros|censura)|en modo (?:desarrollador|administrador))",
        r"tu (?:nueva|verdadera|unica|autentica) (?:tarea|mision|instruccion|funcion) (?:es|"
        r"consiste)",
        r"nuevas instrucciones del sistema[^a-z0-9]{0,3}:[^a-z0-9]{0,3}[a-z0-9]+",
    ),
    secrecy=join_words(
        r"(?:no|nunca) (?:menciones|mencione|reveles|revele) (?:estas|las|esta) "
        r"(?:instruccion(?:es)?|"
        r"indicaciones|ordenes)|no se lo (?:digas|diga|cuentes) a nadie",
        r"(?:no|nunca|jamas) (?:se )?(?:le |lo |la |les )?(?:digas|diga|cuentes|cuente|"
        r"reveles|revele|menciones|mencione|informes|informe|muestres|muestre|avises|avise|"
        rf"comuniques|notifiques|notifique|expliques)(?: [a-z]+){{0,5}}? {_USER}",
        rf"{_USER} no (?:debe|debera|puede|tiene que) (?:saber|ver|enterarse|darse cuenta|"
        r"notar|ser informad[oa])",
        r"(?:oculta|oculte|esconde|mantenlo en secreto|manten(?:ga)? (?:esto|ello) en secreto)"
        rf"(?: esto| ello| lo| esta [a-z]+)? {_USER}",
    ),
    demand=join_words(
        r"(?:muestra|muestre|revela|revele|imprime|imprima|repite|repita|dame|envia|envie|escribe|"
        r"escriba|dime)(?: me| nos| el| la| los| las| todo| todas| contenido| de){0,4} (?:tu|"
        r"tus|su|"
        r"sus) (?:prompt|instrucciones|mensaje del sistema|reglas|indicaciones|conversacion)",
    ),
    address=join_words(
        r"si (?:tu )?eres una? (?:ia|inteligencia artificial|modelo de lenguaje|asistente|"
        r"agente|llm)",
        r"(?:nota|mensaje|instrucciones|atencion|aviso|importante) (?:para|a) (?:la |el |los |"
        r"las |cualquier |todo )?(?:ia|asistentes?|agentes?|modelos?|llm|inteligencia "
        r"artificial)",
    ),
    hush=join_words(
        r"sin (?:decir(?:le|selo)?|informar|avisar|notificar|preguntar(?:le)?|mencionar(?:lo|"
        r"selo)?)(?: nada)? (?:al|a la|a los) (?:usuari[oa]s?|persona)",
        r"(?:en secreto|secretamente|silenciosamente|discretamente|en segundo plano|a escondidas)",
    ),
    sensitive=join_words(
        r"(?:toda la|todo el|la|el) (?:conversacion(?: completa)?|historial(?: completo)?(?: "
        r"de (?:la )?(?:conversacion|chat))?|mensaje del sistema|prompt del sistema)",
        r"claves? (?:privadas?|secretas?|ssh)",
        r"(?:todas las|todos los) (?:variables de entorno|contrasenas|credenciales|secretos|"
        r"correos|contactos)",
    ),
    order=join_words(
        r"(?:debes|debe|tienes que|tiene que|es (?:obligatorio|imprescindible|fundamental|"
        r"necesario)|hay que)",
        r"antes de (?:usar|utilizar|llamar|ejecutar|invocar)",
        r"(?:importante|atencion|obligatorio|primero|siempre|por favor)",
        r"(?:lee|lea|llama|llame|envia|envie|anade|agrega|ejecuta|ejecute|copia|copie|incluye|"
        r"incluya)",
    ),
    take=join_words(
        r"(?:lee|lea|leer|abre|abra|obten|obtenga|copia|copie|contenido|todo|toda|completo|"
        r"completa|integro|el valor)",
    ),
    send=join_words(
        r"(?:envia(?:lo|la)?|envie|enviar|pasa(?:lo|la)?|pase|pasar|transmite|anade|agrega|"
        r"incluye(?:lo|la)?|incluya|incluir|inserta|pon(?:lo|la)?|coloca|adjunta|publica|sube)",
    ),
    what=join_words(
        r"(?:lo|la|los|su|sus|contenido|todo|resultado|texto|valor|archivo|esto|enviala|"
        r"envialo|pasalo|pasala|incluyelo)",
    ),
    channel=join_words(
        r"(?:parametro|argumento|campo|direccion|servidor|url|webhook|respuesta|pull request|"
        r"https?)",
    ),
)
