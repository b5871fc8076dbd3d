"""Decimal numbers of certificates, rounded to the nearest."""

from flint import arb

#: Digits after the point of pins and poses; digits of the determinant.
DECIMALS, DIGITS = 12, 18
#: Digits after the point of angles of couplings.
VALUE_DECIMALS = 6


def short(hundredths: int) -> str:
    return decimal(int(hundredths) / 100, 2)


def decimal(x: float, decimals: int = DECIMALS) -> str:
    return f"{x:.{decimals}f}"


def rounded(x: arb, decimals: int = DECIMALS) -> str:
    """To the nearest unit of the last decimal."""
    whole = int((x.mid() * 10**decimals + arb(0.5)).mid().floor().fmpz())
    sign, digits = "-" * (whole < 0), f"{abs(whole):0{decimals + 1}d}"
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


def scientific(x: arb) -> str:
    """To so many digits, any exponent."""
    mid = abs(x.mid())
    exponent = int((mid.log() / arb(10).log()).mid().floor().fmpz())
    scaled = x * arb(10) ** (DIGITS - 1 - exponent)
    digits = str(abs(int((scaled.mid() + arb(0.5)).mid().floor().fmpz())))
    if len(digits) > DIGITS:  # 9.999… rounded up
        exponent, digits = exponent + 1, digits[:DIGITS]
    return f"{'-' * bool(x < 0)}{digits[0]}.{digits[1:]}e{exponent}"
