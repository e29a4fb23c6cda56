"""A guess that is a word, a name or program code is none."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from amplifier_hooks.guards.policy.secrets.checks import (
    is_placeholder,
    is_random,
    is_secret_text,
)
from tests.hooks.guards.policy.secrets.secrets_made import REDACTOR

CODE = """
this.token = token;
self.password = password
token = get_token()
def login(password: str, token: str) -> None:
password = os.environ['DB_PASSWORD']
if token == other_token:
max_tokens=4000, tokens: 12
token_count: 1234567
api_key=config.api_key
secret = secrets[name]
PASSWORD=$DB_PASSWORD
bypass=12345678
https://example.com/a:b/c@d
the password is required
const token = await fetchToken();
let apiKey = process.env.API_KEY;
return { token: this.token, secret: options.secret };
private String password = null;
private readonly secretKey: string;
password: Optional[str] = None
credentials: AccessTokenProvider | None = None,
private_key: x25519.X25519PrivateKey
token = Token.Name.Builtin.SchemeFunction
parser.add_argument("--password", help="the password to use")
mysql --password=PASSWORD --user=USER
--token <token>
"password": "Password",
label: "Enter your password",
placeholder="Your API key"
TOKEN = 57
token = tok1
token = tokens[i + 1]
f(token=tok1, secret=secret2)
password = f"{user}:{host}"
secret_key = base64.b64encode(key).decode()
url = f"https://{user}:{password}@{host}/"
"postgres://user:password@localhost/db"
headers = {"Authorization": f"Bearer {token}"}
headers["Authorization"] = "Bearer " + token
req.headers.authorization === undefined
cookie: document.cookie
Set-Cookie: name=value
<token>{{ csrf_token }}</token>
<password>${DB_PASSWORD}</password>
Token: "#ddd0c0",
password_hash = hashlib.sha256(password).hexdigest()
token_type = "bearer"
"token": "csrfmiddlewaretoken"
password = getpass.getpass()
PASSWORD_HASHERS = []
auth_token: str = field(default="")
API_KEY = os.getenv("API_KEY")
export TOKEN="$(cat /run/secrets/token)"
var accessKey = "accessKey"
secret: ${{ secrets.GITHUB_TOKEN }}
assert response.token == expected_token
# login / password pairs are kept in the netrc
token := lexer.next()
let token: Token = parse(input)?;
$password = $request->get('password');
char *password = NULL;
""".strip().splitlines()


@pytest.mark.parametrize("line", CODE)
def test_ordinary_lines_of_programs_stay_as_they_are(line: str) -> None:
    """Source code must survive, or agents could not read it."""
    assert REDACTOR.redact_text(line) == line
    assert REDACTOR.redact_text(f"  {line}\n  {line}\n") == f"  {line}\n  {line}\n"


def find_source(packages: list[str]) -> Iterator[str]:
    for package in packages:
        found = find_spec(package)
        assert found is not None
        assert found.submodule_search_locations is not None
        for file in sorted(Path(found.submodule_search_locations[0]).rglob("*.py")):
            yield file.read_text(errors="replace")


def test_the_source_of_installed_projects_raises_no_false_alarm() -> None:
    """Not one find in real programs, some of which are all about passwords and tokens."""
    lines = 0
    for text in find_source(["click", "_pytest", "httpx2"]):
        lines += text.count("\n")
        spans = REDACTOR.find_spans(text)
        assert [text[one.start : one.end] for one in spans] == []
    assert lines > 30_000


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_that_is_installed_raises_a_false_alarm() -> None:
    """The same over every package of the environment."""
    folder = Path(sysconfig.get_path("purelib"))
    for file in sorted(folder.rglob("*.py")):
        text = file.read_text(errors="replace")
        assert [text[one.start : one.end] for one in REDACTOR.find_spans(text)] == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("hunter2", True),
        ("correct!horse", True),
        ("aB3dE5gH7", True),
        ("123456", True),
        ("hunter", False),
        ("csrf_token", False),
        ("sha256", False),
        ("config.api_key", False),
        ("get_token()", False),
        ("2024-01-31", False),
        ("me@example.com", False),
        ("https://example.com/v1", False),
        ("some words with 7 digits", False),
    ],
)
def test_the_letters_tell_a_secret_from_a_name(value: str, expected: bool) -> None:
    """Digits among letters, signs inside a word: yes. Words, names, dates, addresses: no."""
    assert is_secret_text(value) is expected


@pytest.mark.parametrize(
    "value",
    ["<token>", "$TOKEN", "${TOKEN}", "changeme", "xxxxxxxx", "****", "your-api-key", "..."],
)
def test_what_stands_for_a_secret_is_a_placeholder(value: str) -> None:
    """Documentation is full of them."""
    assert is_placeholder(value)


def test_random_letters_are_told_from_long_names() -> None:
    """The runs of one kind are short in what was drawn by lot."""
    assert is_random("aB3dE5gH7jK9mN1p")
    assert is_random("3f786850e387550fdab836ed7e6dc881de23001b")
    assert not is_random("Ed25519PrivateKeyTypes")
    assert not is_random("accessTokenProviderFactory")
    assert not is_random("aB3d")


@pytest.mark.parametrize(
    "text",
    [
        "PWD=/tmp/pytest-of-root/a1b2/x9Y",
        "OLDPWD=/srv/r3l34se-2026",
        "HOME=/root\nPWD=/root/k8s-9f3a\nOLDPWD=/\n",
        'export PWD="/home/me/app2/x1y"',
        '{"PWD": "/home/me/app2/Xy12z"}',
        "cwd and pwd: /home/me/app2/x1y2",
        "PWD=~/w0rk/p1",
        "PWD=C:\\\\Users\\\\me2",
        "SSH_ASKPASS=/usr/lib/ssh2/askpass-1",
        "GOOGLE_APPLICATION_CREDENTIALS=/home/me/keys/project-1.json",
    ],
)
def test_the_folder_of_a_shell_is_no_password(text: str) -> None:
    """`env` shows it in every shell."""
    assert REDACTOR.redact_text(text) == text


def test_the_folder_of_a_shell_is_no_password_in_nested_data() -> None:
    """As in the environment of a process."""
    env = {"PWD": "/srv/app1/x9", "OLDPWD": "/", "pwd": "/srv/app1/x9"}
    assert REDACTOR.redact(env) == env


@pytest.mark.parametrize(
    "text",
    [
        "PWD=hunter22!x",
        "DB_PWD=k9!fTq77",
        "Server=db;Pwd=/S3cr3t!9;",
        "DB_PWD=/K9fTq77xz",
        "pwd: /K9fTq77x!z",
        '{"db_pwd": "/K9fTq77xz"}',
    ],
)
def test_a_password_that_is_called_pwd_is_still_one(text: str) -> None:
    """Only a path is a folder; a single word behind a slash is one for PWD and OLDPWD only."""
    assert "[REDACTED:" in REDACTOR.redact_text(text)
