"""Words by which tools, arguments and requests are understood: data only.

Each table is a class of words, in the languages that people write requests and name tools in. A
stem with a star stands for all words that begin with it.
"""

from __future__ import annotations

from functools import lru_cache

from amplifier_hooks.guards.provenance.stems import Stems, split_names

# What a tool does, by the words of its name.

READING = Stems(
    "get gets read reads list lists search searches find finds fetch fetches lookup look query "
    "show "
    "view describe count check browse open load retrieve inspect stat status history info details "
    "overview report summary summarize summarise lookup explain detect analyze analyse compare "
    "track trace locate calculate compute convert translate validate verify preview peek watch "
    "monitor scan "
    "download glob grep ls cat head tail tree diff log logs responses availability balance "
    "forecast weather directions whoami ping resolve extract parse transcribe recommend suggest "
    "lesen lies suchen such* finden abrufen anzeigen auflisten holen pruefen prüfen zeigen hole "
    "leer lee buscar busca listar consultar ver obtener mostrar encontrar revisar ultimos "
    "anteriores "
    "lire chercher lister consulter obtenir afficher trouver voir rechercher "
    "leggere cercare elencare mostrare trovare ottenere consultare "
    "ler procurar consultar obter mostrar lezen zoeken tonen ophalen vinden laes søg sok hent "
    "czytaj szukaj pokaz lista oku ara listele goster "
)
"""Verbs, and nouns that stand for them, of tools that only look."""

ACTS: dict[str, Stems] = {
    "send": Stems(
        "send sends reply respond answer forward post posts publish notify message email mail sms "
        "tweet broadcast submit comment text announce dispatch dm upload push deliver contact call "
        "senden sende schick* antwort* weiterleiten veroeffentlich* enviar envia responder "
        "reenviar "
        "publicar envoyer repondre répondre transferer publier inviare rispondere inoltrare "
        "verzenden stuur beantwoorden mandar wyslij gonder "
    ),
    "pay": Stems(
        "pay pays payment transfer refund buy purchase order reserve book checkout charge donate "
        "payout wire withdraw deposit subscribe invest sell bid transaction transactions rent "
        "zahl* bezahl* ueberweis* überweis* kauf* bestell* buch* erstatt* reservier* "
        "pagar paga transferir comprar compra pedir reservar reembols* payer acheter virer "
        "virement "
        "commander rembours* reserver réserver pagare comprare ordinare prenotare acquista* "
        "betaal* "
        "koop bestel* boek* overmaken kup zaplac satin odeme "
    ),
    "share": Stems(
        "share grant invite permit authorize authorise promote collaborator collaborators "
        "role roles permission permissions member members owner access  unlock allow "
        "register whitelist delegate impersonate publicize expose "
        "teilen freigeb* einlad* berecht* zuweis* compartir invitar otorgar conceder asignar "
        "partager inviter accorder attribuer autoriser condividere invitare assegnare delen "
        "uitnodig* toewijz* compartilhar convidar "
    ),
    "delete": Stems(
        "delete deletes remove cancel drop purge erase revoke terminate unsubscribe wipe "
        "discard kick ban disable deactivate trash destroy void "
        "uninstall reset evict unpublish truncate unshare "
        "loesch* lösch* entfern* stornier* kuendig* absag* eliminar borrar cancelar quitar anular "
        "supprim* annul* retirer effacer eliminare cancellare rimuovere verwijder* annuleer* "
        "wissen "
        "apagar remover excluir usun sil "
    ),
    "change": Stems(
        "close archive reject decline merge clear expire block register enroll create creates "
        "add adds update updates edit edits write writes save set sets rename move "
        "schedule reschedule append insert modify change changes mark put patch upsert store "
        "import export register replace apply copy make start stop restart run execute exec invoke "
        "trigger launch deploy approve confirm accept adjust increase decrease raise lower attach "
        "link unlink label tag pin star complete finish resolve reopen escalate record log file "
        "configure toggle activate switch turn control lock print generate draft compose build "
        "release rollback restore install commit fork rotate override waive extend renew issue "
        "enter amend correct fill swap pause resume mute unmute reassign arm disarm "
        "prescribe dose admit discharge refill flag sign enable assign book request react vote "
        "anlegen erstell* aender* änder* eintrag* schreib* speicher* setz* hinzufueg* verschieb* "
        "crear anadir añadir actualizar modificar cambiar guardar escribir registrar agregar mover "
        "creer créer ajouter modifier changer enregistrer ecrire écrire mettre definir "
        "creare aggiungere aggiornare modificare salvare scrivere impostare maken toevoegen "
        "wijzig* "
        "opslaan schrijven criar adicionar atualizar alterar salvar escrever utworz dodaj zmien "
        "ekle guncelle "
    ),
}
"""Classes of acts, the strict ones first; `change` is what stays in a store of the person."""

