"""French."""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.languages.language import Language, join_words

_ALL = r"(?:(?:toutes?|tous|les|tes|vos|ces|des|l|ensemble|de|la|le|totalite) ){0,4}"
_INSTRUCTIONS = r"(?:instructions?|consignes?|directives?|ordres|regles|invites?|prompts?)"
_EARLIER = (
    r"(?:precedentes?|anterieure?s?|ci dessus|initiales?|d origine|du systeme|systeme|donnees "
    r"(?:avant|plus haut|precedemment)|prealables?|de securite|recues)"
)
_USER = (
    r"(?:l utilisateur|l utilisatrice|aux? utilisateurs?|la personne|l humain|l usager|ton "
    r"utilisateur|votre utilisateur)"
)

FRENCH = Language(
    override=join_words(
        rf"(?:ignor(?:e|ez)|oubli(?:e|ez)) {_ALL}{_INSTRUCTIONS} (?:que (?:tu|vous|l on)|de (?:ton|"
        r"votre|tes|vos) (?:developpeurs?|createurs?|operateurs?))",
        r"(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|neglig(?:e|ez)|ne (?:tiens|tenez) (?:pas |plus "
        r"|aucun )?compte|fais abstraction|faites abstraction)(?: de| "
        rf"des)? {_ALL}{_INSTRUCTIONS} {_EARLIER}",
        rf"(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)) {_ALL}{_EARLIER} {_INSTRUCTIONS}",
        rf"(?:ignor(?:e|ez)|oubli(?:e|ez)) (?:toutes |tous )?(?:tes|vos) {_INSTRUCTIONS}",
        r"(?:ignor(?:e|ez)|oubli(?:e|ez)) tout ce qui (?:precede|a ete (?:dit|ecrit)|est "
        r"(?:ecrit )?(?:au dessus|plus haut))",
        rf"ne (?:suis|suivez|respecte|respectez) (?:pas|plus) {_ALL}{_INSTRUCTIONS} {_EARLIER}",
    ),
    new_role=join_words(
        r"(?:a partir de maintenant|desormais|dorenavant) (?:tu|vous) (?:es|etes|dois|devez|"
        r"vas|allez|agis|reponds|repondrez)",
        r"(?:tu es|vous etes) (?:maintenant|desormais) (?:en |un |une )*(?:mode (?:developpeur|"
        r"debridee?|administrateur)|sans (?:restrictions?|filtre|limites?)|libre de|autre "
        r"(?:ia|assistant)|ia (?:sans|malveillante))",
        r"(?:ta|votre) (?:nouvelle|vraie|veritable|seule) (?:tache|mission|instruction|"
        r"consigne) (?:est|consiste)",
        r"nouvelles (?:instructions|consignes) (?:du |de "
        r")?systeme[^a-z0-9]{0,3}:[^a-z0-9]{0,3}[a-z0-9]+",
    ),
    secrecy=join_words(
        r"n en parle[sz]? a personne|ne (?:le |la )?(?:dis|dites) a personne",
        r"ne (?:le |la |les |lui |l |en )?(?:dis|dites|revele[sz]?|revelez|mentionne[sz]?|"
        r"mentionnez|montre[sz]?|parle[sz]?|divulgue[sz]?|informe[sz]?|informez|previens|"
        r"prevenez|signale[sz]?|avertis|avertissez)(?: [a-z]+)? (?:rien|pas|jamais|surtout "
        rf"pas)(?: [a-z]+){{0,5}}? (?:a |de cela a |ceci a |cela a )?{_USER}",
        rf"{_USER} ne (?:doit|devra|doivent) (?:pas|rien|jamais) (?:en |le |l )?(?:savoir|voir|"
        r"etre (?:informe|au courant|prevenu)|remarquer|apprendre)",
        rf"cache[rz]?(?: ceci| cela| le| la)? a {_USER}",
    ),
    demand=join_words(
        r"(?:affiche|affichez|montre|montrez|revele|revelez|donne|donnez|repete|repetez|envoie|"
        r"envoyez|imprime|imprimez|ecris|ecrivez)(?: moi| nous| le| la| les| tout| toutes| "
        r"contenu| "
        r"de){0,4} (?:ton|ta|tes|votre|vos) (?:prompt|invite|instructions|consignes|message "
        r"systeme|regles|conversation)",
    ),
    address=join_words(
        r"si (?:tu es|vous etes) une? (?:ia|intelligence artificielle|modele de langage|"
        r"assistant|agent|llm)",
        r"(?:note|message|instructions?|consignes?|attention|important) (?:a l attention |pour "
        r"|a |destinee?s? )(?:de |des |aux? |a |l |les |toute )*(?:ia|assistant|agents?|modele|"
        r"llm|intelligence artificielle)",
    ),
    hush=join_words(
        r"sans (?:en )?(?:informer|prevenir|avertir|demander|le dire|en parler)(?: a)? (?:l |a "
        r"l )?(?:utilisateur|personne)",
        r"(?:discretement|en secret|secretement|silencieusement|en arriere plan|a l insu)",
    ),
    sensitive=join_words(
        r"(?:toute|entiere|l integralite de|tout l|l) ?(?:la |l )?(?:conversation|"
        r"historique(?: de la conversation| du chat)?|invite systeme)",
        r"cles? (?:privees?|secretes?|ssh)",
        r"(?:toutes les|tous les) (?:variables d environnement|mots de passe|identifiants|"
        r"secrets|courriels|contacts)",
    ),
    order=join_words(
        r"(?:tu dois|vous devez|il faut|il est (?:imperatif|obligatoire|essentiel))",
        r"avant (?:d |de |toute )?(?:utiliser|appeler|utilisation|executer)",
        r"(?:important|attention|obligatoire|d abord|toujours|imperativement|veuillez)",
        r"(?:lis|lisez|appelle|appelez|envoie|envoyez|ajoute|ajoutez|execute|executez|copie|"
        r"copiez)",
    ),
    take=join_words(
        r"(?:lis|lire|lisez|ouvre|ouvrez|recupere|recuperez|copie|copiez|contenu|integralite|"
        r"tout|toute|entier|complet|la valeur)",
    ),
    send=join_words(
        r"(?:envoie|envoyez|envoyer|passe|passez|passer|transmets|transmettez|transmettre|"
        r"ajoute|ajoutez|inclus|incluez|inclure|insere|inserez|mets|mettez|joins|joignez|place|"
        r"placez|publie|publiez)",
    ),
    what=join_words(
        r"(?:le|la|les|son|sa|leurs?|contenu|tout|resultat|texte|valeur|fichier|cela)",
    ),
    channel=join_words(
        r"(?:parametre|argument|champ|adresse|serveur|url|webhook|reponse|pull request|https?)",
    ),
)
