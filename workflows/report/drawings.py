"""Drawings of a mechanism (`workflows.drawing.mechanism`), several at one scale."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from basepar_core.dynamics import Model
from workflows.drawing import figures_of

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
    crowd = len(model.mechanism.bodies) >= 5
    figures = figures_of(model, variants, SMALL_LETTERS if crowd else LETTERS)
    for figure in figures:
        (axes,) = figure.axes
        axes.set_title("")  # the caption says it
        for text in axes.texts:
            text.set_bbox(None)  # the stylesheet gives text a halo
    return [
        embedded(figure, label, "drawing") for figure, label in zip(figures, labels, strict=True)
    ]
