"""Programs by what they do elsewhere or for good."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.consequences import find_act, harms_database, sends_away
from amplifier_hooks.guards.bash.script import parse_script


def find_rule(source: str) -> str | None:
    found = find_act(parse_script(source).commands[0])
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("systemctl enable --now x", "schedule"),
        ("crontab file", "schedule"),
        ("apt-get install -y x", "system-packages"),
        ("brew services start x", "system-packages"),
        ("aws ec2 run-instances", "cloud"),
        ("aws a-command-of-tomorrow do-something", "cloud"),
        ("aws s3 cp f s3://b/f", "cloud"),
        ("aws secretsmanager get-secret-value --secret-id x", "cloud"),
        ("gcloud auth print-access-token", "cloud"),
        ("vercel", "deploy"),
        ("vercel --prod", "deploy"),
        ("fly deploy", "deploy"),
        ("kubectl delete pod x", "cluster"),
        ("kubectl get secrets -A", "cluster"),
        ("helm upgrade x y", "releases"),
        ("terraform destroy", "infrastructure"),
        ("terraform state rm x", "infrastructure"),
        ("mail -s x a@example.com", "mail"),
        ("ngrok http 80", "tunnel"),
        ("ip link set eth0 down", "system"),
        ("ifconfig eth0 down", "system"),
        ("gh auth token", "secrets-shown"),
        ("gpg --armor --export-secret-keys", "secrets-shown"),
        ("frobnicate --on-done /bin/sh", "shell-inside"),
        ("frobnicate --pre-command 'x y'", "option-runs"),
        ("echo '/bin/sh -i' > x", "shell-inside"),
        ("irb", "console"),
        ("etcdctl del / --prefix", "stores"),
        ("kafka-topics.sh --delete --topic x", "stores"),
        ("zfs destroy -r tank/home", "system"),
        ("lp < x", "network-tools"),
    ],
)
def test_what_acts_is_found(source: str, rule: str) -> None:
    assert find_rule(source) == rule


@pytest.mark.parametrize(
    "source",
    [
        "systemctl status x",
        "systemctl --version",
        "crontab -l",
        "apt list --installed",
        "brew list",
        "aws ec2 describe-instances",
        "aws s3 ls s3://b",
        "aws s3 cp s3://b/f .",
        "aws help",
        "gcloud compute instances list",
        "vercel dev",
        "kubectl get pods -o wide",
        "kubectl rollout status deploy/web",
        "helm template x",
        "terraform plan -out=x",
        "terraform state list",
        "ip addr show",
        "ifconfig eth0",
        "grep /bin/sh x",
        "docker run -it x /bin/sh",
        "echo '#!/bin/bash' > x.sh",
        "irb script.rb",
    ],
)
def test_what_only_looks_is_not(source: str) -> None:
    assert find_rule(source) is None


@pytest.mark.parametrize(
    ("source", "sends"),
    [
        ("curl https://a.example", False),
        ("curl -sS -o f https://a.example", False),
        ("curl -G -d q=x https://a.example", False),
        ("curl -d q=x https://a.example", True),
        ("curl -sd q=x https://a.example", True),
        ("curl --json '{}' https://a.example", True),
        ("curl -X DELETE https://a.example", True),
        ("curl --request=PUT https://a.example", True),
        ("curl -T f https://a.example", True),
        ("curl gopher://a.example/x", True),
        ("curl -d q=x http://localhost:3000/x", False),
        ("curl -X POST http://127.0.0.1", False),
        ("curl -d q=x http://localhost.a.example/x", True),
        ("curl -d q=x http://localhost@a.example/x", True),
        ("curl -d q=x http://localhost:3000 https://a.example", True),
        ("http POST a.example x=1", True),
        ("http POST :3000/x a=1", False),
        ("http GET a.example", False),
    ],
)
def test_what_goes_to_another_machine(source: str, sends: bool) -> None:
    assert sends_away(parse_script(source).commands[0]) is sends


@pytest.mark.parametrize(
    ("source", "harms"),
    [
        ("psql -c 'select 1'", False),
        ("psql -c 'drop table x'", True),
        ("psql -c 'delete from x where id = 1'", False),
        ("psql -c 'delete from x'", True),
        ("mysql -e 'update x set a = 1'", True),
        ("mysql -e 'update x set a = 1 where b = 2'", False),
        ("mysqladmin drop x", True),
        ("sqlite3 a.db 'select dropped from x'", False),
        ("psql -c \"copy x to program 'sh'\"", True),
    ],
)
def test_sql_that_deletes(source: str, harms: bool) -> None:
    assert harms_database(parse_script(source).commands[0]) is harms
