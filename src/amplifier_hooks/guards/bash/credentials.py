"""Commands that print a credential which no file of theirs names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.environment import list_environment_prints
from amplifier_hooks.guards.bash.words import split_names


@dataclass(frozen=True, slots=True)
class Print:
    """A command that prints a credential, and what it prints."""

    command: str
    what: str
    sure: bool = True
    """Whether there is surely a credential in it."""


@dataclass(frozen=True, slots=True)
class _Printing:
    """Words that must stand in this order, one of the flags, and none of others."""

    words: tuple[str, ...]
    what: str
    flags: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()

    def fits(self, command: Command, values: Sequence[str]) -> bool:
        """Whether the command is one of these."""
        left = iter(values)
        if not all(any(_fits_word(value, one) for value in left) for one in self.words):
            return False
        given = command.flags
        return (not self.flags or bool(given & self.flags)) and not given & self.without


def _fits_word(value: str, word: str) -> bool:
    return any(value == one or (one[:1] == "~" and one[1:] in value) for one in word.split("|"))


def _row(words: str, what: str, flags: str = "", without: str = "") -> _Printing:
    return _Printing(tuple(words.split()), what, split_names(flags), split_names(without))


_TOKEN = "an access token"
_STORED = "a stored password or key"
_SECRET = "a secret of the vault"
_HELP = "--help -h"
_PRINTING: dict[str, tuple[_Printing, ...]] = {
    "gh": (_row("auth token", _TOKEN), _row("auth status", _TOKEN, "--show-token -t")),
    "glab": (_row("auth status", _TOKEN, "--show-token -t"), _row("config get ~token", _TOKEN)),
    "aws": (
        _row("configure get ~secret|~token|~access_key", "a key of the cloud"),
        _row("configure export-credentials", "keys of the cloud"),
        _row("sts get-session-token|assume-role|get-federation-token", _TOKEN),
        _row("secretsmanager get-secret-value|batch-get-secret-value", _SECRET),
        _row("ssm get-parameter|get-parameters|get-parameters-by-path", _SECRET,
             "--with-decryption"),
        _row("ecr|ecr-public get-login-password|get-authorization-token", _TOKEN),
        _row("iam create-access-key", "a key of the cloud"),
        _row("rds generate-db-auth-token", _TOKEN),
        _row("redshift get-cluster-credentials", "a stored password"),
        _row("lightsail get-relational-database-master-user-password", "a stored password"),
        _row("cognito-identity get-credentials-for-identity", "keys of the cloud"),
    ),
    "gcloud": (
        _row("auth print-access-token|print-identity-token|print-refresh-token", _TOKEN),
        _row("application-default print-access-token", _TOKEN),
        _row("secrets versions access", _SECRET),
        _row("config config-helper", _TOKEN),
        _row("iam service-accounts keys create", "a key of the cloud"),
    ),
    "az": (
        _row("account get-access-token", _TOKEN),
        _row("keyvault secret show|download", _SECRET),
        _row("storage account keys list", "keys of the cloud"),
        _row("acr login", _TOKEN, "--expose-token"),
        _row("acr credential show", "a stored password"),
        _row("storage account show-connection-string", "keys of the cloud"),
        _row("cosmosdb|redis|servicebus|eventhubs|search keys|list-keys|list-connection-strings",
             "keys of the cloud"),
        _row("webapp|functionapp|staticwebapp appsettings|connection-string|keys list",
             "settings with secrets among them"),
        _row("containerapp secret list|show", "secrets", "--show-values"),
        _row("ad sp create-for-rbac|credential", "a stored password"),
    ),
    "kubectl": (
        _row("get ~secret", "secrets of the cluster"),
        _row("config view", "keys of the cluster", "--raw"),
        _row("create token", _TOKEN),
    ),
    "oc": (
        _row("get ~secret", "secrets of the cluster"),
        _row("extract ~secret", "secrets of the cluster"),
        _row("whoami", _TOKEN, "-t --show-token"),
    ),
    "vault": (
        _row("read|unwrap", _SECRET), _row("kv get", _SECRET), _row("token create", _TOKEN),
        _row("print token", _TOKEN),
    ),
    "bao": (_row("read|unwrap", _SECRET), _row("kv get", _SECRET)),
    "op": (_row("read", _STORED), _row("item|document get", _STORED)),
    "bw": (_row("get|export", _STORED), _row("list items", _STORED)),
    "rbw": (_row("get|code", _STORED),),
    "lpass": (_row("show|export", _STORED),),
    "keepassxc-cli": (_row("show|export|clip|attachment-export", _STORED),),
    "secret-tool": (_row("lookup|search", _STORED),),
    "kwallet-query": (_row("", _STORED, "-r --read-password"),),
    "keyring": (_row("get", _STORED),),
    "security": (
        _row("find-generic-password|find-internet-password", _STORED, "-w -g"),
        _row("dump-keychain|export", _STORED),
    ),
    "gpg": (
        _row("", "a private key", "--export-secret-keys --export-secret-subkeys"),
        _row("", "what is encrypted", "--decrypt -d"),
    ),
    "age": (_row("", "what is encrypted", "--decrypt -d"),),
    "sops": (_row("", "what is encrypted", "--decrypt -d"), _row("decrypt|exec-env", "secrets")),
    "ansible-vault": (_row("view|decrypt", "what is encrypted"),),
    "doppler": (
        _row("secrets", "secrets", "", "--only-names"), _row("configure get token", _TOKEN),
    ),
    "infisical": (_row("secrets|export", "secrets"),),
    "chamber": (_row("read|export|env", "secrets"),),
    "heroku": (_row("config|config:get|auth:token", "secrets of the application"),),
    "netlify": (_row("env:get|env:list", "secrets of the application"),),
    "supabase": (_row("status", "keys of the project", "-o --output"),),
    "doctl": (_row("auth token", _TOKEN), _row("databases connection|user", "a stored password")),
    "oci": (_row("secrets secret-bundle get", _SECRET),),
    "ibmcloud": (_row("iam oauth-tokens", _TOKEN), _row("resource service-key", "a stored key")),
    "fly": (_row("auth token", _TOKEN),),
    "flyctl": (_row("auth token", _TOKEN),),
    "railway": (_row("variables|variable", "secrets of the application"),),
    "wrangler": (_row("auth token", _TOKEN),),
    "hf": (_row("auth token", _TOKEN),),
    "databricks": (_row("auth token", _TOKEN), _row("secrets get-secret", _SECRET)),
    "pulumi": (_row("config|stack|env", "secrets", "--show-secrets"),),
    "terraform": (_row("state pull", "a state with secrets in it"),),
    "tofu": (_row("state pull", "a state with secrets in it"),),
    "npm": (_row("config get ~auth|~token|~password", _TOKEN), _row("token create", _TOKEN)),
    "git": (_row("credential fill", "a stored password"),),
    "firebase": (_row("login:ci", _TOKEN),),
    "claude": (_row("setup-token", _TOKEN),),
    "nmcli": (_row("", "a stored password", "-s --show-secrets"),),
    "pass": (_row("show|grep", _STORED),),
    "gopass": (_row("show|cat|grep", _STORED),),
    "rails": (_row("credentials:show", "secrets of the application"),),
    "cf": (_row("oauth-token", _TOKEN),),
}  # fmt: skip
_PASS_VERBS = split_names(
    "init ls list find search insert add edit generate rm mv cp git help version sync audit fsck"
)


def find_printed(commands: Sequence[Command]) -> Iterator[Print]:
    """The commands that print a credential, or may."""
    yield from (
        Print(command.text, what, sure=False) for command, what in list_environment_prints(commands)
    )
    for command in commands:
        values = [word.value or word.raw for word in command.words]
        name = "gpg" if command.name == "gpg2" else command.name or ""
        if name.startswith("docker-credential-") and "get" in values:
            yield Print(command.text, "a stored password")
            continue
        if command.flags & split_names(_HELP):
            continue
        found = next((one for one in _PRINTING.get(name, ()) if one.fits(command, values)), None)
        if found is not None:
            yield Print(command.text, found.what)
        elif name in {"pass", "gopass"} and _shows_entry(command):
            yield Print(command.text, _STORED)


def _shows_entry(command: Command) -> bool:
    """`pass mail/work` shows an entry without a verb."""
    first = next((word.value for word in command.arguments), None)
    return first is not None and first not in _PASS_VERBS
