"""What can become of a variant: status codes, reasons, and their words.

Codes are what the store keeps (one byte, CF `flag_values`); words are made on reading. A failure
is a status with a reason and one number, never an exception: one impossible variant among ten
thousand is data.
"""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np


class Status(IntEnum):
    """`status` of a variant (docs/sweep-files.md, "Statuses"); written last.

    Written once, but for variants that crashed or timed out (`FAILED`): a retry that is asked for
    writes their chunks again, with new values in their rows only. `--repair` makes damaged chunks
    pending.
    """

    PENDING = 0
    SOLVED = 1
    FILTERED = 2
    UNASSEMBLABLE = 3
    LOST = 4
    SINGULAR = 5
    AWAITING_PRECISE = 6
    SPECIAL = 7
    CRASHED = 8
    TIMED_OUT = 9

    @property
    def meaning(self) -> str:
        """In words, for people."""
        return STATUS_MEANINGS[self]


#: Statuses of variants that have results; what a special one lacks is nan.
WITH_RESULTS = (Status.SOLVED, Status.AWAITING_PRECISE, Status.SPECIAL)


#: Statuses of variants that a retry evaluates again; the precise ones have the same codes.
FAILED = (Status.CRASHED, Status.TIMED_OUT)


class PreciseStatus(IntEnum):
    """`precise_status`: what the variable-precision task said of a doubtful variant."""

    NONE = 0
    CERTIFIED = 1
    EVIDENT = 2
    STILL_DOUBTFUL = 3
    CRASHED = 8
    TIMED_OUT = 9

    @property
    def meaning(self) -> str:
        """In words, for people."""
        return PRECISE_MEANINGS[self]


STATUS_MEANINGS: Mapping[Status, str] = {
    Status.PENDING: "pending",
    Status.SOLVED: "solved",
    Status.FILTERED: "filtered",
    Status.UNASSEMBLABLE: "unassemblable",
    Status.LOST: "lost during motion",
    Status.SINGULAR: "singular",
    Status.AWAITING_PRECISE: "awaiting precise",
    Status.SPECIAL: "special",
    Status.CRASHED: "crashed",
    Status.TIMED_OUT: "timed out",
}

PRECISE_MEANINGS: Mapping[PreciseStatus, str] = {
    PreciseStatus.NONE: "none or pending",
    PreciseStatus.CERTIFIED: "certified",
    PreciseStatus.EVIDENT: "numerically evident",
    PreciseStatus.STILL_DOUBTFUL: "still doubtful",
    PreciseStatus.CRASHED: "crashed",
    PreciseStatus.TIMED_OUT: "timed out",
}


class Reason(IntEnum):
    """Why a variant has its status; `reason_value` is the number in the text."""

    NONE = 0
    FILTER = 1
    UNDEFINED = 2
    OTHER_ASSEMBLY = 11
    OPEN_LOOP = 12
    LOST_LOOP = 20
    LOST_IN_CYCLE = 21
    NEAR_SINGULAR = 30
    SINGULAR_IN_CYCLE = 31
    DOUBTFUL_RANK = 40
    PRECISE_ASKED = 41
    NOT_EVIDENT = 42
    PIVOT_AND_RANK = 43
    LOW_RANK = 50
    VANISHING_PIVOT = 51
    HIGH_RANK = 52
    STALLED = 61
    NEUTRAL = 62
    NO_REGIME = 63
    NO_TURN = 64
    ROUGH_REGIME = 65
    RAISED = 80
    DIED = 81
    TOO_SLOW = 90
    OWN_METRIC = 100  # and up, one for each; the store's own texts name them


