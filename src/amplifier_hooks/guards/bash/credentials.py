"""Commands that print a credential: a whole environment, what is secret in it, or a kept key.

An agent's environment holds its own key, and often those of clouds. A look at one variable, at
names, or at lines that fit an innocent word shows none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.words import Word, split_names

SECRET_NAME = re.compile(
    r"(?:^|[^a-z])(?:\w*_)?(?:api_?|access_?|secret_?|private_?|signing_?|encryption_?|master_?)?"
    r"(?:keys?|tokens?|secrets?|passw(?:or)?d?s?|pass|pwd|credentials?|creds?|auth|dsn)(?:$|[^a-z])",
    re.IGNORECASE,
)
"""Names of variables, and words that somebody searches for, behind which a secret is likely."""
_NAMES_SECRET = re.compile(
    r"(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)\w*$"
)
_EXPANDED = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_SEARCHING = split_names("grep egrep fgrep rg ag ack")
_COUNTING = split_names("wc true :")
_EXPLICIT = frozenset({"-c", "-q", "--count", "--quiet", "-l"})


@dataclass(frozen=True, slots=True)
class _Reader:
    """What of an environment comes out of the programs behind a pipe."""

    patterns: tuple[str, ...] = ()
    hides: bool = False


def prints_environment(command: Command, script: Sequence[Command]) -> bool:
    """Whether secrets of the environment may come out of a command."""
    if _prints_secret_variable(command, script):
        return True
    if not (_dumps(command) or _dumps_in_code(command)):
        return False
    if _runs_in_new_container(command, script):
        return False
    return comes_through(command, script)


def comes_through(command: Command, script: Iterable[Command]) -> bool:
    """Whether secrets may be among what is left of the output behind a pipe."""
    told = list(_list_readers(command, script))
    if any(one.hides for one in told):
        return False
    patterns = [pattern for one in told for pattern in one.patterns]
    return not patterns or any(map(SECRET_NAME.search, map(_simplify, patterns)))


def _list_readers(command: Command, script: Iterable[Command]) -> Iterator[_Reader]:
    """What is behind the pipe of a command, or of the one that runs it: `docker exec x env | …`."""
    sources = {command.name, *command.via}
    for one in script:
        if one is not command and not sources.isdisjoint(one.piped_from):
            reader = _read_reader(one)
            if reader is not None:
                yield reader


def _read_reader(command: Command) -> _Reader | None:
    """`grep -i proxy`, `cut -d= -f1`, `wc -l`, `jq .x`; None for what lets all through."""
    name = command.name or ""
    words = [word.value or word.raw for word in command.words]
    if name in _COUNTING or (name in _SEARCHING and not command.flags.isdisjoint(_EXPLICIT)):
        return _Reader(hides=True)
    if name == "cut" and "-f1" in "".join(words):
        return _Reader(hides=True)
    if name in _SEARCHING:
        if not command.flags.isdisjoint({"-v", "--invert-match"}):
            return None
        return _Reader(tuple(word for word in words if not word.startswith("-")))
    if name in {"awk", "gawk", "mawk", "sed", "gsed", "jq", "yq", "python", "python3", "node"}:
        return _read_program(name, words)
    return None


def _read_program(name: str, words: list[str]) -> _Reader | None:
    texts = tuple(word for word in words if not re.fullmatch(r"-[a-zA-Z]+|\.|-F.*|\.\[\]", word))
    if name in {"awk", "gawk", "mawk"} and any("$1}" in one.replace(" ", "") for one in texts):
        return _Reader(hides=True)  # `awk -F= '{print $1}'`
    if name in {"sed", "gsed"} and any(re.search(r"s.=\.\*", one) for one in texts):
        return _Reader(hides=True)
    narrow = [one for one in texts if re.search(r"[A-Za-z]{2}", one)]
    return _Reader(tuple(narrow)) if narrow else None


def _simplify(pattern: str) -> str:
    """`[A-Z]*_KEY|TOKEN` in words."""
    return re.sub(r"[\\()\[\]|^$.*+?'\"]+", " ", pattern)


# ---- the shell's own ways ----------------------------------------------------------------------


def _dumps(command: Command) -> bool:
    name = command.name
    if name == "printenv":
        return not [word for word in command.words if not word.is_flag]
    if name in {"env", "genv"}:
        return "env" not in command.via and _is_bare_env(command.words)
    if name in {"set", "declare", "typeset", "export", "readonly", "local"}:
        return _lists_variables(command)
    if name == "ps":
        return _shows_environments(command)
    if name == "systemctl":
        return any(word.value == "show-environment" for word in command.words)
    return name == "launchctl" and any(word.value == "export" for word in command.words)


def _is_bare_env(words: Sequence[Word]) -> bool:
    """Without a command behind its options; `env -i` has nothing to show."""
    if any(
        word.value in {"-i", "-", "--ignore-environment", "--help", "--version"} for word in words
    ):
        return False
    return all(word.is_flag or "=" in word.raw for word in words)


def _lists_variables(command: Command) -> bool:
    words = {word.value for word in command.words}
    if command.name == "set":
        return not command.words and not command.via
    if command.assigns or command.name in {"local", "readonly"}:
        return False
    return words <= {"-p", "-x", "-px", "-xp"} and (bool(words) or command.name != "typeset")


def _shows_environments(command: Command) -> bool:
    """`ps eww` and `ps auxe`: without a dash the letter means the environment."""
    first = command.words[0].value or "" if command.words else ""
    return bool(re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", first)) or "-E" in command.flags


def _prints_secret_variable(command: Command, script: Sequence[Command]) -> bool:
    """`echo $STRIPE_SECRET_KEY`, unless it goes to a program or a file, or was set right here."""
    if command.name not in {"echo", "printf"} or any(one.writes for one in command.redirects):
        return False
    names = [one or two for word in command.words for one, two in _EXPANDED.findall(word.raw)]
    if not any(_NAMES_SECRET.search(name) and name.isupper() for name in names):
        return False
    assigned = {name for one in script for name in one.assigns}
    assigned |= {word.raw for one in script if one.name == "read" for word in one.words}
    used = any(
        command.name in one.piped_from and one.name not in _PASSING for one in script
    )  # fmt: skip
    return not used and not {one for one in names if _NAMES_SECRET.search(one)} <= assigned


_PASSING = split_names("cat head tail cut tr rev fold base64 xxd od hexdump sed awk tee sort nl")


def _runs_in_new_container(command: Command, script: Sequence[Command]) -> bool:
    """`docker run alpine env` prints what the image has, unless it is given more."""
    if not command.via:
        return False
    outer = [
        one
        for one in script
        if one.name == command.via[-1]
        and one.via == command.via[:-1]
        and one.words[:1]
        and one.words[0].value == "run"
        and one.name in {"docker", "podman", "nerdctl"}
        and command.text in one.text
    ]
    return bool(outer) and all(one.flags.isdisjoint({"--env-file", "-e", "--env"}) for one in outer)


# ---- code ---------------------------------------------------------------------------------------

_WHOLE = {
    "python": re.compile(
        r"\bos\.environ\b(?!b?\s*(?:\[|\.(?:get|setdefault|pop|keys|update)\b))(?!\s*\))"
        r"|(?:print|dict|list|sorted|dumps|pprint|str|repr)\(\s*os\.environ\b(?!\s*[.\[])"
    ),
    "node": re.compile(r"\bprocess\.env\b(?!\s*(?:\?\.|\.|\[)[\w\"'`$])(?!\s*=)"),
    "bun": re.compile(r"\b(?:process|Bun)\.env\b(?!\s*(?:\?\.|\.|\[)[\w\"'`$])"),
    "deno": re.compile(r"Deno\.env\.toObject"),
    "ruby": re.compile(r"\bENV\b(?!\s*(?:\[|\.(?:fetch|key\?|keys|dig|delete|include\?)))"),
    "perl": re.compile(r"%ENV|\$ENV\{\s*\$"),
    "php": re.compile(r"getenv\(\s*\)|\$_(?:ENV|SERVER)\b(?!\s*\[)|phpinfo\("),
    "awk": re.compile(r"\bin\s+ENVIRON\b"),
    "jq": re.compile(r"(?:^|[^.\w$])(?:\$ENV|env)\b(?!\s*[.\[])"),
}
_NAMES_ONLY = re.compile(r"Object\.keys\(\s*process\.env\s*\)|(?:sorted|list|len)\(os\.environ\)")
_LANGUAGES = {"gawk": "awk", "mawk": "awk", "nodejs": "node", "gojq": "jq"}


def _dumps_in_code(command: Command) -> bool:
    name = command.name or ""
    name = "python" if name.startswith(("python", "pypy")) else _LANGUAGES.get(name, name)
    pattern = _WHOLE.get(name)
    if pattern is None:
        return False
    texts = [word.value or word.raw for word in command.words]
    texts += [] if command.stdin is None else [command.stdin.value or command.stdin.raw]
    return any(pattern.search(_NAMES_ONLY.sub("", _drop_passing(one))) for one in texts)


def _drop_passing(text: str) -> str:
    """`env={**os.environ, …}` hands it to another program, and `in os.environ` looks for a name."""
    return re.sub(
        r"env\s*[=:]\s*(?:\{[^}]*\}|dict\([^)]*\)|(?:os\.environ|process\.env)(?:\.copy\(\))?)|"
        r"\bin\s+(?:os\.environ|process\.env)\b(?=\s*[\]):,}]|\s*$|\s+(?:and|or|if|else)\b)|"
        r"=\s*os\.environ\s*$",
        "",
        text,
        flags=re.MULTILINE,
    )


# ---- containers and tools of clouds -------------------------------------------------------------

_QUIET = split_names(
    "-q --quiet --services --images --volumes --networks --profiles --hash --no-interpolate "
    "--variables --environment"
)


def shows_settings(command: Command, script: Sequence[Command]) -> bool:
    """Whether a tool of containers or clouds prints settings among which secrets are."""
    shows = _SHOWS.get(command.name or "")
    if shows is None or "--help" in command.flags:
        return False
    told = shows(command)
    return told == _SURELY or (told == _PERHAPS and _is_wide(command, script))


_SURELY = "surely"
_PERHAPS = "perhaps"


def _is_wide(command: Command, script: Sequence[Command]) -> bool:
    """Whether neither a query nor what is behind a pipe picks something else."""
    queries = [
        word.value or word.raw
        for at, word in enumerate(command.words)
        if at and (command.words[at - 1].value or "") in {"-f", "--format", "--query", "-o"}
    ]
    queries += [
        (word.value or "").partition("=")[2]
        for word in command.words
        if (word.value or "").startswith(("--format=", "--query=", "-o=", "-f="))
    ]
    narrow = [
        one for one in queries if not re.fullmatch(r"json|yaml|text|table|\{\{json \.\}\}", one)
    ]
    if narrow:
        return any(map(_NAMES_SETTINGS.search, narrow))
    told = list(_list_readers(command, script))
    if any(one.hides for one in told):
        return False
    patterns = [pattern for one in told for pattern in one.patterns]
    return not patterns or any(
        _NAMES_SETTINGS.search(one) or SECRET_NAME.search(_simplify(one)) for one in patterns
    )


_NAMES_SETTINGS = re.compile(r"(?i)env|secret|passw|token|credential|\bconfig\s*\}|\.Config\s*\}")


def _list_verbs(command: Command) -> list[str]:
    return [word.value or "" for word in command.arguments]


def _of_docker(command: Command) -> str:
    verbs = _list_verbs(command)
    if "compose" in verbs[:1] or (command.name or "").endswith("-compose"):
        told = "config" in verbs[:4] or "convert" in verbs[:4]
        return _PERHAPS if told and command.flags.isdisjoint(_QUIET) else ""
    if verbs[:1] == ["inspect"] or verbs[:2] in (["container", "inspect"], ["service", "inspect"]):
        return _PERHAPS
    return ""


def _of_terraform(command: Command) -> str:
    verbs = _list_verbs(command)
    values = [word.value for word in command.words]
    if verbs[:1] == ["output"]:
        named = [one for one in verbs[1:] if one]
        if named:
            return _SURELY if any(map(SECRET_NAME.search, named)) else ""
        return _PERHAPS if "-json" in values else ""
    return _PERHAPS if verbs[:1] == ["show"] and "-json" in values else ""


def _of_aws(command: Command) -> str:
    verbs = _list_verbs(command)
    told = {"get-function-configuration", "get-function", "describe-task-definition"}
    told |= {"describe-user-pool-client", "batch-get-projects", "describe-environments"}
    return _PERHAPS if told & set(verbs[:3]) else ""


def _of_gcloud(command: Command) -> str:
    verbs = _list_verbs(command)
    return _PERHAPS if "describe" in verbs and {"run", "functions", "app"} & set(verbs[:2]) else ""


def _of_kubectl(command: Command) -> str:
    verbs = _list_verbs(command)
    return _PERHAPS if verbs[:2] == ["set", "env"] and "--list" in command.flags else ""


def _of_helm(command: Command) -> str:
    return _PERHAPS if _list_verbs(command)[:2] == ["get", "values"] else ""


_SHOWS: Mapping[str, Callable[[Command], str]] = {
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _of_docker
    ),
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), _of_terraform),
    "aws": _of_aws,
    "gcloud": _of_gcloud,
    "kubectl": _of_kubectl,
    "oc": _of_kubectl,
    "helm": _of_helm,
}


def list_environment_prints(commands: Sequence[Command]) -> Iterator[tuple[Command, str]]:
    """Each command that may show secrets so, and what it prints."""
    for command in commands:
        if prints_environment(command, commands):
            yield command, "variables of the environment"
        elif shows_settings(command, commands):
            yield command, "settings with secrets among them"


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