STRICT = frozenset({"send", "pay", "share", "delete"})

INTERNAL = Stems(
    "todo todowrite todoread task delegate agent agents subagent spawn plan exitplanmode "
    "enterplanmode askuserquestion ask think thought thinking skill toolsearch killshell "
    "bashoutput "
    "taskoutput wait sleep memo finish submitplan updateplan"
)
"""Tools of agents themselves: they start no act outside of the session."""

# Where a result comes from, by the words of the tool's name.

OPEN = Stems(
    "web url urls http https fetch webfetch websearch browse browser internet page pages webpage "
    "site website crawl scrape google bing duckduckgo news rss feed feeds wiki wikipedia download "
    "online navigate tavily firecrawl seite seiten webseite webseiten pagina página sitio pagine "
)
MAIL = Stems(
    "mail mails email emails inbox mailbox issue issues comment comments review reviews ticket "
    "tickets feedback letter letters form forms survey response responses submission submissions "
    "application applications request requests complaint complaints post posts pr prs pull "
    "discussion discussions message_board guestbook voicemail sms fax spam "
    "nachricht nachrichten brief briefe posteingang kommentar* bewertung* anfrage* "
    "correo correos mensaje mensajes comentario* resena* reseña* solicitud* courriel courriels "
    "message messages avis lettre commentaire* messaggi posta recensioni berichten "
)
CHAT = Stems(
    "channel channels chat chats thread threads slack dm dms conversation conversations room_chat "
    "discord teams irc kanal canal messages"
)

# Arguments, and fields of results.

DESTINATION_KEYS = Stems(
    "to cc bcc recipient recipients participant participants attendee attendees email emails mail "
    "url uri link href host hostname domain endpoint webhook callback channel channels iban "
    "account "
    "accounts bic swift user users username login phone mobile tel number_to remote with assignee "
    "assignees invitee invitees member address addresses destination payee beneficiary receiver "
    "target_email forward_to reply_to contact contacts guest_email server wallet "
    "an empfaenger empfänger konto kontonummer telefon destinatario destinatarios cuenta telefono "
    "teléfono correo destinataire destinataires compte telephone téléphone "
)
"""Who or what receives something."""

CONTENT_KEYS = Stems(
    "body text message content contents description note notes comment comments subject title "
    "summary purpose memo reason caption markdown html data payload remark remarks details answer "
    "question prompt instructions query post caption agenda headline bio about feedback "
    "nachricht inhalt betreff beschreibung bemerkung notiz verwendungszweck grund "
    "mensaje texto asunto contenido descripcion descripción nota motivo contenu objet message "
    "motif "
    "testo oggetto contenuto descrizione "
)
"""Texts that somebody else reads."""

PROSE_KEYS = Stems(
    "body text content contents description note notes message messages comment remark remarks "
    "review reviews title subject summary details detail snippet stdout stderr output instructions "
    "reason memo purpose bio about feedback answer question abstract readme excerpt caption "
    "markdown html transcript log diff patch error warning agenda headline preview body_text "
    "nachricht inhalt betreff beschreibung bemerkung bemerkungen notiz notizen text grund "
    "mensaje texto asunto contenido descripcion descripción nota notas observaciones comentario* "
    "contenu objet remarque remarques avis testo oggetto contenuto descrizione note "
)
"""Fields that are prose, however short they are."""

SENDER_KEYS = Stems(
    "from sender author user reporter owner_email customer customer_email creator login username "
    "requester requested_by posted_by by name email phone reply_to cc to recipients von absender "
    "de "
    "remitente expediteur expéditeur mittente autor auteur verfasser"
)
"""Fields of what others wrote that say who they are, in words that they chose."""

