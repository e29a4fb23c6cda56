"""Programs by what they do elsewhere or for good, and the words behind which they only look.

Data, and the few functions that read it: everything that such a program does is asked about,
except what is known to read. New subcommands of a cloud are so asked about from their first day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.words import Word, is_remote, split_names

_INFORMING = frozenset({"--version", "--help", "-h", "-V", "help", "version"})
_MOST_VERBS = 4
_LOCAL = re.compile(
    r"(?:[a-z]+://)?(?:[^@/]*@)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|"
    r"host\.docker\.internal|[a-z0-9-]+\.localhost)(?:[:/?#].*)?|/dev/.*|unix:.*",
    re.IGNORECASE,
)
_STORE = ("s3://", "gs://", "az://", "wasb://", "abfs://")


@dataclass(frozen=True, slots=True)
class ActingProgram:
    """Programs whose commands are asked about unless one of their first words only reads."""

    names: frozenset[str]
    reason: str
    reads: tuple[str, ...] = ()
    """Globs of subcommands and options that only look, or that stay on this machine."""
    acts: tuple[str, ...] = ()
    """Globs of words beside which it acts all the same: `kubectl get secrets`."""
    alone: bool = False
    """Whether it acts without any word, too."""


def _acting(
    names: str, reason: str, reads: str = "", acts: str = "", *, alone: bool = False
) -> ActingProgram:
    return ActingProgram(
        split_names(names), reason, tuple(reads.split()), tuple(acts.split()), alone
    )


ACTING: dict[str, tuple[ActingProgram, ...]] = {
    "schedule": (
        _acting("crontab at batch", "it changes scheduled jobs", "-l"),
        _acting(
            "systemctl launchctl service rc-service",
            "it changes services",
            "status show cat is-* list* print* --status-all --list --user-status blame",
        ),
        _acting("rc-update update-rc.d chkconfig schtasks", "it changes services", "--list show"),
        _acting("loginctl", "it changes sessions", "list* show* *-status", "enable-linger"),
    ),
    "system-packages": (
        _acting(
            "apt apt-get aptitude yum dnf zypper apk brew port snap flatpak choco winget scoop "
            "emerge",
            "it changes the programs of this machine",
            "list search show info policy depends rdepends query check-update outdated deps "
            "leaves home config doctor cat log --prefix --cellar provides repolist madison "
            "changelog"
            " shellenv --repository",
        ),
        _acting(
            "pacman",
            "it changes the programs of this machine",
            "-Q* -Si* -Ss* -Sl* -F* -Sg* -Sp*",
        ),
        _acting(
            "dpkg rpm",
            "it changes the programs of this machine",
            "-l* -L* -s* -S* -p* -q* -c* -I* -V* -K* --list --status --search --query --get-* "
            "--print-* --compare-versions --verify --checksig --contents --info",
        ),
        _acting(
            "pkg pkgutil nix-env installer",
            "it changes the programs of this machine",
            "info search list query -q* --query --pkgs",
        ),
    ),
    "cloud": (
        _acting(
            "aws",
            "it may change what runs in a cloud, or show its keys",
            "describe* list* get-* ls head-* lookup-* filter-* wait tail configure validate-* "
            "batch-get-* search* estimate-*",
            "get-secret-value get-parameter* get-session-token get-login-password get-authorization"
            "-token get-federation-token get-password-data get-access-key* export-credentials set",
        ),
        _acting(
            "gcloud az doctl hcloud linode-cli oci ibmcloud aliyun scw exo bq yc openstack",
            "it may change what runs in a cloud, or show its keys",
            "list describe info show get-iam-policy get-value read ls get status",
            "print-*-token get-access-token secrets secret keyvault set ssh scp get-credentials",
        ),
        _acting(
            "gsutil s3cmd s5cmd azcopy",
            "it may change what lies in a cloud",
            "ls cat stat du hash info list jobs",
        ),
        _acting(
            "rclone",
            "it copies to or from another machine",
            "ls* size check about config listremotes tree",
        ),
    ),
    "deploy": (
        _acting(
            "vercel now",
            "it changes what is on line",
            "dev build ls list inspect logs log whoami link",
            "pull",
            alone=True,
        ),
        _acting(
            "netlify fly flyctl firebase wrangler serverless sls cdk cdktf sam sst heroku railway "
            "render amplify eas surge kamal cap dokku waypoint pulumi nomad argocd flux skaffold "
            "waypoint ionic fastlane expo-cli supabase copilot-cli zeabur koyeb clever scalingo "
            "gh-pages",
            "it changes what is on line",
            "dev build start serve status logs log ls list info open preview print package synth "
            "diff offline local validate whoami emulators:* doctor tail types ps apps apps:info "
            "releases config:show build:list build:view init test tests stop functions:list "
            "sites:list "
            "typegen gen generate projects:list render",
            "secrets destroy delete rm deploy auth:token config reset drop run push",
        ),
        _acting(
            "goreleaser semantic-release release-it",
            "it publishes a release",
            "check build --snapshot --dry-run init healthcheck",
            alone=True,
        ),
        _acting(
            "ansible ansible-playbook ansible-pull ansible-test ansible-console",
            "it changes other machines",
            "--check -C --syntax-check --list-*",
        ),
    ),
    "cluster": (
        _acting(
            "kubectl oc k3s",
            "it changes a cluster, or shows its secrets",
            "get describe logs explain api-resources api-versions cluster-info config diff top wait"
            " kustomize completion plugin can-i status history",
            "secret secrets secret/* secrets/* --raw delete-* set-* use-context unset exec "
            "secret,* *,secret *,secrets",
        ),
    ),
    "releases": (
        _acting(
            "helm helmfile",
            "it changes a cluster",
            "list ls lint template show search repo get status history env dependency dep create "
            "pull package diff",
            "uninstall push",
        ),
    ),
    "infrastructure": (
        _acting(
            "terraform tofu terragrunt",
            "it changes infrastructure",
            "init plan validate fmt show output graph providers list select get console test "
            "metadata modules -version",
            "rm mv push taint untaint import apply destroy replace-provider force-unlock",
        ),
    ),
    "mail": (
        _acting("mail mailx mutt neomutt sendmail msmtp ssmtp swaks s-nail", "it sends mail"),
    ),
    "tunnel": (
        _acting(
            "ngrok cloudflared localtunnel lt bore frpc zrok expose tailscale tmate sshuttle",
            "it opens this machine to others",
            "status config update ip",
            alone=True,
        ),
    ),
    "copy-out": (
        _acting(
            "lftp tftp ncftp ncftpput smbclient sshfs curlftpfs croc wormhole magic-wormhole "
            "ffsend transfer ssh-copy-id bitsadmin certutil rlogin rsh rcp",
            "it copies to or from another machine",
        ),
    ),
    "stores": (
        _acting(
            "etcdctl consul vault influx rabbitmqctl rabbitmqadmin nodetool nats",
            "it changes data or settings of a server",
            "get list list* *_list status *_status health info version members watch ping query "
            "read search monitor validate catalog describe* ring tpstats stats",
            "delete del put remove rm write destroy purge leave force-leave",
        ),
        _acting(
            "kafka-topics kafka-topics.sh kafka-configs kafka-configs.sh kafka-acls kafka-acls.sh "
            "kafka-consumer-groups kafka-consumer-groups.sh kafka-delete-records "
            "kafka-delete-records.sh",
            "it changes data or settings of a server",
            "--list --describe --version --help --create",
            "--delete --alter --reset-offsets --execute",
        ),
    ),
    "database-flush": (_acting("dropdb dropuser", "it deletes a database"),),
    "system": (
        _acting(
            "agetty arch-nspawn busctl certbot chattr setfacl chfn chsh dhclient dmsetup dnsmasq "
            "fail2ban-client iftop ksu ldconfig logrotate mdadm needrestart nft openvpn plymouth "
            "rsyslogd tc update-alternatives vigr vipw virsh virt-install zic cryptsetup lvm "
            "xfs_io "
            "puppet chef-client salt-call cdist opkg dkms grub-install efibootmgr nvram kmod "
            "visudo pam-auth-update firewall-cmd wg wg-quick ctr crictl "
            "nerdctl-root zfs zpool btrfs snapper lvremove lvreduce lvresize lvcreate vgremove "
            "vgreduce vgcreate pvremove pvcreate",
            "it changes the system, or needs its rights",
            "list* show* status get* --list info dominfo version query --query iostat history "
            "usage",
        ),
        _acting(
            "ifconfig route",
            "it changes the network",
            "*",
            "up down add del delete netmask hw mtu promisc -promisc change flush gw",
        ),
        _acting(
            "ip",
            "it changes the network",
            "a addr address link r route n neigh rule -br -4 -6 -s -j -c -o -brief maddr",
            "exec add del delete set flush replace change",
        ),
    ),
    "network-tools": (
        _acting(
            "nmap hping3 masscan arp-scan tcpdump tshark dumpcap ettercap socket zmap hydra "
            "msfconsole sqlmap nikto responder bettercap mitmdump mitmproxy lp lpr cancel slsh",
            "it searches, hears or reaches other machines",
            "-D --list-interfaces -r",
        ),
    ),
}
"""By the name of the rule."""

OTHER_ACTS = frozenset({"secrets-shown", "shell-inside", "option-runs", "console"})
"""Rules beside those of the table."""

_SHOWN_SECRETS = re.compile(
    r"\b(?:gh auth token|glab auth token|pass (?:show|-c|\S+/)|op (?:read|item get|document get)|"
    r"vault (?:read|kv get|kv list|token)|bw (?:get|list|export)|lpass (?:show|export)|"
    r"secret-tool (?:lookup|search)|keyring get|security (?:find-\w+-password|dump-keychain|"
    r"export)|"
    r"gpg2? .*--export-secret|git credential(?:-\S+)? (?:fill|get)|docker-credential-\S+ get|"
    r"ansible-vault (?:view|decrypt)|sops (?:.* )?(?:-d|--decrypt|decrypt)|age .*-d|"
    r"doppler secrets|infisical (?:export|secrets)|npm token|heroku config|"
    r"(?:rails|rake|bin/rails) credentials:(?:show|edit)|kubectl config view .*--raw|"
    r"getent g?shadow|printenv .*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|CREDENTIAL)\w*)\b|"
    r"\bgpg2? .*--export-secret"
)


_SHELL_PATH = re.compile(
    r"(?:^|[^\w/.!-])(?:/usr)?(?:/local)?/s?bin/(?:ba|z|da|k|c|tc|a|fi)?sh(?:$|[^\w./-])"
)
_SHELLS_INSIDE = split_names(
    "env xargs find gfind fd parallel docker podman kubectl nerdctl docker-compose echo printf "
    "grep "
    "egrep fgrep rg ls cat which file stat test [ [[ type command readlink realpath sed awk "
    "diff cp "
    "ln git sudo doas ssh exec timeout nohup time nice watch su runuser chroot flock script strace "
    "sh bash dash zsh ksh mksh ash fish rbash tcsh csh busybox apptainer singularity toolbox gh "
    "wc head tail"
)
_RUNNING_OPTION = re.compile(
    r"--(?!no-)(?:[\w-]+-)?(?:command|cmd|exec|execute|pager|hook|wrapper|rsh|askpass|engine|preload|"
    r"editor|viewer|batch-interpreter|conf-script|on-\w+-complete|default-auth)(?:=.*)?"
)
_OPTION_FREE = split_names(
    "docker podman kubectl helm git gh glab npm pnpm yarn npx cargo go uv poetry pytest tox nox "
    "make "
    "psql mysql sqlite3 mariadb code gdb lldb mvn gradle bazel terraform aws gcloud az ls grep "
    "rg echo "
    "find fd timeout xargs env ssh su script flock tmux screen bat man docker-compose hatch pdm "
    "conda "
    "mamba nix nix-shell rails bundle composer php artisan deno bun node python python3 dotnet "
    "jupyter "
    "redis-cli mongosh clickhouse-client cqlsh duckdb npm-run-all concurrently wait-on cypress jest"
)
_CONSOLES = split_names(
    "pwsh elvish rc sash posh es yash irb pry ghci jshell bconsole scanmem wish tclsh expect ex vi "
    "vim nvim nano pico emacs ed mc ranger ncdu vifm jtag minicom ftp telnet lftp ghci iex "
    "erl "
    "utop ocaml gforth sqlplus debugfs parted cpan cpanm mutt alpine bpython ipython ptpython"
)


def find_act(command: Command) -> tuple[str, str] | None:
    """The rule and the reason, if the command acts elsewhere or for good."""
    return _find_listed_act(command) or _find_running(command)


def _find_running(command: Command) -> tuple[str, str] | None:
    """What starts a program that nobody sees here: a shell among the words, or by an option."""
    name = command.name or ""
    if name in _CONSOLES and not command.words and command.stdin is None:
        return "console", f"{name} waits for what is typed, which nobody can judge"
    words = [word.value or word.raw for word in command.words]
    if name not in _SHELLS_INSIDE and any(_SHELL_PATH.search(one) for one in words):
        return "shell-inside", f"{name} is told to start a shell"
    writes = name in {"echo", "printf"} and any(one.writes for one in command.redirects)
    if writes and any(_SHELL_PATH.search(one) for one in words):
        return "shell-inside", "it writes down that a shell is to be started"
    if name in {"ed", "red", "ex"} and has_input(command):
        return "editor-runs", "it can make the editor run commands"
    if name not in _OPTION_FREE and any(map(_RUNNING_OPTION.fullmatch, words)):
        return "option-runs", f"an option of {name} says what it is to run"
    return None


def _find_listed_act(command: Command) -> tuple[str, str] | None:
    words = [word.value or "" for word in command.words]
    if words[:1] and words[0] in _INFORMING and (words[0] != "-h" or len(words) == 1):
        return None
    for rule, programs in ACTING.items():
        for program in programs:
            if command.name in program.names and (_acts(program, words) or _is_fed(command)):
                return None if _downloads(command) else (rule, program.reason)
    if _SHOWN_SECRETS.search(" ".join([command.name or "", *words])):
        return "secrets-shown", "it shows a secret"
    return None


def _is_fed(command: Command) -> bool:
    """Whether all that is to be done comes through its input: `echo '* * * * * x' | crontab`."""
    return not command.words and has_input(command)


def has_input(command: Command) -> bool:
    """Whether a program gets a text to read: by a pipe, from a file, or from a here-document."""
    reads = any(one.operator == "<" for one in command.redirects)
    return reads or command.stdin is not None or bool(command.piped_from)


def _acts(program: ActingProgram, words: list[str]) -> bool:
    if not words:
        return program.alone
    if any(_fits(word, program.acts) for word in words):
        return True
    verbs = [word for word in words if not word.startswith("-")][:_MOST_VERBS]
    flags = [word for word in words if word.startswith("-")]
    return not any(_fits(word, program.reads) for word in (*verbs, *flags))


def _fits(word: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(word, glob) for glob in globs)


def _downloads(command: Command) -> bool:
    """`aws s3 cp s3://b/x .` only reads the other side."""
    operands = [word.value or "" for word in command.operands]
    verb = next((at for at, one in enumerate(operands) if one in {"cp", "sync", "download"}), None)
    if verb is None or not command.flags.isdisjoint({"--delete"}):
        return False
    places = operands[verb + 1 :]
    return len(places) > 1 and places[0].startswith(_STORE) and not places[-1].startswith(_STORE)


def is_local(word: Word) -> bool:
    """Whether an address is of this machine."""
    text = word.raw.strip("\"'") if word.value is None else word.value
    return bool(_LOCAL.fullmatch(text))


_SENDING = split_names(
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json "
    "-F --form --form-string -T --upload-file --url-query"
)
_ODD_SCHEME = re.compile(
    r"(?:gopher|telnet|dict|smtps?|tftp|ldaps?|mqtt|imaps?|pop3s?|smb|scp|sftp)://"
)
_METHODS = split_names("POST PUT PATCH DELETE")
_CURL_VALUED = _SENDING | split_names(
    "-H --header -o --output -X --request -u --user -A --user-agent -b --cookie -c --cookie-jar "
    "-w --write-out -m --max-time --connect-timeout -e --referer --retry --retry-delay -x --proxy "
    "--resolve --cacert --cert --key -D --dump-header --output-dir -K --config -C --range -r "
    "--retry-max-time --max-redirs -E --limit-rate --interface"
)


def sends_away(command: Command) -> bool:
    """Whether curl, HTTPie or xh sends something to another machine, or changes something there."""
    if command.name == "curl":
        return _curl_acts(command) and not all(map(is_local, _list_addresses(command)))
    if command.name in {"http", "https", "xh", "xhs"}:
        operands = list(command.operands)
        acts = any(one.value in _METHODS for one in operands[:1]) or any(
            re.match(r"[\w-]+(?::=|=|@)", one.value or "") for one in operands[1:]
        )
        rest = operands[1:] if operands and operands[0].value in {*_METHODS, "GET"} else operands
        return acts and not (rest and is_local(_complete(rest[0])))
    return False


def _complete(word: Word) -> Word:
    """HTTPie takes `:3000/x` for this machine."""
    text = word.value or ""
    return Word(text, f"localhost{text}") if text.startswith((":", "/")) else word


def _curl_acts(command: Command) -> bool:
    methods = [
        word.value.partition("=")[2] or word.value.removeprefix("-X")
        for word in command.words
        if word.value and word.value.startswith(("-X", "--request="))
    ]
    pairs = zip(command.words, command.words[1:], strict=False)
    methods += [two.value or "" for one, two in pairs if one.value in {"-X", "--request"}]
    gets = not command.flags.isdisjoint({"-G", "--get"})
    sends = any(_is_sending(word) for word in command.words)
    schemes = any(_ODD_SCHEME.match(one.value or "") for one in command.words)
    return schemes or (sends and not gets) or any(one.upper() in _METHODS for one in methods)


def _is_sending(word: Word) -> bool:
    text = word.value or word.raw
    if text.startswith("--"):
        return text.partition("=")[0] in _SENDING
    letters = re.match(r"-[sSfLkviIgq#0-9]*([dFT])", text)
    return letters is not None


def _list_addresses(command: Command) -> Iterator[Word]:
    skip = False
    for word in command.words:
        text = word.value or word.raw
        if skip:
            skip = False
        elif text in _CURL_VALUED or re.fullmatch(r"-[sSfLkvigq#]+[XHdoFTuAbcwmeDC]", text):
            skip = True
        elif not text.startswith("-") and not text.isspace():
            yield word


def is_remote_copy(command: Command) -> bool:
    """`rsync a host:b` and `rsync a rsync://host/b`."""
    return command.name == "rsync" and any(map(is_remote, command.operands))


_SQL_SHELLS = split_names(
    "sqlite3 psql mysql mariadb mysqladmin duckdb clickhouse-client clickhouse cqlsh sqlcmd "
    "cockroach usql pgcli mycli snowsql"
)
_SQL_HARM = re.compile(
    r"\bdrop\s+(?:table|database|schema|view|index|user|role|column|keyspace|owned|tablespace)\b"
    r"|\bdrop\s+\w+\s*;?\s*$|\btruncate\b|\bdelete\s+from\s+\S+(?!.*\bwhere\b)"
    r"|\bupdate\s+\S+\s+set\b(?!.*\bwhere\b)|\b(?:grant|revoke)\s|\bcreate\s+(?:user|role)\b"
    r"|\balter\s+(?:user|role)\b|\bcopy\b.*\bto\s+program\b|\binto\s+(?:out|dump)file\b"
    r"|\bload_extension\s*\(|\bload_file\s*\(",
    re.IGNORECASE | re.DOTALL,
)


_SQL_CHANGES = re.compile(
    r"\b(?:insert\s+into|replace\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into|drop\s|alter\s|"
    r"create\s|truncate\b|vacuum\b|reindex\b|grant\s|revoke\s|copy\s+\S+\s+from)|"
    r"\.(?:insert|update|delete|replace|remove|drop|bulkWrite|rename\w*)\w*\(",
    re.IGNORECASE,
)
_STORES = frozenset({"redis-cli", "valkey-cli", "keydb-cli"})
_STORE_CHANGES = split_names(
    "set del unlink hset hdel lpush rpush sadd srem zadd zrem expire rename incr append mset setex"
)
_DATABASE_CLIENTS = _SQL_SHELLS | _STORES | frozenset({"mongosh", "mongo"})
_IN_PRODUCTION = re.compile(r"(?:^|[^a-z])prod(?:uction)?(?:[^a-z]|$)", re.IGNORECASE)
_SERVER = re.compile(
    r"(?:\w+(?:\+\w+)?://(?:[^@/\s]*@)?|(?:^|\s)(?:-h\s?|--host[= ]|-H\s|PGHOST=|host=))"
    r"(?P<host>[\w.-]+\.[\w.-]*[a-z]{2,})(?=[:/?\s\"']|$)",
    re.IGNORECASE,
)


def changes_elsewhere(command: Command) -> bool:
    """Whether data change in a database in production, or on another machine.

    The address tells: `"$PROD_DATABASE_URL"`, `-h db.example.com`.
    """
    if command.name not in _DATABASE_CLIENTS:
        return False
    told = [word for word in command.words if _is_statement(word)]
    verbs = {(one.value or "").casefold() for one in command.operands[:3]}
    changes = told or (command.name in _STORES and not verbs.isdisjoint(_STORE_CHANGES))
    if not changes and not _takes_a_script(command):
        return False
    address = " ".join(one.raw for one in command.words if one not in told)
    if re.search(r"localhost|127\.0\.0\.1", address):
        return False
    found = _SERVER.search(f"{command.text.partition(command.name or '')[0]} {address}")
    return bool(_IN_PRODUCTION.search(address)) or (
        found is not None and not found["host"].endswith((".localhost", ".internal", ".local"))
    )


def _takes_a_script(command: Command) -> bool:
    """Whether what is to be done stands in a file, or comes from a program: `psql -f x.sql`."""
    feeding = [one for one in command.redirects if one.operator == "<"]
    given = any(
        re.search(r"\.(?:sql|js|txt|redis|cql)$", word.value or "") for word in command.words
    )
    sources = {*command.piped_from} - {"echo", "printf"}
    return bool(feeding or sources) or given or not command.flags.isdisjoint({"-f", "--file"})


def changes_data(command: Command) -> bool:
    """Whether the text that a shell of a database gets changes anything."""
    return command.name in _SQL_SHELLS and any(map(_is_statement, command.words))


def _is_statement(word: Word) -> bool:
    text = word.value or word.raw
    return bool(re.search(r"\s|\(", text)) and bool(_SQL_CHANGES.search(text))


def harms_database(command: Command) -> bool:
    """Whether the text that a shell of a database gets deletes data or changes who may do so."""
    if command.name not in _SQL_SHELLS:
        return False
    if command.name == "mysqladmin":
        return any(word.value in {"drop", "shutdown", "password"} for word in command.words)
    return any(_SQL_HARM.search(word.value or word.raw) for word in command.words)


_SERVERS = re.compile(
    r"vite|next|nuxt|webpack|react-scripts|uvicorn|gunicorn|flask|django|manage\.py|runserver|"
    r"celery|rails|puma|"
    r"jest|vitest|pytest|nodemon|ts-node|tsx|http\.server|http-server|live-server|json-server|"
    r"serve|dev|test|"
    r"storybook|playwright|cypress|gradle|streamlit|jupyter|hugo|jekyll|server|[\w./-]+\.(?:py|"
    r"js|ts|mjs|rb|sh)",
    re.IGNORECASE,
)


def is_of_project(name: str) -> bool:
    """Whether processes of this name, or with this command line, are servers and tests."""
    return bool(_SERVERS.search(name))
