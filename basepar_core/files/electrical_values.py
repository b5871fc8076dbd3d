"""Electrical values as data sheets write them (`64 mN m/A`), as plain numbers."""

import re
from collections.abc import Mapping
from math import pi

_RPM = 30 / pi
_PREFIXES: Mapping[str, float] = {"": 1.0, "m": 1e-3, "k": 1e3, "u": 1e-6, "µ": 1e-6, "M": 1e6}
#: Units without prefix by key; their products are written together.
_PLAIN: Mapping[str, tuple[str, ...]] = {
    "voltage": ("V", "volt", "volts"),
    "resistance": ("ohm", "Ohm", "ohms", "Ohms", "Ω", "V/A"),
    "inductance": ("H",),
    "constant": ("Nm/A", "Vs", "Vs/rad", "V/(rad/s)", "Wb"),
}
_OTHERS: Mapping[str, Mapping[str, float]] = {
    "constant": {
        "Ncm/A": 0.01,
        "V/rpm": _RPM,
        "mV/rpm": 1e-3 * _RPM,
        "V/krpm": 1e-3 * _RPM,
        "V/1000rpm": 1e-3 * _RPM,
    }
}
#: What a motor's constant is one over.
_SPEEDS: Mapping[str, float] = {"rpm/V": _RPM, "rad/s/V": 1.0, "rad/(s*V)": 1.0}
_VALUE = re.compile(
    r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*([^\s*/].*?)\s*"
)


def plain_number(key: str, text: str) -> str:
    """A motor's value in V, ohm, H or N m/A where `text` has a unit of its `key`; "" otherwise.

    Examples
    --------
    >>> plain_number("constant", "64 mN*m/A"), plain_number("constant", "120 rpm/V")
    ('0.064', '0.0795775')
    >>> plain_number("resistance", "0.6"), plain_number("ratio", "8 V")
    ('', '')
    """
    match = _VALUE.fullmatch(text)
    if match is None or key not in _PLAIN:
        return ""
    number, unit = float(match[1]), re.sub(r"[ *·]", "", match[2])
    if key == "constant" and match[2].replace(" ", "") in _SPEEDS and number:
        return f"{_SPEEDS[match[2].replace(' ', '')] / number:.6g}"
    known = {p + one: size for one in _PLAIN[key] for p, size in _PREFIXES.items()}
    size = {**known, **_OTHERS.get(key, {})}.get(unit)
    return "" if size is None else f"{number * size:.6g}"
