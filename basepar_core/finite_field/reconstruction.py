"""Rational numbers from their residues."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, isqrt


def combine(residues: Sequence[int], primes: Sequence[int]) -> tuple[int, int]:
    """The residue modulo the product of distinct primes (Chinese remainders), and the product."""
    value, modulus = 0, 1
    for residue, prime in zip(residues, primes, strict=True):
        step = (residue - value) * pow(modulus, -1, prime) % prime
        value, modulus = value + modulus * step, modulus * prime
    return value, modulus


def rational(residue: int, modulus: int) -> Fraction | None:
    """The fraction with numerator and denominator below √(modulus/2) of this residue, if any.

    Euclid's algorithm stopped half-way (Wang, Guy & Davenport, SIGSAM Bulletin 16(2), 1982).
    """
    limit = isqrt(modulus // 2)
    r0, r1, t0, t1 = modulus, residue % modulus, 0, 1
    while r1 > limit:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    if abs(t1) > limit or gcd(r1, t1) != 1:
        return None
    return Fraction(r1, t1)
