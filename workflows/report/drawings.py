"""Drawings of a mechanism (`workflows.drawing.mechanism`), several at one scale."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from basepar_core.dynamics import Model
from workflows.drawing import figure_of

from .svg import embedded

#: Height of letters, and of those in a crowd; drawings are shown at about their own size.
LETTERS, SMALL_LETTERS = 12, 9


def drawings(
    model: Model, variants: Sequence[Mapping[str, float]], labels: Sequence[str]
) -> list[Markup]:
    """Drawings of variants at one common scale.

    Parameters
    ----------
    variants
        Swept symbols of each, SI; empty for the nominal mechanism.
    labels
        What a screen reader says of each.
    """
    if not variants:
        return []
    figures = [figure_of(model, dict(values)) for values in variants]
    axes = [figure.axes[0] for figure in figures]
    left, right = zip(*(ax.get_xlim() for ax in axes), strict=True)
    low, high = zip(*(ax.get_ylim() for ax in axes), strict=True)
    for ax in axes:
        ax.set_title("")  # the caption says it
        for text in ax.texts:
            text.set_bbox(None)  # the stylesheet gives text a halo
            text.set_fontsize(LETTERS if len(model.mechanism.bodies) < 5 else SMALL_LETTERS)
        ax.set_xlim(_trimmed(min(left), max(right)))
        ax.set_ylim(_trimmed(min(low), max(high)))
    return [
        embedded(figure, label, "drawing") for figure, label in zip(figures, labels, strict=True)
    ]


def _trimmed(low: float, high: float) -> tuple[float, float]:
    """Limits with less air around than a drawing alone has."""
    air = 0.06 * (high - low)
    return low + air, high - air