KEY_KEYS = Stems(
    "id ids uid uuid key number no nr ref reference sku isbn code card booking iid pull_number "
    "issue_number index row version sha hash commit nummer numero número kennung"
)
"""Keys are given by the system that keeps the record."""

TARGET_KEYS = Stems(
    "id ids uid uuid key keys number file files filename path paths event hotel restaurant product "
    "item items attachment attachments booking order invoice task ticket issue document doc record "
    "folder branch repo repository project customer patient student employee card device name sku "
    "flight room table appointment subscription policy case datei pfad artikel producto archivo "
    "producto_id schueler_id fichier produit prodotto file_id"
)
"""What an act is about."""

AMOUNT_KEYS = Stems(
    "amount price quantity qty total sum limit units count value budget rate discount dose dosage "
    "percent percentage salary betrag menge anzahl preis cantidad importe precio monto montant "
    "quantite quantité prix importo quantita hours days points credits"
)
RIGHT_KEYS = Stems(
    "role roles permission permissions right rights scope scopes access visibility public private "
    "admin is_admin privilege privileges level group groups policy rolle recht rol permiso droit"
)
SECRET_KEYS = Stems(
    "password passwd pwd passphrase pin token secret api_key apikey credential credentials "
    "kennwort "
    "passwort contrasena contraseña clave motdepasse parola"
)
WEAK_RIGHTS = split_names(
    "r read reader view viewer viewing readonly read-only read_only guest private restricted none "
    "false 0 commenter lesen lecture lectura"
)
"""Rights that nobody gains much with."""

# What a person asks for.

