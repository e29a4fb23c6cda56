"""A package index on loopback, behind a certificate of a private authority."""

from __future__ import annotations

import datetime
import hashlib
import http.server
import ssl
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


@dataclass
class Index:
    """Where it is, whom to trust for it, what it has, and who has fetched that."""

    address: str
    authority: Path
    digest: str
    clients: set[str] = field(default_factory=set)


@contextmanager
def serve_index(folder: Path) -> Iterator[Index]:
    """Serve one package, `tiny-package` 1.0, from files below a folder."""
    project = folder / "simple" / "tiny-package"
    wheel = write_wheel(project, "tiny_package", "1.0")
    (project / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    authority = write_certificates(folder)
    index = Index("", authority, hashlib.sha256(wheel.read_bytes()).hexdigest())
    server = _make_server(folder, index)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    index.address = f"https://localhost:{server.server_port}/simple"
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _make_server(folder: Path, index: Index) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: object) -> None:
            if self.path.endswith(".whl"):
                index.clients.add(self.headers["User-Agent"].partition("/")[0])

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


def write_wheel(
    folder: Path, name: str, version: str, *, needs: str = "", modules: tuple[str, ...] = ()
) -> Path:
    """A package of empty files: one module, if none are named."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        **dict.fromkeys(modules or (f"{name}.py",), ""),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for place, text in files.items():
            wheel.writestr(place, text)
    return path


def write_certificates(folder: Path) -> Path:
    """An authority, and a server's key and certificate that it has signed."""
    signing, serving = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    signer = signing.public_key()
    authority = (
        _make_builder("a private authority", signing)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(signer), critical=False)
        .add_extension(_SIGNS_CERTIFICATES, critical=True)
    )
    # Python 3.13 and later refuse a certificate that does not name the key of its authority.
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    server = (
        _make_builder("a server", serving)
        .add_extension(names, critical=False)
        .add_extension(issuer, critical=False)
    )
    private = serving.private_bytes(
        PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    for name, builder in (("server", server), ("authority", authority)):
        signed = builder.sign(signing, hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(signed.public_bytes(PEM))
    return folder / "authority.pem"


def _make_builder(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name("a private authority"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
