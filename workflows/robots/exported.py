"""A mechanism as a robot's file: a new one, or one in which what differs is changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from basepar_core.dynamics import Model
from basepar_core.texts import naming

from .dialects import dialect_of, robot_file
from .into import into


@dataclass(frozen=True)
class Exported:
    """What is written.

    Attributes
    ----------
    text
        Of the file.
    dialect
        Of a new file; None where one was changed.
    notes
        What a reader of a new file should know, or what was changed.
    zeros
        Joint values of the mechanism where a new file's are zero, rad or m; those that differ.
    companion
        Of the YAML file beside it that closes its loops; empty where it has none.
    """

    text: bytes
    dialect: str | None
    notes: tuple[str, ...]
    zeros: Mapping[str, float] = field(default_factory=dict)
    companion: bytes = b""

    def places(self, path: str | Path) -> dict[Path, bytes]:
        """Files, where the first is written to a path."""
        found = {Path(path): self.text}
        return found | (
            {Path(path).with_suffix(".yaml"): self.companion} if self.companion else {}
        )

    def write(self, path: str | Path) -> None:
        """Write them."""
        for place, text in self.places(path).items():
            with naming(place):
                place.write_bytes(text)


def exported(
    model: Model,
    path: str | Path,
    dialect: str = "",
    parameters: Mapping[str, float] | None = None,
    original: str | Path | None = None,
) -> Exported:
    """A mechanism as a robot's file.

    Parameters
    ----------
    model
        At the geometry that is meant.
    path
        Where it is to be written; its ending says the dialect where none is asked for.
    dialect
        One of `DIALECTS`.
    parameters
        Inertial parameters and friction by name that take the place of the file's, SI.
    original
        The file that is changed, in place of a new one.

    Raises
    ------
    MechanismError, MissingDataError, UsageError, FileError
        As `robot_file` and `into`.
    """
    if original is not None:
        renewed = into(original, model, parameters)
        notes = renewed.notes or ("nothing differs from it",)
        return Exported(renewed.text, None, notes, companion=renewed.companion)
    found = robot_file(model, dialect or dialect_of(path, model), parameters)
    companion = found.companion.encode()
    return Exported(found.text.encode(), found.dialect, found.notes, found.zeros, companion)
