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
        "*.textconv|*.clean|*.smudge|*.process|*.cmd|*.external|filter.*|diff.*|include*|init.*|"
        "pager.*|"
        "url.*|remote.*|submodule.*|credential.*|protocol.*|hook.*|extensions.*|uploadpack.*|"
        "trailer.*",
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
    "firewall": ("iptables|ip6tables|nft|ufw|pfctl", "it changes the firewall"),
    "mount": ("mount|umount|losetup|cryptsetup", "it changes what is mounted"),
    "accounts": (
        "useradd|usermod|userdel|groupadd|groupdel|passwd|visudo",
        "it changes user accounts",
    ),
    "kernel": ("insmod|rmmod|modprobe|sysctl|kexec", "it changes the running kernel"),
    "kill-names": ("killall|pkill", "it kills processes by name"),
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
    "trusted-folder": (
        "direnv|mise|rtx allow|permit|grant|trust",
        "it lets files of the folder run code on their own",
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
        "tex|latex|pdftex|pdflatex|luatex|lualatex|xetex|xelatex|latexmk|tectonic "
        "--shell-escape|-shell-escape|--enable-write18|-enable-write18",
        "it makes TeX run other programs",
    ),
    "rpm-runs": ("rpm|rpmdb|rpmquery|rpmverify --eval|-E|--pipe", "it runs another program"),
    "tar-rsh": ("tar|cpio --rsh-command", "it makes tar run a program"),
    "debugger-runs": (
        "gdb|gdb-multiarch|rust-gdb|lldb|rust-lldb|expect|perf|valgrind|rr",
        "it runs another program under its control",
    ),
    "runs-more": (
        "setpriv|nsenter|systemd-run|aa-exec|aoss|distcc|multitime|pexec|setarch|setlock|sshpass|"
        "torsocks|openvt|rlwrap|ltrace|bwrap|firejail|runcon|prlimit|numactl|sg|newgrp|capsh|"
        "faketime|"
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
    "man-runs": ("man -P|--pager|-H*|--html*", "it runs another command, which is not checked"),
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
    "push-elsewhere": (
        "git push *://*|*@*:*|/*|./*|../*|~*",
        "it publishes to an address that is no remote of the project",
    ),
    "remote-url": ("git remote set-url", "it changes where every later push goes"),
    "rights-of-owner": (
        "chmod|install *[ugo]+s*|+s|[24567][0-7][0-7][0-7]",
        "whoever runs the file gets the rights of its owner",
    ),
    "capabilities": ("setcap *", "whoever runs the file gets rights of the system"),
    "persist": (
        "npm|pnpm|yarn|pip|pip3 config set|delete",
        "it changes settings of all projects",
    ),
    "persist-mac": ("defaults write|delete|import", "it changes settings of the system"),
    "global-packages": (
        "npm|pnpm|yarn|bun -g|--global",
        "it installs a program for all projects",
    ),
    "global-packages-yarn": ("yarn global", "it installs a program for all projects"),
    "global-tools": (
        "cargo|pipx install|uninstall|inject|upgrade",
        "it installs a program for all projects",
    ),
    "global-tools-gem": ("gem install|uninstall|update", "it installs a program for all projects"),
    "global-tools-pip": (
        "pip|pip3 --user|--break-system-packages install",
        "it installs a program for all projects",
    ),
    "registry-account": (
        "npm|pnpm|yarn|cargo|docker|podman|gem|poetry|helm "
        "unpublish|deprecate|owner|access|team|dist-tag|logout|adduser|yank",
        "it changes a login, or what is published",
    ),
    "account": ("docker|podman|helm login", "it changes a login"),
    "publish-twine": ("python* twine upload", "it publishes a package"),
    "global-tools-go": ("go install *@*", "it installs a program for all projects"),
    "global-tools-uv": (
        "uv tool install|upgrade|uninstall",
        "it installs a program for all projects",
    ),
    "package-address": (
        "pip|pip3|uv|npm|pnpm|yarn|bun|poetry|cargo|gem install|i|add "
        "git+*|http:*|https:*|git@*|ssh:*|git:*|github:*|file:/*",
        "it installs from an address that is no package index",
    ),
    "package-index": (
        "pip|pip3|uv|npm|pnpm|yarn|bun --index-url|--extra-index-url|-i|--registry|--index|"
        "--trusted-host install|add|sync|ci|i",
        "it installs from another package index",
    ),
    "publish-more": (
        "mvn|mvnw|gradle|gradlew|sbt|lein deploy|publish|publishSigned|release:perform|"
        "publishAll*|publishPlugins|publishTo[A-KN-Z]*",
        "it publishes a package",
    ),
    "publish-others": (
        "dotnet|pod|vsce|ovsx|lerna|changeset|jsr|deno|conan|mix|cabal|stack|dart|flutter|"
        "luarocks|wally "
        "publish|push|upload|hex.publish|trunk",
        "it publishes a package",
    ),
    "push-image-copy": ("skopeo|crane|oras|regctl copy|push|cp", "it publishes an image"),
    "volumes": ("docker|podman|nerdctl volume rm|remove|prune", "it deletes data of containers"),
    "volumes-compose": (
        "docker|podman|docker-compose|podman-compose -v|--volumes down|rm",
        "it deletes data of containers",
    ),
    "stacks": (
        "docker|podman stack|swarm|service|node|secret|config deploy|rm|leave|update|scale|"
        "create|init|join",
        "it changes a cluster",
    ),
    "forge-repository": (
        "gh|glab repo create|delete|edit|archive|unarchive|rename|transfer|deploy-key|mirror",
        "it changes a shared repository",
    ),
    "forge-release": (
        "gh|glab release|gist|snippet|workflow create|delete|edit|upload|run|enable|disable|rename",
        "it publishes, or starts what runs elsewhere",
    ),
    "forge-secret": (
        "gh|glab secret|variable|ssh-key|gpg-key|deploy-key|codespace|cs|extension|cache|"
        "ruleset|org "
        "set|delete|remove|add|create|install|ssh|cp|stop|edit|upgrade",
        "it changes keys, settings or machines elsewhere",
    ),
    "forge-account": ("gh|glab auth login|logout|refresh|setup-git|switch", "it changes a login"),
    "forge-close": (
        "gh|glab pr|mr|issue|run|label close|delete|transfer|lock|cancel|unlock",
        "it changes what others see and work with",
    ),
    "forge-elsewhere": (
        "gh|glab -R|--repo create|comment|edit|review|reopen|ready",
        "it writes in another repository",
    ),
    "database-reset": (
        "rails|rake|flask|mix|sequelize|sequelize-cli|typeorm|diesel|sqlx|dbmate|wp|supabase|ef|"
        "goose|hasura|drizzle-kit|liquibase|flyway "
        "db:drop*|db:reset|db:purge|db:migrate:reset|db:migrate:undo:all|ecto.drop|ecto.reset|"
        "schema:drop|drop|reset|drop-all|dropAll|clean",
        "it deletes a database",
    ),
    "database-reset-python": (
        "python*|uv|poetry|manage.py|django-admin *manage.py|manage.py|run flush|reset_db",
        "it deletes data",
    ),
    "database-reset-django": ("manage.py|django-admin flush|reset_db", "it deletes data"),
    "database-reset-prisma": ("prisma reset", "it deletes a database"),
    "database-reset-prisma-push": ("prisma --force-reset|--accept-data-loss", "it deletes data"),
    "database-reset-php": (
        "php|artisan|console|sail migrate:fresh|migrate:reset|migrate:refresh|db:wipe|"
        "doctrine:database:drop|doctrine:schema:drop",
        "it deletes a database",
    ),
    "database-reset-dotnet": ("dotnet ef database drop", "it deletes a database"),
    "database-restore": ("pg_restore|mongorestore --clean|--drop|-c", "it deletes data"),
    "downgrade": ("alembic|flask downgrade", "it undoes changes of a database"),
    "store-admin": (
        "redis-cli|valkey-cli|keydb-cli [Cc][Oo][Nn][Ff][Ii][Gg]|[Ss][Hh][Uu][Tt][Dd][Oo][Ww][Nn]|"
        "[Dd][Ee][Bb][Uu][Gg]|[Rr][Ee][Pp][Ll][Ii][Cc][Aa][Oo][Ff]|[Ss][Ll][Aa][Vv][Ee][Oo][Ff]",
        "it changes how the store works, or stops it",
    ),
    "history": ("history -c", "it deletes the record of what was run"),
    "extensions": (
        "code|code-insiders|cursor|codium --install-extension|--uninstall-extension",
        "it changes the editor",
    ),
    "code-runs": (
        "ghc|runghc|gnuplot|knife|latexmk|perlbug|sbcl|racket|clojure|swipl|maxima|gimp|bee|"
        "raku|sage "
        "-e|-E|-b|--eval|--batch|-pdflatex=*",
        "it passes code to a program, which is not checked",
    ),
    "engines": ("openssl|curl -engine|--engine|-provider", "it loads a library"),
    "engines-ssh": ("ssh-keygen|ssh-add -D|-s", "it loads a library"),
    "engines-database": ("mysql|mariadb --default-auth|--plugin-dir", "it loads a library"),
    "connect": ("openssl s_client|s_server", "it connects to another machine"),
    "listen": ("busybox|php|ruby httpd|telnetd|nc|ftpd|tcpsvd", "it opens this machine to others"),
    "listen-php": ("php -S 0.0.0.0*", "it opens this machine to others"),
    "tunnel-code": ("code|cursor|code-server tunnel|serve-web", "it opens this machine to others"),
    "modules": ("zmodload zsh/net*|zsh/zftp*", "it lets the shell connect to other machines"),
    "desktop": ("osascript|xdotool|ydotool|wtype|cliclick *", "it acts in other programs"),
    "namespaces": (
        "unshare|chroot|debugfs|kexec|capsh|pivot_root",
        "it changes what a process may do",
    ),
    "open-shell": ("script|dvtm|byobu|tmate|ttyd|gotty|wetty|shellinabox *", "it opens a shell"),
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
