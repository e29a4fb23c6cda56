"""The shapes of secrets, as RE2 patterns: tokens by their own form, guesses by what is beside them.

A named group marks the part to hide; without one, the whole match is hidden. Tokens, and only
these, count in what a tool is about to write or run. What a guess finds is checked once more.
"""

from __future__ import annotations

import re

BOUNDARY = r"(?:^|[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*m)"
"""What may stand before a word: not a letter, unless that belongs to an escape."""

_WORD = r"[A-Za-z0-9]"
_URL_SAFE = r"[A-Za-z0-9_\-]"
_BASE64 = r"[A-Za-z0-9+/]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

FORMS: tuple[str, ...] = (
    r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    r"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}",
    r"p8e-[a-z0-9]{32}\b",
    r"aio_[A-Za-z0-9]{28}\b",
    rf"pat{_WORD}{{14}}\.[a-f0-9]{{64}}",
    r"LTAI[A-Za-z0-9]{12,20}\b",
    rf"AKCp{_WORD}{{69}}|cmVmd{_WORD}{{59}}",
    r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9\-]{10,32}\."
    r"[a-z0-9+/_=\-]{30,120}",
    r"b_[a-z0-9=_\-]{44}\b",
    rf"ATBB{_WORD}{{32}}|ATCTT3[A-Za-z0-9_\-=]{{60,}}",
    r"bkua_[a-f0-9]{40}|bkaj_[A-Za-z0-9_\-]{30,}",
    rf"CCIPAT_[A-Za-z0-9_\-]{{20,}}|CFPAT-{_URL_SAFE}{{43}}",
    rf"4b1d{_WORD}{{38}}\b",
    r"(?i:CLOJARS_)[a-z0-9]{60}",
    r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}",
    rf"cio{_WORD}{{32}}\b|ddp_{_WORD}{{36}}\b",
    r"dnkey-[a-z0-9=_\-]{26}-[a-z0-9=_\-]{52}",
    r"duffel_(?:test|live)_[A-Za-z0-9_\-=]{43}",
    r"dt0[a-z]\d{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}",
    r"EZ[AT]K[A-Za-z0-9]{54}",
    r"EAA[A-Za-z0-9]{90,}|IGQV[A-Za-z0-9_\-]{80,}|IGAA[A-Za-z0-9_\-]{80,}",
    r"FLW(?:PUBK|SECK)(?:_TEST)?-[a-zA-Z0-9]{32}-X|FLWSECK_TEST-?[a-zA-Z0-9]{12}\b",
    rf"fo1_{_URL_SAFE}{{43}}|fm[12][ar]?_[A-Za-z0-9+/]{{80,}}={{0,3}}",
    r"fio-u-[A-Za-z0-9\-_=]{64}",
    rf"GR1348941{_URL_SAFE}{{20}}|glffct-{_URL_SAFE}{{20,}}|_gitlab_session=[0-9a-z]{{32}}",
    r"live_[A-Za-z0-9\-_=]{40}\b|(?:live|test)_[a-f0-9]{35}\b|(?:test|live)_pub_[a-f0-9]{31}\b",
    r"eyJrIjoi[A-Za-z0-9]{70,400}={0,3}",
    r"(?:pat|sat)\.[A-Za-z0-9_\-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
    rf"HRKU-AA{_URL_SAFE}{{58}}|HRKU-{_UUID}",
    rf"pat-(?:na|eu)\d-{_UUID}",
    r"ico-[A-Za-z0-9]{32}\b",
    r"s-s4t2(?:ud|af)-[a-f0-9]{64}",
    r"pubkey-[a-f0-9]{32}\b",
    r"[ps]k\.[a-zA-Z0-9]{60,}\.[a-zA-Z0-9_\-]{22}",
    r"NR(?:JS|II|AA|BR|IQ)-[A-Za-z0-9\-]{19,}",
    r"API-[A-Z0-9]{25,27}\b",
    r"sha256~[A-Za-z0-9_\-]{43}",
    rf"access-(?:sandbox|development|production)-{_UUID}",
    r"pnu_[a-z0-9A-Z]{36}|pnb_[a-zA-Z0-9]{36}",
    r"pul-[a-f0-9]{40}",
    r"rdme_[a-z0-9]{70}",
    rf"tk-us-{_URL_SAFE}{{40,}}",
    r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}",
    r"shippo_(?:live|test)_[a-fA-F0-9]{40}|shp(?:tka|ua)_[a-fA-F0-9]{32}",
    rf"sq0(?:atp|csp|idp|i[a-z]p)-{_URL_SAFE}{{22,43}}|"
    rf"EAAA{_URL_SAFE}{{56,}}|sq[upa]_[a-f0-9]{{40}}",
    r"A{18,22}[A-Za-z0-9%]{60,100}",
    r"tfp_[A-Za-z0-9\-_.=]{40,}",
    rf"vc[kpiar]_{_WORD}{{24,}}",
    rf"AQVN{_URL_SAFE}{{35,38}}|"
    rf"t1\.[A-Za-z0-9_\-]+={{0,2}}\.[A-Za-z0-9_\-]{{86}}={{0,2}}|YC{_URL_SAFE}{{38}}\b",
    r"sl\.(?:u\.)?[A-Za-z0-9_\-=]{60,}",
    rf"fw_{_WORD}{{22,}}|tgp_v1_{_URL_SAFE}{{40,}}|pcsk_[A-Za-z0-9_]{{50,}}|"
    rf"tvly-(?:dev-|prod-)?{_WORD}{{20,}}",
    r"fc-[a-f0-9]{32}\b|jina_[a-f0-9A-Za-z_\-]{50,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    rf"[ps]k-lf-{_UUID}|nvapi-{_URL_SAFE}{{60,}}|pa-{_URL_SAFE}{{40,}}",
    r"sk_[a-f0-9]{48}\b|sbp_[a-f0-9]{40}\b|sb_(?:secret|publishable)_[A-Za-z0-9_\-]{20,}",
    rf"ph[cxs]_{_WORD}{{40,}}|re_{_WORD}{{8}}_{_WORD}{{20,}}|"
    rf"nf[pcou]_{_WORD}{{36,}}|rnd_{_WORD}{{28,}}",
    rf"rpa_{_WORD}{{40,}}|apify_api_{_WORD}{{30,}}|tss_{_WORD}{{30,}}|SWMTKN-1-[a-z0-9\-]{{60,}}",
    rf"AAAA{_URL_SAFE}{{7}}:{_URL_SAFE}{{130,}}|BBFF-{_WORD}{{30}}|PMAT-{_WORD}{{26}}",
    r"v\^1\.1#[A-Za-z0-9#^+/=]{60,}",
    rf"api_(?:live|sandbox)(?:_us|_ca)?\.{_URL_SAFE}{{10,}}|"
    rf"persona_(?:production|sandbox)_[a-z0-9\-]{{36}}",
    rf"rzp_(?:live|test)_{_WORD}{{14,}}|pk_{_WORD}{{34}}\b|pk_live_{_WORD}{{20,}}|(?:sk|rk)_prod_{_WORD}{{20,}}",
    rf"(?:sec|sub|pub)-c-{_UUID}|sec-c-[A-Za-z0-9]{{40,}}",
    r"SCW[A-Z0-9]{17}\b|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}",
    rf"tskey-(?:api|auth|client|scim|webhook)-{_WORD}+-{_WORD}{{20,}}",
    rf"(?:sdk|api|mob)-{_UUID}|waka_{_UUID}",
    r"u[rm]\d{6,}-[a-f0-9]{20,}|m\d{6,}-[a-f0-9]{20,}",
    rf"u\+{_URL_SAFE}{{18}}\b|endr\+[A-Za-z0-9\-]{{16}}",
    rf"testsk_{_WORD}{{20,}}|wk_(?:live|test)_{_WORD}{{20,}}|ak_live_{_WORD}{{20,}}",
    rf"oauth2?_(?:access|refresh)_{_URL_SAFE}{{30,}}|gho_{_WORD}{{36}}|figoh_{_URL_SAFE}{{30,}}",
    rf"dckr_oat_{_URL_SAFE}{{20,}}|do_[a-f0-9]{{64}}\b|zpka_[a-z0-9_]{{30,}}|ASIA[A-Z2-7]{{16}}\b",
    r"https://[a-z0-9.\-]{1,60}webhook\.office\.com/webhookb2/[A-Za-z0-9@/\-]{60,}",
    r"https://hooks\.zapier\.com/hooks/catch/[A-Za-z0-9/]{12,}",
)
"""Each as an expression; what they have in common is that no ordinary word begins like them."""