REQUESTED: dict[str, Stems] = {
    "send": Stems(
        "loop brief relay pass hand circulate distribute return give fax page alert flag chase "
        "nudge follow introduce offer propose acknowledge cc say get fill send leave reply "
        "respond answer forward post publish notify message email mail sms text "
        "tweet "
        "broadcast submit comment announce dispatch upload push deliver inform tell remind thank "
        "write draft contact let ask ping invite congratulate confirm report share open "
        "greet apologise apologize warn update request reach shoot drop raise "
        "sende senden schick* antwort* beantwort* weiterleit* leite veröffentlich* teile mitteil* "
        "schreib* benachrichtig* informier* sag frag* poste melde lade einlad* verschick* "
        "envía envia enviar enviale envíale envíar manda mandar responde responder contesta "
        "reenvía "
        "reenviar publica avisa avisar escribe escribir informa dile notifica comenta invita "
        "envoie envoyer envoyez réponds répondre repondre transfère transférer publie publier "
        "écris "
        "écrire préviens prévenir informe informer dis poste invite "
        "invia inviare manda rispondi rispondere inoltra scrivi avvisa informa pubblica invita "
        "stuur sturen beantwoord* antwoord mail schrijf meld informeer plaats deel "
        "envie responda encaminhe escreva avise publique poste "
        "发送 发 回复 转发 通知 告诉 发布 写 邀请 送信 送って 返信 転送 投稿 伝えて 知らせて 返事"
    ),
    "pay": Stems(
        "top cover fund deposit withdraw claim issue put place grab pick add pay transfer refund "
        "buy purchase order reserve book checkout charge donate wire "
        "settle reimburse subscribe rent get spend sell invest make schedule send reorder renew "
        "zahl* bezahl* überweis* kauf* bestell* buch* erstatt* reservier* begleich* "
        "paga pagar págale transfiere transferir compra comprar pide pedir reserva reservar "
        "reembolsa reembolsar paie payer payez achète acheter commande commander réserve réserver "
        "rembourse rembourser vire virer paga pagare compra comprare ordina ordinare prenota "
        "prenotare rimborsa betaal* koop* bestel* boek* reserveer* pague compre reserve "
        "支付 付款 转账 购买 买 预订 订 退款 払って 支払 購入 予約 注文 買って 振り込"
    ),
    "share": Stems(
        "share grant invite permit authorize authorise promote assign add give enable unlock allow "
        "register enroll make let set onboard join delegate hand "
        "teil* freigeb* gib einlad* lade berechtig* zuweis* weise füge hinzufüg* "
        "comparte compartir invita invitar da dar otorga asigna asignar añade agrega "
        "partage partager invite inviter donne donner accorde attribue ajoute ajouter "
        "condividi condividere invita invitare assegna aggiungi deel delen geef nodig "
        "compartilhe convide adicione dê 分享 共享 邀请 添加 授权 共有 招待 追加"
    ),
    "delete": Stems(
        "move replace swap switch reschedule rename merge deduplicate empty end stop withdraw "
        "revert take delete remove cancel drop purge erase clear clean revoke terminate "
        "unsubscribe wipe "
        "discard "
        "kick ban archive disable deactivate trash destroy close reject decline void block "
        "uninstall "
        "prune undo rid strip retire dismiss refactor tidy "
        "lösch* entfern* stornier* kündig* absag* sag schließ* räum* bereinig* "
        "elimina eliminar borra borrar cancela cancelar quita quitar anula anular cierra limpia "
        "supprim* annul* retire retirer efface effacer ferme nettoie nettoyer "
        "cancella cancellare elimina rimuovi annulla chiudi verwijder* annuleer* wis sluit ruim "
        "apague remova exclua cancele 删除 取消 移除 清理 关闭 削除 キャンセル 消して 取り消"
    ),
    "change": Stems(
        "create add update edit write save set rename move schedule reschedule append insert "
        "modify "
        "change mark put store import export replace apply copy make start stop restart run "
        "execute "
        "trigger launch deploy approve confirm accept adjust increase decrease raise lower attach "
        "link label tag pin complete finish resolve reopen escalate record log file configure "
        "toggle "
        "activate switch turn lock print generate draft compose build release rollback restore "
        "install commit fork rotate override extend renew issue fix implement refactor use upgrade "
        "bump migrate convert port test try follow do apply process handle enter fill prepare plan "
        "organize organise arrange note remember keep cancel help ensure continue set-up setup "
        "triage format lint optimize optimise improve simplify extract split merge rebase squash "
        "push pull publish document translate rewrite reword correct adapt extend support "
        "benchmark debug solve repair patch clone checkout download work go proceed "
        "sync catch sort assign register enroll admit prescribe refill block unblock reply bring "
        "trag* eintrag* erstell* änder* leg anleg* schreib* speicher* setz* füge verschieb* "
        "aktualisier* mach* erledig* korrigier* behebe reparier* baue plan* richte übersetz* "
        "stell* "
        "crea crear añade añadir agrega actualiza actualizar modifica cambia cambiar guarda "
        "guardar "
        "apunta registra registrar pon poner mueve haz hacer arregla corrige prepara programa "
        "crée créer ajoute ajouter modifie modifier change changer enregistre enregistrer mets "
        "mettre note corrige corriger fais faire prépare planifie déplace règle inscris "
        "crea creare aggiungi aggiorna modifica cambia salva metti correggi sposta fissa prepara "
        "maak voeg wijzig* zet bewaar plan verplaats werk pas regel noteer "
        "crie adicione atualize altere salve coloque corrija mude agende faça "
        "创建 添加 更新 修改 编辑 保存 设置 写 安排 改 修复 実行 作成 追加 更新 変更 保存 設定 "
        "直して 登録 入れて"
    ),
}
"""What a person says who wants an act of this class."""

SAME_NOUNS = tuple(
    map(
        split_names,
        (
            "issue ticket bug task todo card request",
            "event meeting appointment calendar visit slot booking reservation schedule",
            "contact contacts address number customer client person",
            "expense receipt bill invoice payment",
            "document doc file page note notes sheet",
            "song track playlist music",
            "product item article stock inventory",
        ),
    )
)
"""Names of one thing: a person says ticket where a tool says issue."""

