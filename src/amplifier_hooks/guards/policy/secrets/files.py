"""Files that hold secrets, known by their names, and where those are common by what is in them.

The public half of a key, a certificate, and a template with placeholders are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from amplifier_hooks.guards.policy.guarded_paths import GuardedPaths, Hit
from amplifier_hooks.guards.policy.paths import expand_braces

_MOST_BYTES = 64 * 1024

_TYPED = "what was typed before, perhaps with a secret in it"
SECRET_FILES: Mapping[str, tuple[str, ...]] = {
    "settings of an environment": (
        ".env", ".env.*", ".env-*", ".env_*", "*.env", ".envrc", ".secrets",
        ".streamlit/secrets.toml", "/proc/*/environ", "/run/secrets/**", "/var/run/secrets/**",
    ),
    "a private key": (
        "id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}", "id_{rsa,dsa,ecdsa,ed25519}[._-]*",
        ".ssh/**", "ssh_host_*_key", "*.pem", "*.key", "*.p8", "*.ppk", "*.p12", "*.pfx",
        "*.pkcs12", "*.jks", "*.keystore", ".gnupg",
        ".gnupg/private-keys-v1.d/**", ".gnupg/secring.gpg",
        ".config/sops/age/keys.txt", "wallet.dat", ".ethereum/keystore/**",
        ".config/solana/id.json",
    ),
    "credentials of a cloud": (
        ".aws", ".aws/credentials", ".aws/{sso,cli}/cache/**",
        "application_default_credentials.json",
        "gcloud/{credentials.db,access_tokens.db,legacy_credentials/**}",
        ".azure/{accessTokens.json,msal_token_cache.*,service_principal_entries.*}",
        ".oci/{oci_api_key*,sessions/**}", ".kube/config", "kubeconfig", "*.kubeconfig",
        "/etc/kubernetes/admin.conf", "/etc/rancher/k3s/k3s.yaml", "doctl/config.yaml",
        ".terraform.d/credentials.tfrc.json", ".fly/config.yml", "hcloud/cli.toml", ".boto",
        ".s3cfg", "rclone/rclone.conf", ".pulumi/credentials.json", ".vault-token",
        ".databrickscfg", ".snowflake/{config,connections}.toml", ".cloudflared/*.json",
        ".wrangler/config/default.toml", "com.vercel.cli/auth.json", ".railway/config.json",
        "netlify/config.json", "configstore/firebase-tools.json", ".supabase/access-token",
        "credentials.json", "*service[-_]account*.json", "client_secret*.json",
    ),
    "a token": (
        ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials",
        ".config/git/credentials", ".gem/credentials", ".cargo/{credentials,credentials.toml}",
        ".docker/config.json", "containers/auth.json", ".m2/settings.xml",
        ".gradle/gradle.properties", ".composer/auth.json", ".config/gh/hosts.yml",
        ".config/hub", "glab-cli/config.yml", "huggingface/{token,stored_tokens}",
        ".huggingface/token", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".msmtprc",
        "/etc/{shadow,gshadow,shadow-,gshadow-,master.passwd}", "/etc/sudoers", ".smbcredentials",
    ),
    "passwords of a browser": (
        "Login Data", "Login Data For Account", "logins.json", "key3.db", "key4.db",
        "signons.sqlite", "{.mozilla,firefox}/**/*.{sqlite,db}", "Cookies.binarycookies",
        "{google-chrome*,chromium*,BraveSoftware,Chrome,microsoft-edge*,vivaldi*}/**/Cookies",
        "{google-chrome*,chromium*,BraveSoftware,Chrome,microsoft-edge*,vivaldi*}/**/Web Data",
    ),
    "a store of passwords": (
        ".password-store/**", "*.kdbx", "*.kdb", "*.agilekeychain/**", "*.1pif", "*.opvault/**",
        "{Bitwarden,Bitwarden CLI}/data.json", "Keychains/**", "*.keychain", "*.keychain-db",
        "keyrings/**", "kwalletd/**",
    ),
    "credentials of an agent": (
        ".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json",
        ".qwen/oauth_creds.json", "github-copilot/{hosts,apps}.json", "opencode/auth.json",
        "{cursor,.cursor}/auth.json", "goose/secrets.yaml", ".aider.conf.yml",
    ),
    _TYPED: (
        ".{bash,zsh,sh,ksh,python,node_repl,psql,mysql,sqlite,rediscli,irb,pry,duckdb}_history",
        ".{mycli,litecli,scala,php,octave,julia,ghc,lua}_history", ".{mycli,litecli}-history",
        ".{histfile,zhistory,dbshell}", ".zsh_sessions/**", "fish/fish_history",
        ".ipython/**/history.sqlite", ".mongodb/mongosh/*_repl_history", "pgcli/history",
        "nushell/history*", "ConsoleHost_history.txt",
    ),
}  # fmt: skip
"""Globs, as guards of paths take them, by what such files hold."""

_TEMPLATES = "{example,sample,template,tmpl,tpl,dist,defaults,schema}"
NO_SECRETS = (
    "{.env,*.env}*[._-]" + _TEMPLATES, "*[._-]" + _TEMPLATES + ".env", _TEMPLATES + ".env",
    ".env.vault", ".env.d.ts", "*.pub", ".ssh/{config,known_hosts,known_hosts.old,authorized_keys}",
    ".ssh/config.d/**", "debug.keystore",
)  # fmt: skip
"""What has such a name, and holds none."""

_PRIVATE = re.compile(rb"PRIVATE KEY")
_PUBLIC = re.compile(rb"BEGIN [A-Z0-9 ]*(?:PUBLIC KEY|CERTIFICATE|PARAMETERS|CRL)|^PK\x03\x04")
_TELLING: Mapping[str, re.Pattern[bytes]] = {
    "*.pem": _PRIVATE,
    "*.p8": _PRIVATE,
    ".npmrc": re.compile(rb"_authToken|_auth\b|_password"),
    ".yarnrc.yml": re.compile(rb"npmAuth"),
    ".docker/config.json": re.compile(rb'"(?:auth|identitytoken|registrytoken)"'),
    "containers/auth.json": re.compile(rb'"auth"'),
    ".m2/settings.xml": re.compile(rb"<(?:password|passphrase)>"),
    ".gradle/gradle.properties": re.compile(rb"(?i)password|token|secret"),
    "credentials.json": re.compile(rb"(?i)private_key|client_secret|refresh_token|accessKey"),
    "*service[-_]account*.json": re.compile(rb"private_key"),
    "client_secret*.json": re.compile(rb"client_secret|private_key"),
    ".claude.json": re.compile(rb"primaryApiKey|oauthAccount|accessToken|_TOKEN|_KEY"),
    ".aider.conf.yml": re.compile(rb"(?i)key"),
}
"""Files of these names hold a secret only if this occurs in them."""
_CERTIFICATE_NAME = re.compile(r"(?i)cert|chain|ca[-_.]|root|bundle|public|\bpub")


class SecretFiles(GuardedPaths):
    """The files that hold secrets, `paths` among them, without those that `allow` names."""

    def __init__(self, base: Path, paths: Iterable[str] = (), allow: Iterable[str] = ()) -> None:
        known = tuple(one for globs in SECRET_FILES.values() for one in globs)
        super().__init__(_expand((*paths, *known)), base, _expand((*NO_SECRETS, *allow)))

    def find_hit(self, given: str, base: Path | None = None) -> Hit | None:
        """What guards this path, or None also for a file that shows that it holds none."""
        hit = super().find_hit(given, base)
        return hit if hit is not None and _holds_secret(hit) else None


@lru_cache(maxsize=32)
def _expand(globs: tuple[str, ...]) -> tuple[str, ...]:
    """Without braces, and each once."""
    return tuple(dict.fromkeys(one for glob in globs for one in expand_braces(glob)))


def describe_secret(pattern: str) -> str:
    """What files of a glob hold."""
    return _describe_all().get(pattern, "a secret")


def is_certain(pattern: str) -> bool:
    """Whether files of a glob surely hold a secret, unlike histories of shells and databases."""
    return describe_secret(pattern) != _TYPED


@lru_cache(maxsize=1)
def _describe_all() -> dict[str, str]:
    return {
        one: kind for kind, globs in SECRET_FILES.items() for glob in globs
        for one in expand_braces(glob)
    }  # fmt: skip


def _holds_secret(hit: Hit) -> bool:
    """A file that is not there yet, or cannot be read, counts by its name."""
    telling = _TELLING.get(hit.pattern)
    if telling is None and hit.pattern != "*.key":
        return True
    head = _read_head(hit.resolved)
    if head is None:
        return hit.pattern != "*.pem" or not _CERTIFICATE_NAME.search(hit.resolved.name)
    if telling is None:
        return bool(_PRIVATE.search(head)) or not _PUBLIC.search(head)
    return telling.search(head) is not None


def _read_head(path: Path) -> bytes | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return None