MARKED_FORMS: tuple[str, ...] = (
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}",
    r"[a-f0-9]{32}-us\d{1,2}\b",
    rf"{_WORD}{{6}}_{_WORD}{{29}}_mmk",
    r"[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}\b",
)
"""Those that only a mark in the middle or at the end tells from other words."""

_PROVIDERS = (
    "abuseipdb adafruit adobe airtable alchemy algolia alibaba amplitude appcues appsflyer "
    "artifactory asana atlassian auth0 authy aws axiom azure beamer bitbucket bitfinex bitly "
    "bittrex blockcypher braintree branch browserstack buildkite bugsnag calendly checkmarx "
    "circleci clearbit clickup cloudant cloudflare cloudinary codacy codeclimate codecov "
    "cohere coinbase confluent contentful coveralls crowdin customer\\.?io cypress datadog "
    "deepgram deepl deepseek delighted digitalocean discord discourse disqus docusign "
    "dotdigital drone droneci dropbox duffel dynatrace easypost elastic etherscan etsy "
    "eventbrite facebook fastly figma finicity finnhub firebase flickr flutterwave foursquare "
    "frameio freshbooks freshdesk fullstory geocod getresponse giphy gitbook gitea github "
    "gitlab gitter gocardless google gumroad harness helpscout heroku hubspot hunter infura "
    "instagram intercom ipinfo jfrog jira jotform jumpcloud keen klaviyo kraken kucoin "
    "launchdarkly linear linkedin litmus lob loggly logzio looker mailchimp mailerlite "
    "mailgun mailjet mandrill mapbox mapquest mattermost meraki messagebird microsoft mistral "
    "mixpanel monday moralis mux nasdaq netlify newrelic new[_-]?relic newsapi ngrok notion "
    "npm nytimes okta onesignal openai opencage openweather opsgenie optimizely pagerduty "
    "papertrail paypal pastebin pendo percy phrase pingdom pipedrive pinecone pivotal plaid "
    "plivo polygon postmark privateai prismic pubnub pulumi pusher quip rapidapi raygun "
    "razorpay readme recaptcha reddit replicate rollbar salesforce samsara sauce segment "
    "sendbird sendgrid sendinblue sentry shodan shopify shortcut sidekiq sinch slack "
    "smartsheet snyk sonar sonarqube spotify splunk square squarespace stabilityai statuspage "
    "stormglass strava stripe sumologic sumo supabase surge survey tatum telegram telnyx "
    "terraform textmagic todoist tomtom travis travisci trello twilio twitch twitter typeform "
    "unsplash uploadcare urlscan uservoice vault vercel vimeo virustotal vonage vultr "
    "wakatime weatherstack webex webflow wordpress workos wrike xero yandex yelp youtube "
    "zapier zeit zendesk zenserp zoho zoom zulip"
)
PROVIDER = r"(?:" + "|".join(_PROVIDERS.split()) + r")"
"""The names of providers, in small letters."""


