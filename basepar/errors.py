"""What the library raises and warns of: one tree, with `message` and the keys in `where`."""

from basepar_core.errors import (
    AssemblyError,
    BaseparError,
    BaseparWarning,
    EliminationError,
    ExpressionError,
    FamilyError,
    FileError,
    MechanismError,
    MissingDataError,
    MotionError,
    StoreError,
    UsageError,
)

__all__ = [
    "AssemblyError",
    "BaseparError",
    "BaseparWarning",
    "EliminationError",
    "ExpressionError",
    "FamilyError",
    "FileError",
    "MechanismError",
    "MissingDataError",
    "MotionError",
    "StoreError",
    "UsageError",
]
