"""Commands that are known by their looks: what is denied, what is asked about, and why."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_hooks.guards.bash.command_pattern import CommandPattern
from amplifier_hooks.guards.bash.situations import Action
from amplifier_hooks.guards.policy.agent_programs import AGENT_PROGRAMS

_DENIED = {
    "format": ("mkfs|mkfs.*|mke2fs|mkswap|wipefs|newfs|newfs_*", "it formats a disk"),
    "force-push": (
        "git push|send-pack|http-push --force|-f|--mirror",
        "it overwrites published history",
    ),
    "force-push-ref": ("git push|send-pack|http-push +*", "it overwrites published history"),
    "kill-all": ("kill -9|-KILL|-SIGKILL -1", "it kills every process"),
}
_ASKED = {
    "partition": ("fdisk|sfdisk|gdisk|parted|diskutil|lvremove|vgremove|zpool", "it changes disks"),
    "power": ("shutdown|reboot|halt|poweroff|init|telinit", "it stops the machine"),
    "open-rights": ("chmod 777|0777|a+rwx|ugo+rwx|a=rwx|o+w|666", "it lets every user write"),
    "push-lease": (
        "git push --force-with-lease*|--delete|-d|--prune",
        "it rewrites or deletes a remote branch",
    ),
    "push-mirror": ("git remote --mirror*", "it makes every later push overwrite the remote"),
    "push-delete": ("git push :*", "it deletes a remote branch"),
    "git-reset": ("git reset --hard|--merge", "it discards uncommitted work"),
    "git-clean": ("git clean -f|--force", "it deletes untracked files"),
    "git-checkout": (
        "git checkout|restore|switch -f|--force|--discard-changes",
        "it discards uncommitted work",
    ),
    "git-branch": (
        "git branch -D|--delete|-f|--force",
        "it deletes or moves a branch, which may leave commits without one",
    ),
    "git-tag": ("git tag -d|--delete|-f|--force", "it deletes or moves a tag"),
    "git-refs": ("git update-ref", "it deletes or moves names of commits"),
    "git-symbolic-ref": ("git symbolic-ref -d|--delete", "it deletes a name of a commit"),
    "git-stash": ("git stash drop|clear", "it deletes stashed work"),
    "git-read-tree": ("git read-tree -u", "it discards uncommitted work"),
    "git-worktree": (
        "git worktree|submodule remove|deinit|update -f|--force",
        "it discards uncommitted work",
    ),
    "git-reflog": ("git reflog expire|delete|drop", "it deletes what lost work is found again by"),
    "git-prune": ("git gc --prune=*", "it deletes lost work for good"),
    "git-fetch": ("git fetch|pull -f|--force|-u|--update-head-ok", "it moves branches"),
    "git-fetch-ref": ("git fetch|pull +*:*", "it moves a branch"),
    "git-import": ("git fast-import --force", "it moves branches"),
    "git-repack": ("git repack -d|-A", "it deletes lost work for good"),
    "git-rewrite": ("git filter-branch|filter-repo", "it rewrites history"),
    "svn-revert": ("svn revert -R|--recursive|--depth", "it discards uncommitted work"),
    "other-revert": (
        "bzr|brz|fossil|p4|darcs|got|pijul revert|clean|clean-tree|obliterate|unrecord|reset",
        "it discards uncommitted work",
    ),
    "svn-cleanup": ("svn cleanup --remove-*", "it deletes untracked files"),
    "cvs-update": ("cvs update|up -C", "it discards uncommitted work"),
    "hg-update": ("hg|sl update|up|checkout|co|goto -C|--clean", "it discards uncommitted work"),
    "hg-revert": ("hg|sl revert --all|-a", "it discards uncommitted work"),
    "hg-discard": ("hg|sl strip|purge|rollback|prune|clean|hide", "it discards work or history"),
    "hg-config": ("hg|sl --config|--debugger", "it can make hg run other programs"),
    "jj-discard": ("jj abandon", "it discards commits"),
    "jj-operations": ("jj op|operation restore|abandon", "it discards work or history"),
    "git-config": (
        "git -c|--config-env|--exec-path|--upload-pack|--receive-pack",
        "it can make git run other programs",
    ),
    "git-alias": (
        "git config core.*|alias.*|*.command|*.program|*.helper|*.path|*.editor|*.driver|"
        "*.textconv|*.clean|*.smudge|*.process|*.cmd|*.external|filter.*|diff.*|include*|init.*|pager.*|"
        "url.*|remote.*|submodule.*|credential.*|protocol.*|hook.*|extensions.*|uploadpack.*|trailer.*",
        "it can make git run other programs",
    ),
    "git-config-file": (
        "git config -f|--file|-e|--edit|--global|--system|--worktree",
        "it can change settings that make git run programs",
    ),
    "git-runs": (
        "git -x|--exec|--extcmd|--template|--ext-diff",
        "it can make git run other programs",
    ),
    "git-each": ("git bisect|submodule run|foreach", "git runs a command"),
    "git-tools": ("git difftool|mergetool", "git runs a program named in its settings"),
    "remote-shell": ("ssh|telnet|nc|ncat|netcat|socat|mosh", "it connects to another machine"),
    "copy-out": ("scp|sftp|ftp", "it copies files to or from another machine"),
    "upload": ("curl -T|--upload-file|-F|--form", "it uploads a file"),
    "upload-data": ("curl @*", "it uploads a file"),
    "upload-wget": (
        "wget --post-file|--body-file|--post-data|--body-data|--method",
        "it sends data to another machine",
    ),
    "download-runs": (
        "wget|aria2c|yt-dlp|youtube-dl --use-askpass|--on-*|--exec|--exec-before-download",
        "it runs another program",
    ),
    "schedule": (
        "crontab|at|batch|systemctl|launchctl|service",
        "it changes services or scheduled jobs",
    ),
    "firewall": ("iptables|ip6tables|nft|ufw|pfctl", "it changes the firewall"),
    "mount": ("mount|umount|losetup|cryptsetup", "it changes what is mounted"),
    "accounts": (
        "useradd|usermod|userdel|groupadd|groupdel|passwd|visudo",
        "it changes user accounts",
    ),
    "kernel": ("insmod|rmmod|modprobe|sysctl|kexec", "it changes the running kernel"),
    "kill-names": ("killall|pkill", "it kills processes by name"),
    "infrastructure": ("terraform|tofu|pulumi apply|destroy|up", "it changes infrastructure"),
    "cluster": ("kubectl delete|drain|apply|replace|scale", "it changes a cluster"),
    "releases": ("helm uninstall|delete|upgrade|install", "it changes a cluster"),
    "publish": (
        "npm|pnpm|yarn|cargo|gem|poetry|uv|flit|hatch publish|push",
        "it publishes a package",
    ),
    "publish-python": ("twine upload", "it publishes a package"),
    "push-image": ("docker|podman push", "it publishes an image"),
    "containers": (
        "docker|podman --privileged|-v|--volume|--mount|--pid",
        "it gives a container access to the host",
    ),
    "prune": ("docker|podman prune", "it deletes containers, images or volumes"),
    "cloud-delete": ("aws|gcloud|az|gsutil rm|rb|delete*|terminate*", "it deletes cloud resources"),
    "repository": ("gh|glab delete|merge|api", "it can change a shared repository"),
    "tar-runs": (
        "tar --checkpoint-action|--to-command|--use-compress-program|-I",
        "it makes tar run a program",
    ),
    "tar-absolute": ("tar|bsdtar -P|--absolute-names", "it writes wherever the archive says"),
    "rsync-runs": (
        "rsync -e|--rsh|--rsync-path|--delete*",
        "it makes rsync run a program or delete files",
    ),
    "search-runs": ("rg|sort --pre|--hostname-bin|--compress-program", "it runs another program"),
    "find-writes": ("find|gfind -fprint|-fprint0|-fprintf|-fls", "find writes a file"),
    "editor-runs": (
        "vi|vim|nvim|ex|view|ed|emacs|emacsclient -c|--cmd|-S|-s|-e|--eval|-l|--load|--script",
        "it can make the editor run commands",
    ),
    "backup-runs": (
        "restic|borg --password-command|--rsh|--option|-o",
        "it makes the backup program run another one",
    ),
    "packet-runs": ("tcpdump -z", "it runs another program"),
    "monitor-runs": ("pidstat|scrot|enscript -e|-I", "it runs another program"),
    "tex-runs": (
        "tex|latex|pdftex|pdflatex|luatex|lualatex|xetex|xelatex --shell-escape|-shell-escape",
        "it makes TeX run other programs",
    ),
    "rpm-runs": ("rpm|rpmdb|rpmquery|rpmverify --eval|-E|--pipe", "it runs another program"),
    "tar-rsh": ("tar|cpio --rsh-command", "it makes tar run a program"),
    "debugger-runs": (
        "gdb|lldb|expect|perf|valgrind|rr",
        "it runs another program under its control",
    ),
    "runs-more": (
        "setpriv|nsenter|systemd-run|aa-exec|aoss|distcc|multitime|pexec|setarch|setlock|sshpass|"
        "torsocks|openvt|rlwrap|ltrace|bwrap|firejail|runcon|prlimit|numactl|sg|newgrp|capsh|faketime|"
        "dbus-run-session|xvfb-run|torify|proxychains*|daemonize|start-stop-daemon|run-parts|ld.so|"
        "ld-linux*|qemu-*|logsave|choom|cpulimit|dtach|abduco|sem|rush|machinectl|chpst|softlimit",
        "it runs another command, which is not checked",
    ),
    "runs-words": (
        "alacritty|catatonit|cgexec|concurrently|dbus-launch|dumb-init|eatmydata|envchain|envdir|"
        "gnome-terminal|gosu|hyperfine|i3-msg|ifne|kitty|konsole|lima|nu|pee|please|powershell|"
        "retry|run0|setuidgid|ssh-agent|su-exec|swaymsg|systemd-inhibit|tini|trickle|tsocks|"
        "vagrant|watchexec|wezterm|wsl|xonsh|xterm|zellij *",
        "it runs another command, which is not checked",
    ),
    "shell-runs": (
        "nix-shell|nodemon --run|--command|-x|--exec",
        "it runs another command, which is not checked",
    ),
    "split-runs": ("split|gsplit --filter", "it runs another command, which is not checked"),
    "zip-runs": ("zip -TT|--unzip-command", "it runs another command, which is not checked"),
    "pager-runs": ("less|more +!*", "it runs another command, which is not checked"),
    "man-runs": ("man -P|--pager", "it runs another command, which is not checked"),
    "secrets-run": ("sops exec-env|exec-file", "it runs another command, which is not checked"),
    "cargo-watch": ("cargo watch -s|--shell", "it runs another command, which is not checked"),
    "tar-moves": ("tar|gtar|bsdtar --remove-files", "it deletes what it packs"),
    "zip-moves": ("zip -m|--move", "it deletes what it packs"),
    "7z-moves": ("7z|7za|7zr|7zz -sdel", "it deletes what it packs"),
    "erase": ("srm|wipe|rimraf", "it deletes folders with all that is in them"),
    "patches": ("git apply|am", "it writes to the files that the patch names"),
    "patch-files": ("patch", "it writes to the files that the patch names"),
    "make-shell": ("make|gmake SHELL=*", "it makes make use another shell"),
    "sessions": ("tmux|screen", "it runs commands that are not checked"),
    "database-shell": ("sqlite3|psql|mysql .shell*|.system*|*\\\\!*", "it runs shell commands"),
    "database-drop": (
        "sqlite3|psql|mysql|mariadb|mysqladmin|duckdb|clickhouse-client|cqlsh "
        "*[Dd][Rr][Oo][Pp]*|*[Tt][Rr][Uu][Nn][Cc][Aa][Tt][Ee]*",
        "it deletes data",
    ),
    "packages": ("npx|bunx|pipx|uvx", "it may download and run a program"),
    "packages-python": (
        "pip|pip3|uv install|download|wheel|add|sync",
        "installing a package may run its code",
    ),
    "packages-node": (
        "npm|pnpm|yarn|bun install|i|add|ci|exec|x|dlx|create|init|link|rebuild",
        "installing a package may run its scripts",
    ),
    "database": ("dropdb|dropuser", "it deletes a database"),
    "database-flush": (
        "redis-cli|valkey-cli|keydb-cli "
        "[Ff][Ll][Uu][Ss][Hh][Aa][Ll][Ll]|[Ff][Ll][Uu][Ss][Hh][Dd][Bb]",
        "it deletes data",
    ),
    "database-mongo": ("mongo|mongosh *dropDatabase*|*.drop(*|*deleteMany(*", "it deletes data"),
}


@dataclass(frozen=True, slots=True)
class ListedCommand:
    """An entry of a list: commands that look like this, and what speaks against them."""

    action: Action
    rule: str
    pattern: CommandPattern
    reason: str


def _read_table(action: Action, table: dict[str, tuple[str, str]]) -> tuple[ListedCommand, ...]:
    return tuple(
        ListedCommand(action, rule, CommandPattern.read(text), reason)
        for rule, (text, reason) in table.items()
    )


_AGENTS = {
    f"agent-{one.guard}": (
        f"{'|'.join(one.names)} {'|'.join(one.off)}",
        "it starts an agent without what guards it",
    )
    for one in AGENT_PROGRAMS
    if one.off
}
LISTED: tuple[ListedCommand, ...] = (
    _read_table("deny", _DENIED) + _read_table("ask", _ASKED) + _read_table("ask", _AGENTS)
)
