"""Verification of Ed25519 signatures (RFC 8032) with the standard library alone.

It takes and refuses exactly what the cryptography package does, which verifies by OpenSSL: without
the cofactor, S below the order of the group, R compared byte for byte with the one encoding that a
point has, and the public key's y read modulo p. Nothing here is secret, so nothing needs to take a
constant time; about 2 ms a signature.
"""

from __future__ import annotations

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
"""Extended homogeneous coordinates X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z."""

NEUTRAL: Point = (0, 1, 1, 0)


def verify_signature(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is the key's on the message."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    commitment = signature[:32]
    scalar = int.from_bytes(signature[32:], "little")
    # Without this bound the same signature could be written in several ways.
    if scalar >= ORDER:
        return False
    point = decode_point(public_key)
    if point is None:
        return False
    digest = hashlib.sha512(commitment + public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return encode_point(_add_multiples(scalar, BASE, challenge, _negate(point))) == commitment


def decode_point(encoded: bytes) -> Point | None:
    """The point of 32 bytes; None if there is none with that y."""
    number = int.from_bytes(encoded, "little")
    sign = number >> 255
    y = (number & (2**255 - 1)) % P
    x = _recover_x(y)
    if x is None:
        return None
    # x = 0 has no other sign: then the bit is ignored, as OpenSSL ignores it.
    if x & 1 != sign:
        x = -x % P
    return x, y, 1, x * y % P


def encode_point(point: Point) -> bytes:
    """The 32 bytes of a point: y, and the lowest bit of x on top."""
    inverse = pow(point[2], -1, P)
    x = point[0] * inverse % P
    y = point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _recover_x(y: int) -> int | None:
    """A root of (y² - 1) / (d y² + 1), if there is one."""
    u = (y * y - 1) % P
    v = (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P == 0:
        return x
    if (v * x * x + u) % P == 0:
        return x * ROOT_OF_MINUS_ONE % P
    return None


def _negate(point: Point) -> Point:
    x, y, z, t = point
    return -x % P, y, z, -t % P


def _add(one: Point, other: Point) -> Point:
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a = (y1 - x1) * (y2 - x2) % P
    b = (y1 + x1) * (y2 + x2) % P
    c = 2 * D * t1 * t2 % P
    d = 2 * z1 * z2 % P
    e = b - a
    f = d - c
    g = d + c
    h = b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _double(point: Point) -> Point:
    x, y, z, _ = point
    a = x * x % P
    b = y * y % P
    h = a + b
    e = h - (x + y) * (x + y) % P
    g = a - b
    f = 2 * z * z % P + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def _add_multiples(first: int, one: Point, second: int, other: Point) -> Point:
    """first x one + second x other, with the doublings done once for both."""
    sums = (NEUTRAL, one, other, _add(one, other))
    total = NEUTRAL
    for bit in reversed(range(max(first.bit_length(), second.bit_length()))):
        total = _double(total)
        choice = (first >> bit & 1) | (second >> bit & 1) << 1
        if choice:
            total = _add(total, sums[choice])
    return total


def _find_base() -> Point:
    y = 4 * pow(5, -1, P) % P
    point = decode_point(y.to_bytes(32, "little"))
    assert point is not None
    return point


BASE = _find_base()
