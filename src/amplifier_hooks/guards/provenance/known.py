"""What is known of programs, packages and places of coding agents: data only."""

from __future__ import annotations

import re

from amplifier_hooks.guards.provenance.stems import split_names

INTERPRETERS = split_names("python python3 node ruby perl php deno bun lua pwsh osascript")

ORDINARY = split_names(
    "pytest py.test tox nox make cmake ctest ninja meson bazel gradle gradlew mvn mvnw sbt ant "
    "ruff mypy pyright black isort flake8 pylint eslint prettier tsc jest vitest mocha rspec "
    "rubocop rake phpunit gofmt golangci-lint rustc rustfmt clippy-driver javac java gcc g++ "
    "clang cc coverage pre-commit biome stylelint next vite webpack rollup esbuild turbo nx lerna "
    "alembic mkdir cd pwd ls cat echo printf true false test sleep touch export source . set "
    "which type env time wc sort uniq tr cut sed awk head tail less diff cmp file stat du df tree "
    "jq yq date python python3 node ruby perl go cargo npm yarn pnpm bun dotnet mix elixir swift "
    "flutter dart docker docker-compose podman uv poetry pdm hatch rye pip pip3 pipenv conda "
    "mamba bundle composer git gh glab grep rg find fd xargs cp mv ln chmod activate virtualenv "
    "venv manage.py django-admin flask uvicorn gunicorn rails artisan terraform kubectl helm "
    "ansible-playbook psql sqlite3 mysql redis-cli bash sh zsh [ [[ : exit return kill ps lsof "
    "top free uname whoami id hostname"
)
"""Programs of everyday work; what of them is none is judged by other rows."""

LOCAL_GIT = split_names(
    "add commit status diff log show branch switch checkout restore stash merge rebase "
    "cherry-pick fetch pull tag blame bisect rev-parse ls-files describe reflog grep init "
    "worktree revert mv config remote reset shortlog rm clean apply am format-patch range-diff "
    "sparse-checkout"
)

MANAGERS: dict[str, tuple[str, ...]] = {
    "pip": ("install", "download"), "pip3": ("install", "download"), "uv": ("add", "install"),
    "poetry": ("add",), "pdm": ("add",), "rye": ("add",), "hatch": (), "pipenv": ("install",),
    "pipx": ("install", "run"), "uvx": ("",), "conda": ("install",), "mamba": ("install",),
    "npm": ("install", "i", "add", "exec"), "pnpm": ("add", "i", "install", "dlx"),
    "yarn": ("add", "dlx"), "bun": ("add", "install"), "npx": ("",), "bunx": ("",), "pnpx": ("",),
    "cargo": ("add", "install"), "go": ("get", "install"), "gem": ("install",),
    "brew": ("install",),
    "apt": ("install",), "apt-get": ("install",), "apk": ("add",), "dnf": ("install",),
    "yum": ("install",), "pacman": ("-s",), "composer": ("require",), "dotnet": ("add", "package"),
    "docker": ("pull", "run"), "podman": ("pull", "run"), "code": ("--install-extension",),
    "helm": ("install",), "snap": ("install",), "choco": ("install",), "winget": ("install",),
}  # fmt: skip
"""Programs that fetch other people's code, by the words that make them do it."""

VALUED = split_names(
    "-r --requirement -c --constraint -e --editable -t --target -i --index-url --extra-index-url "
    "--index --find-links -f --registry --prefix --python --group -g --extra --features --version "
    "--path --name -v -p --publish --network --env --volume -w --workdir --entrypoint --platform "
    "--env-file --mount -n --channel --tag --user -u -m --with --from --cwd --filter --root"
)