#: Text of each reason; `{value}` is the number stored beside the code.
REASONS: Mapping[int, str] = {
    Reason.NONE: "",
    Reason.FILTER: "does not meet condition {value:.0f} of space.where",
    Reason.UNDEFINED: "an expression of the geometry has no value here",
    Reason.OTHER_ASSEMBLY: "cannot be assembled on the nominal branch (a gap of {value:.2g})",
    Reason.OPEN_LOOP: "a constraint left out as redundant opens by {value:.2g} (m or rad)",
    Reason.LOST_LOOP: "loops cannot be followed to sample {value:.0f} (from 0) of the excitation",
    Reason.LOST_IN_CYCLE: "loops cannot be followed to sample {value:.0f} (from 0) of the cycle",
    Reason.NEAR_SINGULAR: "a dead point at sample {value:.0f} (from 0) of the excitation",
    Reason.SINGULAR_IN_CYCLE: "a dead point at sample {value:.0f} (from 0) of the cycle",
    Reason.DOUBTFUL_RANK: (
        "float64 does not decide the rank (its least singular value: {value:.3g} times W's error)"
    ),
    Reason.PRECISE_ASKED: "variable precision is asked for every variant",
    Reason.NOT_EVIDENT: "variable precision shows no evident rank (ridge of {value:.1f} decades)",
    Reason.PIVOT_AND_RANK: (
        "a pivot of the grouping vanishes (relative size {value:.3g}), and variable precision is "
        "to say the rank"
    ),
    Reason.LOW_RANK: "the rank is {value:.0f}, below the generic one",
    Reason.VANISHING_PIVOT: "a pivot of the grouping vanishes (relative size {value:.3g})",
    Reason.HIGH_RANK: "the rank is {value:.0f}, above what the null vectors allow",
    Reason.STALLED: "it has no steady regime: it stalls within a turn",
    Reason.NEUTRAL: "work in and out of a turn balance at every speed, and its cycle has none",
    Reason.NO_REGIME: "it has no steady regime: work in and out of a turn do not balance",
    Reason.NO_TURN: "it has no steady regime: it does not follow a whole turn, or is never back",
    Reason.ROUGH_REGIME: "its steady regime is not accurate with the finest steps",
    Reason.RAISED: "the evaluation raised an exception",
    Reason.DIED: "the evaluation killed its process (exit status {value:.0f})",
    Reason.TOO_SLOW: "not finished after {value:.4g} s",
}
#: The one field of a text; a store's texts are a stranger's, and Python's own fields reach far.
_FIELD = re.compile(r"\{value(?::([0-9.]{0,3}[a-z]?))?\}")


def own_metric_text(name: str) -> str:
    """Text of the reason that a user's metric has no finite value."""
    return f"the own metric {name} has no finite value (it is {{value:g}})"


def flags(statuses: type[IntEnum]) -> dict[str, Any]:
    """CF attributes of a status array: `flag_values`, `flag_meanings` (words by underscores)."""
    words: Mapping[Any, str] = STATUS_MEANINGS if statuses is Status else PRECISE_MEANINGS
    return {
        "flag_values": [int(member) for member in statuses],
        "flag_meanings": " ".join(words[member].replace(" ", "_") for member in statuses),
    }


def _said(value: float, form: str | None) -> str:
    try:
        return format(value, form or "")
    except ValueError:
        return f"{value:g}"


def reason_texts(
    codes: np.ndarray,
    values: np.ndarray,
    texts: Mapping[int, str] = REASONS,
    where: Sequence[str] = (),
) -> np.ndarray:
    """Reasons in words.

    Parameters
    ----------
    codes, values
        `reason` and `reason_value` of the variants asked for, each (variant,).
    texts
        Template by code; a store's own are in `attrs["texts"]` of its `reason`.
    where
        Conditions of the space; a store has them in its `spec`.

    Returns
    -------
    (variant,) array of str; "" where there is nothing to say.
    """

    def line(code: int, value: float) -> str:
        if code == Reason.FILTER and 1 <= value <= len(where):
            return f"does not meet {where[int(value) - 1]} (condition {value:.0f} of space.where)"
        return _FIELD.sub(lambda field: _said(value, field[1]), texts.get(code, f"reason {code}"))

    lines = [line(int(code), float(value)) for code, value in zip(codes, values, strict=True)]
    return np.array(lines, dtype=object)