def _build_token(body: str) -> str:
    """A token that must begin a word, as its beginning is too common elsewhere."""
    return f"{BOUNDARY}(?P<secret>{body})"


def _build_aws_secret() -> str:
    """Forty letters behind their name, or behind the access key that they belong to."""
    body = f"{_BASE64}{{40}}"
    end = r"(?:[^A-Za-z0-9/+=]|$)"
    named = (
        r"(?i:secret[_\-. ]?access[_\-. ]?key|aws[_\-. ]?secret[_\-. ]?key)(?:\\*[\"'])?"
        r"\s{0,5}(?::=|=>|[:=>,])?\s{0,5}(?:\\*[\"'])?"
    )
    paired = BOUNDARY + r"(?:AKIA|ASIA)[A-Z2-7]{16}(?:\\*[\"'])?\s{0,5}[,:;|\s]\s{0,5}(?:\\*[\"'])?"
    return f"{named}(?P<named>{body}){end}|{paired}(?P<paired>{body}){end}"


# What may stand between two lines of a key: line ends, escaped ones too, quotes, numbers of lines.
_GAP = r"(?:\s|\\+[nrt]|[\"'+>|#*,;\\→]|\b\d{1,5}[:|\t])"
_KEY_LINES = (
    r"(?:" + _GAP + r"*(?:Proc-Type|DEK-Info|Version|Comment|Subject|Encryption|Hash)"
    r":[^\r\n\\]*){0,4}"
    r"(?:" + _GAP + r"*[A-Za-z0-9+/=%]{16,})" + r"(?:" + _GAP + r"*[A-Za-z0-9+/=%]{4,})*"
)
_KEY_KIND = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?"
_KEY_END = r"-----END " + _KEY_KIND + r"-----"