POPULAR = split_names(
    "pip setuptools wheel build twine virtualenv pytest pytest-cov pytest-asyncio pytest-mock "
    "pytest-xdist coverage tox nox ruff black isort flake8 mypy pylint pyright pre-commit bandit "
    "hypothesis requests httpx aiohttp urllib3 flask django fastapi starlette uvicorn gunicorn "
    "pydantic sqlalchemy alembic psycopg psycopg2 psycopg2-binary asyncpg redis celery numpy "
    "pandas scipy matplotlib seaborn scikit-learn torch tensorflow transformers pillow "
    "opencv-python jupyter ipython notebook click typer rich tqdm pyyaml toml tomli "
    "python-dateutil pytz jinja2 markdown beautifulsoup4 lxml boto3 botocore docker paramiko "
    "cryptography pyjwt python-dotenv attrs marshmallow orjson ujson openpyxl selenium playwright "
    "scrapy freezegun responses factory-boy faker sphinx mkdocs mkdocs-material poetry uv pipx "
    "hatch types-requests types-pyyaml debugpy react react-dom next vue svelte angular express "
    "koa fastify nestjs typescript ts-node tsx tslib eslint prettier jest ts-jest vitest mocha "
    "chai sinon cypress webpack webpack-cli vite rollup esbuild babel lodash axios node-fetch "
    "dotenv cors body-parser mongoose pg mysql2 sqlite3 sequelize prisma typeorm zod joi yup uuid "
    "nanoid dayjs moment date-fns chalk commander yargs inquirer nodemon concurrently cross-env "
    "rimraf husky lint-staged tailwindcss postcss autoprefixer sass styled-components redux "
    "zustand rxjs d3 three chart.js socket.io ws jsonwebtoken bcrypt passport winston pino debug "
    "serde serde_json tokio reqwest clap anyhow thiserror rand regex tracing rayon axum actix-web "
    "diesel sqlx chrono log env_logger rails rspec rubocop bundler puma sidekiq devise rake "
    "nokogiri git curl wget jq make cmake gcc build-essential nodejs npm python3 python3-pip "
    "python3-venv postgresql postgresql-client sqlite ffmpeg imagemagick ripgrep fd-find tree "
    "unzip zip ca-certificates openssl libssl-dev pkg-config node python ruby golang postgres "
    "mysql mongo nginx alpine ubuntu debian busybox httpd rabbitmq memcached create-react-app "
    "create-next-app create-vite @types/node @types/react @types/jest @babel/core "
    "@playwright/test @testing-library/react @testing-library/jest-dom yarn pnpm "
    "npm-check-updates http-server serve"
)
"""The packages and images that most projects use: nobody needs to vouch for these."""

PLACES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(place), re.compile(words))
    for place, words in (
        (r"(?:^|/)(?:\.git/(?:hooks|config)|\.husky|\.pre-commit-config\.yaml|\.gitconfig)",
         r"hook|husky|pre-commit|git ?config"),
        (r"(?:^|/)\.(?:bashrc|bash_profile|bash_aliases|bash_login|profile|zshrc|zprofile|zshenv|"
         r"inputrc|config/fish)|/etc/(?:profile|bash|environment)",
         r"bash|zsh|fish|profile|alias|shell|\bpath\b|export|environment"),
        (r"(?:^|/)(?:\.github/(?:workflows|actions)|\.gitlab-ci|\.circleci|Jenkinsfile|\.travis|"
         r"azure-pipelines|bitbucket-pipelines|\.drone|\.buildkite)",
         r"\bci\b|workflow|pipeline|\bactions?\b|jenkins|gitlab|build (?:job|server)|\bjob\b|"
         r"release"),
        (r"(?:^|/)(?:\.claude|\.cursor|\.codex|\.gemini|\.aider|\.windsurf|\.clinerules|\.continue|"
         r"\.mcp\.json|\.github/copilot|CLAUDE\.md|AGENTS\.md|GEMINI\.md|\.cursorrules|\.opencode)",
         r"claude|cursor|codex|gemini|\bagents?\b|copilot|settings|permission|\bmcp\b|instruction|"
         r"rules"),
        (r"(?:^|/)(?:authorized_keys|\.ssh/|known_hosts)", r"\bssh\b|\bkeys?\b"),
        (r"(?:^|/)(?:cron|\.config/(?:systemd|autostart)|systemd|LaunchAgents|LaunchDaemons|"
         r"init\.d)",
         r"cron|schedul|timer|systemd|service|daemon|autostart|nightly|every"),
        (r"(?:^|/)(?:\.npmrc|\.yarnrc|\.pypirc|pip\.conf|pip/pip\.conf|\.cargo/config|\.netrc|"
         r"\.docker/config|\.envrc|\.direnv)",
         r"npmrc|registry|pypi|\bpip\b|cargo|netrc|direnv|envrc"),
        (r"(?:^|/)\.(?:vscode|idea|"
         r"devcontainer)", r"vs ?code|editor|tasks?|launch|debug|idea|devcontainer"),
        (r"(?:^|/)(?:sitecustomize\.py|usercustomize\.py|conftest\.pth|"
         r"[^/]+\.pth)$", r"sitecustomize|\.pth"),
        (r"^/(?:etc|usr|boot|lib|opt|bin|sbin)/", r"/etc|/usr|system"),
    )
)  # fmt: skip
"""Files that run or govern later, each with the words by which a person asks for it."""