NOUNS_TOO = split_names(
    "loop brief page alert flag return claim place top cover fund hand pass stop end fill offer "
    "answer reply forward post message email mail sms text comment push report share request "
    "update order book charge wire transfer refund purchase rent block drop cut access change "
    "changes mark file record log label tag pin switch lock print draft build release issue fix "
    "test plan note process support document work use set save import export link copy start stop "
    "run launch make help let open get invite schedule register close merge clean clear archive "
    "patch format sort reset move name upgrade download pull fork commit clone project record "
    "ping subscribe raise drop reach shoot enter go do try keep show contact confirm review split "
    "extract install setup reserve bid program programa nota compra reserva plan plane mail poste "
    "change note règle cancel registro order commande livre deel werk vire vote buch publish "
    "lower complete correct sync catch"
)
"""Words that are as often no verb: they count where a clause begins."""

LEADING = split_names(
    "please also then just kindly now next and or but so can could would will you i we want wanna "
    "like need to lets let's let go ahead me us should must finally first second afterwards after "
    "that if bitte und dann auch por favor y luego también puedes s'il vous plaît et puis peux tu "
    "pouvez per favore e poi puoi alsjeblieft en daarna kun je quickly simply hey hi hello ok "
    "okay agent claude there help id i'd thanks thx asap proceed is be it yes"
)
"""Words that may stand before the verb of a clause."""

QUESTION = split_names(
    "what which who whom whose when where why how is are was were am does do did has have had any "
    "explain summarize summarise summary describe list show tell review analyze analyse "
    "investigate read look check find search see compare count estimate identify give explore "
    "inspect examine diagnose report audit assess evaluate was welche welcher welches wer wann wo "
    "warum wie wieviel zeig zeige erklär erkläre lies suche fasse zähle ist sind gibt hat prüfe "
    "vergleiche nenne qué que cuál cuáles quién cuándo dónde cuánto cuántos cómo lee busca "
    "muestra resume explica dime cuenta compara revisa hay está quel quelle quels quelles qui "
    "quand où combien pourquoi est-ce lis cherche montre résume explique compare trouve "
    "liste che cosa quale quali chi quando dove quanto quanti come leggi cerca mostra riassumi "
    "cos dov com qu où "
    "spiega trova wat welke wie wanneer waar hoeveel hoe waarom lees zoek toon vat leg vind o "
    "qual quem onde leia procure mostre resuma explique"
)
"""Words that begin a request that only asks; also how its language is known."""

TOLD_KINDS: dict[str, Stems] = {
    "mail": Stems(
        "email emails mail mails e-mail correo correos courriel mailadress* emailadress* "
        "e-mailadress* électronique indirizzo 邮箱 メール"
    ),
    "link": Stems("link links url urls enlace enlaces lien liens collegamento 链接 リンク"),
    "account": Stems(
        "iban account bank details bill invoice konto rechnung cuenta factura compte facture conto "
        "fattura rekening 账户 口座"
    ),
    "phone": Stems("phone number mobile telefon* nummer teléfono número téléphone numéro"),
    "package": Stems("package packages dependency dependencies library requirements install setup"),
}
"""By which words a person says which kind of value a source holds."""


@lru_cache(maxsize=4096)
def is_plain_word(word: str) -> bool:
    """Whether a word says nothing of whom or what a request is about."""
    return len(word) < 3 or word in _PLAIN


_PLAIN = split_names(
    "the and for with from that this these those into about what which who when where why how can "
    "could would should will please tell show give read find list look look check all any some "
    "new last next first week day month year today tomorrow yesterday morning evening time date "
    "name names mail mails email emails message messages inbox file files note notes page pages "
    "web site issue issues ticket tickets comment comments review reviews task tasks channel chat "
    "calendar event events meeting meetings appointment contact contacts user users account "
    "accounts booking bookings order orders invoice invoices bill bills product products item "
    "items hotel hotels customer customers team people person there here their them they his her "
    "its our your you mine send sent reply answer write create add update delete pay book buy "
    "share invite open close make use using test tests run code repo project function functions "
    "error errors line lines number not but are was were has have had does did get got out over "
    "under than then also just only der die das und mit von für ein eine einen den dem des bei "
    "aus auf nach vor ist sind alle neue neuen heute morgen gestern el la los las un una de del "
    "con para por que qué hoy mañana le les des une avec pour dans sur est sont aujourd'hui il lo "
    "gli con per di da het een van met voor com net org www http https gmail example info support "
    "admin service summarize summarise summary money address link links website"
)
