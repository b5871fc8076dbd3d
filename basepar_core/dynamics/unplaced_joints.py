"""Joints that most likely lack their place: symbols of the file are used nowhere."""

from basepar_core.expressions import ZERO
from basepar_core.mechanism import Mechanism, unused_symbols


def without_place(mechanism: Mechanism) -> str:
    """Symbols of `geometry` that nothing names, and joints at the origins; "" without any."""
    idle = unused_symbols(mechanism.source)
    unused = [one.name for one in mechanism.geometry if one.name in idle]
    bare = [
        one.name
        for one in mechanism.joints
        if all(frame.at == (ZERO,) * 3 for frame in one.frames)
    ]
    if not unused or not bare:
        return ""
    be, have = "is" if len(unused) == 1 else "are", "has" if len(bare) == 1 else "have"
    return (
        f". In the file {', '.join(unused)} {be} used nowhere, and {', '.join(bare)} {have} "
        f"no `at`, or zeros"
    )