OUTPUT = re.compile(
    r"(?:^|/)(?:build|dist|out|target|node_modules|__pycache__|\.pytest_cache|\.mypy_cache|"
    r"\.ruff_cache|"
    r"coverage|htmlcov|\.coverage|\.next|\.nuxt|\.turbo|\.cache|tmp|temp|\.tox|\.venv|venv|"
    r"[\w.-]*\.egg-info|[\w.*-]+\.(?:pyc|o|class|log|tmp|bak|orig|rej|swp))(?:/|$)|^/tmp/|^\$TMP"
)
"""What is made anew whenever it is needed."""

OUTWARD: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(command, re.IGNORECASE), re.compile(words))
    for command, words in (
        (r"git push\b",
         r"push|publish|\bpr\b|pull request|merge request|deploy|release|upload|ship|\bsync|"
         r"\bci\b|pipeline|\bgr(?:een|ün)|verde|au vert|"
         r"hochlad|sube|pousse"),
        (r"(?:gh|glab) (?:pr|mr) (?:create|ready|edit)",
         r"\bpr\b|pull request|merge request|\bmr\b|submit|review"),
        (r"(?:gh|glab) (?:pr|mr) (?:review .*--approve|approve)", r"approv|accept|lgtm|sign off"),
        (r"(?:gh|glab) (?:pr|mr) (?:merge|close)", r"merge|close|land\b"),
        (r"(?:gh|glab) (?:pr|mr) (?:review|comment)", r"review|comment|reply|answer|respond"),
        (r"(?:gh|glab) (?:issue|gist|release|label|workflow|run) (?:create|comment|close|edit|"
         r"delete|"
         r"upload|run|rerun|reopen|transfer|pin|lock)",
         r"issue|gist|release|label|comment|reply|answer|ticket|report|workflow|rerun|re-run|"
         r"\bci\b|file|triage"),
        (r"(?:gh|glab) (?:repo (?:edit|delete|fork|create|transfer|rename|deploy-key)|secret|"
         r"variable|"
         r"ssh-key|gpg-key|auth|api\b.* (?:-X|--method|-f|-F|--field|--input))",
         r"secret|variable|visibility|public|private|fork|\bapi\b|collaborator|transfer|"
         r"settings?|rename|deploy key"),
        (r"(?:npm|yarn|pnpm) publish|twine upload|cargo publish|gem push|poetry publish|uv publish|"
         r"docker push|podman push|helm push",
         r"publish|release|upload|push|ship|veröffentlich|publi"),
        (r"(?:npm|yarn) (?:owner|access|token|adduser|login|deprecate|unpublish|dist-tag)",
         r"owner|access|token|login|deprecat|unpublish|\btag\b"),
        (r"kubectl(?: \S+)* (?:apply|delete|exec|create|patch|scale|rollout|edit|set|replace|run|"
         r"cp|drain)|"
         r"helm (?:install|upgrade|uninstall|rollback|delete)|terraform (?:apply|destroy|import)|"
         r"(?:vercel|netlify|fly|flyctl|heroku|firebase|serverless|cdk|pulumi|wrangler|railway)"
         r"(?: \S+)* (?:deploy\w*|promote|alias|destroy|scale|up|ssh|rollback|publish|--prod|set|"
         r"add|rm)\b|"
         r"ansible-playbook|capistrano|cap \S+ deploy",
         r"deploy|apply|roll|scale|release|staging|prod|cluster|kubernetes|k8s|infra|terraform|"
         r"provision|upgrade"),
        (r"(?:aws|gcloud|az|gsutil|doctl|oci) .*\b(?:create|put|delete|rm|cp|mv|sync|update|attach|"
         r"add|set|"
         r"modify|run|start|stop|terminate|remove|import)",
         r"aws|\bs3\b|bucket|gcloud|gcp|azure|cloud|upload|deploy|sync|instance|backup|lambda"),
        (r"ssh \S+|ssh-copy-id|scp |sftp |rsync .*:|nc |ncat |netcat |socat |telnet ",
         r"\bssh\b|server|host|remote|machine|copy|deploy|upload|sync|transfer|log ?in|connect|"
         r"port"),
        (r"crontab|systemctl (?:enable|start|restart|link)|launchctl|at (?:now|\d)|update-rc\.d|"
         r"git config .*(?:core\.hookspath|alias\.|insteadof|credential|core\.sshcommand|"
         r"filter\.|core\.pager|core\.fsmonitor)",
         r"cron|schedul|service|systemd|restart|alias|hook|credential|git config|nightly|start"),
        (r"(?:psql|mysql|mariadb|sqlite3|mongosh?|redis-cli|clickhouse|cqlsh)\b.*\b(?:grant|"
         r"revoke|drop|"
         r"delete|truncate|alter|update|insert|create (?:user|role)|flushall|flushdb)\b",
         r"grant|revoke|drop|delete|truncat|alter|migrat|table|column|insert|update|seed|"
         r"permission|"
         r"reset the|flush|\bsql\b|user\b"),
        (r"(?:mail|mailx|sendmail|mutt|msmtp|swaks) ", r"mail|send"),
        (r"(?:useradd|usermod|adduser|passwd|visudo|chpasswd|gpasswd)|chmod .*(?:777|\+s|u\+s)",
         r"\buser\b|account|group|password|permission|sudo|chmod"),
        (r"(?:claude|codex|gemini|cursor|copilot) (?:mcp|config|plugin|settings)|npm config set|"
         r"pip config set|"
         r"git remote (?:add|set-url)",
         r"\bmcp\b|config|settings?|registry|remote|upstream|fork|origin|plugin"),
    )
)  # fmt: skip
"""Commands that act outside of the project, each with the words by which a person asks for it."""

WELL_KNOWN = split_names(
    "github.com api.github.com raw.githubusercontent.com gitlab.com pypi.org npmjs.com "
    "registry.npmjs.org stackoverflow.com wikipedia.org en.wikipedia.org python.org "
    "developer.mozilla.org react.dev vuejs.org nodejs.org go.dev pkg.go.dev rust-lang.org "
    "doc.rust-lang.org docs.rs crates.io kubernetes.io docker.com hub.docker.com "
    "learn.microsoft.com aws.amazon.com cloud.google.com postgresql.org sqlite.org nginx.org "
    "djangoproject.com flask.palletsprojects.com fastapi.tiangolo.com git-scm.com "
    "typescriptlang.org"
)
"""Places that models know by heart: read without a question where no text has named them."""

REGISTRIES = split_names(
    "pypi.org files.pythonhosted.org registry.npmjs.org registry.yarnpkg.com crates.io "
    "static.crates.io proxy.golang.org sum.golang.org rubygems.org docker.io registry-1.docker.io "
    "ghcr.io quay.io deb.debian.org archive.ubuntu.com repo1.maven.org packagist.org nodejs.org"
)
