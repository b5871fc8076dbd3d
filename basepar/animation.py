"""A mechanism moving, as notebooks and files show it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflows.moving import Film


@dataclass(frozen=True, repr=False)
class Animation:
    """A mechanism's motion, made by `Model.animate`; a notebook plays it.

    Examples
    --------
    >>> import basepar
    >>> basepar.load("slider-crank").animate()
    <basepar.Animation 'slider-crank': 128 frames, 1 s of its cycle>
    """

    _film: "Film"

    @property
    def html(self) -> str:
        """The page: it loads nothing."""
        from workflows.moving import page

        return page(self._film)

    def save(
        self, file: str | Path, seconds: float | None = None, overwrite: bool = False
    ) -> Path:
        """Write it.

        Parameters
        ----------
        file
            .html, .gif, .mp4 (needs ffmpeg) or .svg.
        seconds
            How long the motion takes, but in pages; 4 without.
        overwrite
            Whether a file that basepar did not make may be replaced.

        Raises
        ------
        UsageError
            Another ending; the file exists.
        MissingDataError
            There is no ffmpeg.

        Examples
        --------
        >>> import basepar
        >>> basepar.load("slider-crank").animate().save("crank.svg").name
        'crank.svg'
        """
        from workflows.jobs import check_outputs
        from workflows.moving import write

        path = Path(file)
        check_outputs([path], overwrite)
        return write(self._film, path, seconds)

    def __repr__(self) -> str:
        it = self._film
        return (
            f"<basepar.Animation {it.mechanism[:80]!r}: {len(it.t)} frames, "
            f"{it.duration:.3g} s of its {it.motion}>"
        )

    def _repr_html_(self) -> str:
        from workflows.moving import frame

        return frame(self._film)
