"""The low-mobility paper's numeric tables: double precision (1, Eq. 17) and variable (2)."""

from collections.abc import Mapping
from typing import Any

from .comparison import Number, Table, Verdict, agrees, erratum, not_comparable, number
from .suspension import Suspension

#: Coefficients below this are left out of Table 1 (its caption).
NEGLECTED = 1e-2
NOISE = "rounding noise"
EXCHANGED = "φb,25 and φb,26 are exchanged (erratum 1)"


def table_1(one: Suspension) -> Table:
    """Double precision: right where it is not noise, and noise is declared entry by entry."""
    noise, numbers = one.printed["noise"], []
    misprints = one.printed["errata"]["table_2"]  # Table 1 has the same
    for base, row in one.printed["table_1"].items():
        for name, said in row["terms"].items():
            noisy = (
                name in noise["columns"]
                or base in noise["rows"]
                or name in noise["entries"].get(base, ())
            )
            misprint = name in misprints.get(base, {}).get("printed", ())
            # Two digits: a coefficient that is not printed is ±1.0 here, not ±1.
            digits = said if "." in said else f"{said}.0"
            numbers.append(_in_doubles(one, (base, name), digits, noisy, misprint))
        numbers += _left_out(one, base, row["terms"], base in noise["rows"], misprints)
    note = (
        "to two digits; ours is Gautier's procedure in floats with the rank given; what is noise "
        "there no other program can repeat: not comparable, the right value is beside it"
    )
    return Table("Table 1", "base parameters in double precision", tuple(numbers), note)


def _in_doubles(
    one: Suspension, place: tuple[str, str], said: str, noisy: bool, misprint: bool
) -> Number:
    base, name = place
    where, right = f"{base}: {name}", one.right[base].get(name, "0")
    found = number(where, said, one.double[base][name])
    if misprint:
        return erratum(found, right == "0", EXCHANGED)
    if noisy:
        return not_comparable(found, f"{NOISE}; right: {_short(right)}")
    if agrees(said, right):  # the paper's is right, our own procedure in floats is not
        return not_comparable(found, f"{NOISE} of ours; right: {_short(right)}")
    return found


def _left_out(
    one: Suspension,
    base: str,
    terms: Mapping[str, str],
    noisy: bool,
    misprints: Mapping[str, Mapping[str, Any]],
) -> list[Number]:
    """Coefficients that Table 1 leaves out although they are not below its limit."""
    found = []
    for name, right in one.right[base].items():
        if name in terms or abs(float(right)) < NEGLECTED:
            continue
        missing = Number(f"{base}: {name}", "0", _short(right), _short(right), Verdict.DIFFERS)
        if noisy:
            found.append(not_comparable(missing, f"{NOISE}: left out as below 1e-2"))
        elif name in misprints.get(base, {}).get("right", ()):
            found.append(
                erratum(missing, agrees(misprints[base]["right"][name], right), EXCHANGED)
            )
        else:
            found.append(missing)
    return found


def _short(value: str) -> str:
    return f"{float(value):.4g}"


def equation_17(one: Suspension) -> Table:
    """Table 1's first row with all its terms: two are right, the others noise."""
    numbers = []
    for name, said in one.printed["equation_17"].items():
        right = one.right["mx1"].get(name, "0")
        found = number(f"mx1: {name}", said, one.double["mx1"][name])
        # As in Table 1: what is not declared to be noise must be right, in the paper and in ours.
        if name not in one.printed["noise"]["equation_17_but"]:
            why = f"{NOISE}; right: {_short(right)}"
            if name == "mx5":
                why += "; Table 1 prints +4.6e10 for the same (erratum 5)"
            found = not_comparable(found, why)
        numbers.append(found)
    return Table("Eq. 17", "φb,01 in double precision, all terms", tuple(numbers))


def table_2(one: Suspension) -> Table:
    """Variable precision, to every printed digit."""
    numbers, zeros = [], 0
    misprints = one.printed["errata"]["table_2"]
    for base, row in one.printed["table_2"].items():
        ours, terms = one.right[base], row["terms"]
        for name in dict.fromkeys([*terms, *ours]):
            found = number(f"{base}: {name}", terms.get(name, "0"), ours.get(name, "0"))
            if base in misprints and misprints[base]["printed"].get(name) == terms.get(name):
                right = misprints[base]["right"].get(name, "0")
                found = erratum(found, agrees(right, ours.get(name, "0")), EXCHANGED)
            numbers.append(found)
        zeros += len(one.wanted) - len({*terms, *ours})
    note = f"the other {zeros} entries of β are printed nowhere and zero in ours"
    return Table("Table 2", "base parameters in variable precision", tuple(numbers), note)
