"""Why a count of base parameters is doubtful, in words."""

from collections.abc import Sequence

from basepar_core.finite_field import Grading

from .numeric_route import Spectrum


def unclear(found: Spectrum) -> str:
    """Why float64 does not decide the rank of the one W that was looked at."""
    rank, noise = int(found.rank[0]), float(found.noise[0])
    if found.short[0]:
        return f"W has only {rank} rows and all are independent; the excitation needs more samples"
    return (
        f"singular values of W with unit columns lie between what W's error may make (below "
        f"{noise:.1e}) and what is certainly not zero (a thousand times that), or fall so steeply "
        f"that the next may hide there; variable precision decides"
    )


def infinite(vanish: Sequence[str]) -> list[str]:
    """A doubt where β has no value at the nominal geometry."""
    if not vanish:
        return []
    return [
        f"β is infinite at the nominal geometry: {', '.join(vanish)}, which it divides by, "
        f"vanish{'es' * (len(vanish) == 1)} there"
    ]


def refuted(graded: Grading, rank: int) -> list[str]:
    """A doubt where null vectors count that random members of the family do not have."""
    failed = [vector.reason for vector in graded.vectors if vector.grade == "numerical"]
    if graded.rank is None or not (failed or graded.rank > rank):
        return []
    which = f" ({'; '.join(failed)})" if failed else ""
    return [
        f"the rank over finite fields is {graded.rank}, the null vectors allow {rank}: "
        f"{len(failed) or 'some'} of them hold near this geometry only{which}"
    ]
