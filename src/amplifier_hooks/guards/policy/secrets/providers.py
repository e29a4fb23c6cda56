"""The forms of tokens that providers document, and names of those whose tokens have none."""

from __future__ import annotations

_WORD = r"[A-Za-z0-9]"
_URL_SAFE = r"[A-Za-z0-9_\-]"
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
