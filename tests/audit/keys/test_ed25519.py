"""Signatures are verified in plain Python exactly as the cryptography package verifies them."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_audit.ed25519 import (
    BASE,
    NEUTRAL,
    ORDER,
    P,
    decode_point,
    encode_point,
    verify_signature,
)

# Public key, message and signature of the first tests in section 7.1 of RFC 8032.
PUBLISHED = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970"
        "1cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613"
        "d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
]
# Points whose multiples are few: y is 0, 1 or -1, or beyond p, with each sign.
ODD_KEYS = [
    (y | sign << 255).to_bytes(32, "little")
    for y in (0, 1, P - 1, P, P + 1, 2, 2**255 - 1)
    for sign in (0, 1)
]
SEEDS = st.binary(min_size=32, max_size=32)


def ask_cryptography(public_key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize(("key", "message", "signature"), PUBLISHED)
def test_the_published_signatures_are_valid(key: str, message: str, signature: str) -> None:
    """Those that every implementation is tested with."""
    parts = bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)
    assert verify_signature(*parts)
    assert ask_cryptography(*parts)


@settings(max_examples=25)
@given(SEEDS, st.binary(max_size=100))
def test_a_signature_is_valid_for_its_key_and_message_only(seed: bytes, message: bytes) -> None:
    """What cryptography signs is valid here, and on nothing else."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), key.sign(message)
    assert verify_signature(public, message, signature)
    assert not verify_signature(public, message + b"x", signature)
    other = Ed25519PrivateKey.from_private_bytes(seed[::-1] if seed != seed[::-1] else bytes(32))
    if (theirs := other.public_key().public_bytes_raw()) != public:
        assert not verify_signature(theirs, message, signature)


@settings(max_examples=40)
@given(SEEDS, st.integers(0, 96 * 8 - 1))
def test_one_changed_bit_makes_no_difference_between_the_two(seed: bytes, bit: int) -> None:
    """In the key or in the signature: both say the same."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    whole = bytearray(key.public_key().public_bytes_raw() + key.sign(b"message"))
    whole[bit // 8] ^= 1 << bit % 8
    public, signature = bytes(whole[:32]), bytes(whole[32:])
    ours = verify_signature(public, b"message", signature)
    assert ours == ask_cryptography(public, b"message", signature)


@pytest.mark.parametrize("key", ODD_KEYS, ids=lambda key: key.hex()[:6] + key.hex()[-2:])
@pytest.mark.parametrize("commitment", ODD_KEYS[:6], ids=lambda key: key.hex()[:6] + key.hex()[-2:])
def test_odd_keys_make_no_difference_between_the_two(key: bytes, commitment: bytes) -> None:
    """Points of small order, y beyond p, a sign where there is none."""
    for scalar in (0, 1, ORDER):
        signature = commitment + scalar.to_bytes(32, "little")
        assert verify_signature(key, b"m", signature) == ask_cryptography(key, b"m", signature)


def test_the_same_signature_cannot_be_written_in_two_ways() -> None:
    """S plus the order of the group is refused, though the equation would hold."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    signature = key.sign(b"m")
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    other = signature[:32] + scalar.to_bytes(32, "little")
    assert not verify_signature(key.public_key().public_bytes_raw(), b"m", other)


@pytest.mark.parametrize(("key", "signature"), [(31, 64), (33, 64), (32, 63), (32, 65), (0, 0)])
def test_other_lengths_are_not_valid(key: int, signature: int) -> None:
    """Nothing is cut or filled up."""
    assert not verify_signature(bytes(key), b"", bytes(signature))


@settings(max_examples=30)
@given(SEEDS)
def test_a_public_key_is_a_point_with_one_encoding(seed: bytes) -> None:
    """Decoding and encoding are each other's reverse."""
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    point = decode_point(public)
    assert point is not None
    assert encode_point(point) == public


def test_about_half_of_all_numbers_are_no_point() -> None:
    """There is no x for such a y, and no signature is valid for such a key."""
    none = [y for y in range(50) if decode_point(y.to_bytes(32, "little")) is None]
    assert 15 < len(none) < 35
    key = none[0].to_bytes(32, "little")
    assert not verify_signature(key, b"", bytes(64))


def test_the_base_point_is_the_published_one() -> None:
    """Its y is four fifths, and its encoding has 0x66 in all bytes but the first."""
    assert encode_point(BASE) == bytes([0x58]) + bytes([0x66]) * 31
    assert encode_point(NEUTRAL) == bytes([1]) + bytes(31)