def _build_private_key() -> str:
    """The whole key, or as much of its beginning as a limit has left."""
    start = r"-----BEGIN " + _KEY_KIND + r"-----"
    last = r"(?:" + _GAP + r"+[A-Za-z0-9+/=%]{1,3})?"  # too short to be told but by the end
    whole = start + _KEY_LINES + r"(?:" + last + _GAP + r"*" + _KEY_END + r")?"
    ssh2 = r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----" + _KEY_LINES
    putty = r"Private-Lines: \d{1,4}(?:\r?\n[A-Za-z0-9+/=]{16,})+(?:\r?\n[A-Za-z0-9+/=]{4,})?"
    return f"{whole}|{ssh2}|{putty}"


def _build_private_key_end() -> str:
    """What is left of a key whose beginning was cut off."""
    last = r"(?:[A-Za-z0-9+/]{1,76}={0,2}" + _GAP + r"+)?"
    return r"(?:[A-Za-z0-9+/]{40,}={0,2}" + _GAP + r"+)+" + last + _KEY_END


TOKENS: dict[str, str] = {
    "private-key": _build_private_key(),
    "private-key-end": _build_private_key_end(),
    "anthropic-key": rf"sk-ant-{_URL_SAFE}{{16,}}",
    "openrouter-key": rf"sk-or-{_URL_SAFE}{{16,}}",
    "openai-key": _build_token(
        rf"sk-(?:(?:proj|svcacct|admin|None)-{_URL_SAFE}{{20,}}|{_WORD}{{20,}})"
    ),
    "aws-access-key": _build_token(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    "aws-secret-key": _build_aws_secret(),
    "aws-bedrock-key": _build_token(r"ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    "github-token": rf"(?:gh[pousr]_{_WORD}{{36,}}|github_pat_[A-Za-z0-9_]{{22,}})",
    "gitlab-token": _build_token(
        rf"gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat|imt|oas)-{_URL_SAFE}{{20,}}(?:\.{_URL_SAFE}+)*"
    ),
    "slack-token": _build_token(
        r"(?:xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%\-]{10,}|xapp-\d-[A-Za-z0-9\-]{10,})"
    ),
    "slack-webhook": (
        r"https://hooks\.slack\.com/"
        r"(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9/_\-]{20,})"
    ),
    "discord-webhook": (
        r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_\-]{30,})"
    ),
    # The id of the bot in base64, a time, and a code.
    "discord-token": _build_token(
        rf"(?:[MNO]{_URL_SAFE}{{23,27}}\.{_URL_SAFE}{{6}}\.{_URL_SAFE}{{27,40}}|mfa\.{_URL_SAFE}{{80,90}})"
    ),
    "stripe-key": rf"(?:sk|rk)_(?:live|test)_{_WORD}{{16,}}|whsec_[A-Za-z0-9+/=]{{24,}}",
    "google-api-key": _build_token(rf"AIza{_URL_SAFE}{{35}}"),
    "google-oauth": _build_token(
        rf"(?:ya29\.[A-Za-z0-9_\-.]{{20,}}|GOCSPX-{_URL_SAFE}{{20,}}|1//0{_URL_SAFE}{{40,}})"
    ),
    "npm-token": _build_token(rf"npm_{_WORD}{{36,}}"),
    "pypi-token": rf"pypi-AgE{_URL_SAFE}{{40,}}",
    "rubygems-token": _build_token(r"rubygems_[a-f0-9]{48}"),
    "docker-token": _build_token(rf"dckr_(?:pat|oat)_{_URL_SAFE}{{20,}}"),
    "huggingface-token": _build_token(rf"(?:hf|api_org)_{_WORD}{{30,}}"),
    "groq-key": _build_token(rf"gsk_{_WORD}{{40,}}"),
    "xai-key": _build_token(rf"xai-{_WORD}{{60,}}"),
    "perplexity-key": _build_token(rf"pplx-{_WORD}{{40,}}"),
    "replicate-token": _build_token(rf"r8_{_WORD}{{36,}}"),
    "sendgrid-key": _build_token(rf"SG\.{_URL_SAFE}{{16,}}\.{_URL_SAFE}{{16,}}"),
    "twilio-key": _build_token(r"SK[0-9a-f]{32}\b"),
    "mailgun-key": _build_token(r"key-[0-9a-f]{32}\b"),
    "telegram-token": _build_token(rf"\d{{8,10}}:AA{_URL_SAFE}{{33}}"),
    "digitalocean-token": r"do[oprt]_v1_[a-f0-9]{64}",
    "shopify-token": _build_token(r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    "vault-token": _build_token(rf"hv[sbr]\.{_URL_SAFE}{{24,}}"),
    "terraform-token": rf"{_WORD}{{14}}\.(?P<secret>atlasv1\.{_URL_SAFE}{{60,}})",
    "databricks-token": _build_token(r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    "grafana-token": _build_token(r"(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    "sentry-token": _build_token(rf"sntry[su]_{_BASE64}{{40,}}[A-Za-z0-9+/=_]*"),
    "newrelic-key": _build_token(r"NRAK-[A-Z0-9]{27}"),
    "linear-key": _build_token(rf"lin_(?:api|oauth)_{_WORD}{{40,}}"),
    "notion-token": _build_token(rf"(?:ntn_{_WORD}{{40,}}|secret_{_WORD}{{43}}\b)"),
    "postman-key": _build_token(r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    "doppler-token": _build_token(r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._\-]{40,}"),
    "planetscale-token": _build_token(r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_\-.]{32,}"),
    "atlassian-token": _build_token(r"ATATT3[A-Za-z0-9_\-=]{60,}"),
    "figma-token": _build_token(rf"fig[dou]_{_URL_SAFE}{{40,}}"),
    "azure-account-key": (r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    "azure-sas": (r"[?&]sig=(?P<secret>(?:%2[BbFf]|[A-Za-z0-9+/]){43,}(?:%3[Dd]|=){1,2})"),
    "age-key": r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    "provider-token": _build_token("(?:" + "|".join(FORMS) + ")"),
    "marked-token": _build_token("(?:" + "|".join(MARKED_FORMS) + ")"),
    "jwt": r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?",
}


SECRET_WORD = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[_\-. ]?key|access[_\-. ]?key|"
    r"private[_\-. ]?key|secret[_\-. ]?key|encryption[_\-. ]?key|signing[_\-. ]?key|"
    r"account[_\-. ]?key|credentials?|connection[_\-. ]?string)"
)
_SUFFIX = (
    r"(?:[_\-]?[0-9]{1,3})?"
    r"(?:[_\-](?:prod|production|staging|stage|dev|test|live|old|new|base64|b64))?"
)
NAME = r"(?i:[A-Za-z0-9_\-.]*" + SECRET_WORD + _SUFFIX + r")"
"""The name of a setting that holds a secret."""

SECRET_KEY = r"^" + NAME + r"$"
"""Keys of nested data whose text is a secret whatever it looks like."""

_QUOTED = (
    r"\\+\"(?P<escaped>[^\"\\\r\n]{4,})|"
    r"[brufBRUF]{0,2}\"(?P<quoted>(?:[^\"\\\r\n]|\\.){4,})|"
    r"[brufBRUF]{0,2}'(?P<single>(?:[^'\\\r\n]|\\.){4,})"
)
_BARE = r"[^\s\"'\\,;&|<>=(){}$\[][^\s\"'\\,;&|<>]{3,}"
_FLAG = (
    r"--(?:[A-Za-z0-9]+[\-_]){0,4}(?i:password|passwd|passphrase|pass|pw|token|secret|"
    r"api[\-_]?key|access[\-_]?key|secret[\-_]?key|private[\-_]?key|credentials?)"
)
_TAKES_P = (
    r"(?:sshpass|mysql|mysqladmin|mysqldump|mysqlimport|mariadb|mariadb-dump|smbclient|"
    r"(?:docker|podman|helm registry|oras|skopeo|az|npm|heroku|cf|oc) login|htpasswd|xfreerdp)"
)
_TAKES_U = r"(?:curl|wget|http|https|xh|lftp|smbclient|rclone)"
_COOKIE_NAME = r"[A-Za-z0-9!#$%&*+\-.^_|~]+"

GUESSES: dict[str, str] = {
    "url-password": (r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/:@\"'<>]*:(?P<secret>[^\s/\"'<>]+)@"),
    "authorization": (
        r"(?i:authorization|x-api-key|x-auth-token|private-token)(?:\\*[\"'])?\s{0,5}[:=]\s{0,5}"
        r"(?:\\*[\"'])?(?:(?i:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,5})?"
        r"(?P<secret>[A-Za-z0-9_\-.~+/=:]{8,})"
    ),
    "bearer-token": r"(?i:bearer)\s{1,5}(?P<secret>[A-Za-z0-9_\-.~+/]{16,}={0,2})",
    "cookie": (
        r"(?i:set-cookie)2?(?:\\*[\"'])?\s{0,5}[:=]\s{0,5}(?:\\*[\"'])?" + _COOKIE_NAME + r"="
        r"(?P<set>[^\s;,\"'\\]{4,})|"
        r"\b(?i:cookie)(?:\\*[\"'])?\s{0,5}:\s{0,5}(?:\\*[\"'])?" + _COOKIE_NAME + r"="
        r"(?P<sent>[^\s;\"'\\]+(?:;[ \t]?[^\s;\"'\\]+)*)"
    ),
    "xml-element": (
        r"<(?:[A-Za-z0-9_\-]+:)?" + NAME + r"(?:\s[^<>]*)?>\s*"
        r"(?:<!\[CDATA\[(?P<cdata>[^\]]{4,})\]\]>|(?P<secret>[^<>\s][^<>]{3,}))\s*</"
    ),
    "netrc": (
        r"\b(?:machine\s+\S+\s+|default\s+)?login\s+[\w.@+\-]+\s+(?:account\s+\S+\s+)?"
        r"password\s+(?P<secret>\S{3,})|"
        r"\bmachine\s+\S+\s+password\s+(?P<nameless>\S{3,})"
    ),
    "command-password": (
        _FLAG + r"(?:=|\s{1,5})(?:" + _QUOTED + r"|(?P<bare>" + _BARE + r"))|"
        r"\b" + _TAKES_P + r"\s(?:[^\r\n|;&]*?\s)?-p\s{0,3}"
        r"(?:\"(?P<p_quoted>[^\"\r\n]{4,})|'(?P<p_single>[^'\r\n]{4,})|(?P<p_bare>" + _BARE + r"))|"
        r"\b" + _TAKES_U + r"\s(?:[^\r\n|;&]*?\s)?(?:-u|--user|--proxy-user|-a|--auth)"
        r"[\s=]{0,3}[\"']?[^\s:\"']+:(?P<user_password>[^\s\"']{3,})"
    ),
    "connection-string": (
        r"[;\"'=\s](?i:password|pwd)\s?=\s?(?P<secret>[^;\"'\s$<{(][^;\"'\s]{2,});"
    ),
    "docker-auth": r"\"(?:auth|identitytoken|registrytoken)\"\s{0,5}:\s{0,5}"
    r"\"(?P<secret>[A-Za-z0-9+/_\-.=]{8,})\"",
    "kubernetes-secret": (
        r"(?m:^kind: Secret[ \t]*\r?$)(?:\n(?:[^\-\n][^\n]*)?)*?\n(?:data|stringData):[ \t]*"
        r"(?P<yaml>(?:\r?\n[ \t]+[^\r\n]+)+)|"
        r"\"kind\"\s{0,5}:\s{0,5}\"Secret\"[^{}]*(?:\{[^{}]*\}[^{}]*)?"
        r"\"(?:data|stringData)\"\s{0,5}:\s{0,5}\{(?P<json>[^{}]{4,})\}"
    ),
    "kubernetes-data": (
        r"(?m:^(?:data|stringData):[ \t]*$)(?P<yaml>(?:\r?\n[ \t]+[^\r\n]+)+)\r?\nkind: Secret\b|"
        r"\"(?:data|stringData)\"\s{0,5}:\s{0,5}\{(?P<json>[^{}]{4,})\}\s*,\s*"
        r"(?:\"immutable\"\s{0,5}:\s{0,5}\w{4,5}\s*,\s*)?\"kind\"\s{0,5}:\s{0,5}\"Secret\""
    ),
    "env-line": (
        r"(?:(?m:^)[ \t]*|[\s\"'`;&|])(?:(?:export|set|setx|ENV|ARG|-e|--env)[ \t]+)?"
        r"[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|"
        r"PRIVATE_?KEY|SECRET_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY|CREDENTIALS?)[A-Z0-9_]*="
        r"(?:\"(?P<quoted>[^\"\r\n]{3,})\"|'(?P<single>[^'\r\n]{3,})'|"
        r"(?P<secret>[^\s\"'`$(){}<>;,\\][^\s\"'`();,\\]{2,}))(?:[\s\"'`;\\]|$)"
    ),
    "nuget-password": (
        r"<add\s+key=\"(?i:cleartextpassword|password)\"\s+value=\"(?P<secret>[^\"\r\n]{4,})\""
    ),
    "provider-key": (
        r"(?i:" + PROVIDER + r")[A-Za-z0-9_.\- ]{0,25}(?:\\*[\"'])?\]?\s{0,5}"
        r"(?::=|=>|[:=,(>])\s{0,5}(?:\\*[\"'`])?(?P<secret>[A-Za-z0-9][A-Za-z0-9_\-=+/.]{14,200})"
        r"(?:[\s\"'`\\;,)<]|$)"
    ),
    "random-token": r"[A-Za-z0-9_\-]{24,}",
    "key-value": (
        NAME
        + r"(?:\\*[\"'])?\]?\s{0,5}(?::=|=>|[:=])\s{0,5}(?:"
        + _QUOTED
        + r"|(?P<secret>"
        + _BARE
        + r"))"
    ),
}

_SIGN = re.compile(r"(?:\\*[\"'])?\]?\s{0,5}[:=]")
_NAME_AND_SIGN = re.compile(
    r"(?i:" + SECRET_WORD + _SUFFIX + r")(?:\\*[\"'])?\]?\s{0,5}(?::=|=>|[:=])$|^-[^=]*$"
)
_LONGEST_NAME = 80


def ends_in_name(text: str, start: int, end: int) -> bool:
    """Whether what stands there is, or ends in, the name of a setting whose value comes next."""
    sign = _SIGN.match(text, end)
    stop = sign.end() if sign else end
    return _NAME_AND_SIGN.search(text[max(start, stop - _LONGEST_NAME) : stop]) is not None
