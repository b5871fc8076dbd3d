"""Relations of orientations where values are coupled."""

from basepar_core.mechanism import Mechanism


def relations_may_follow(mechanism: Mechanism) -> bool:
    """Whether relations that were seen may follow from couplings.

    These are not needed where couplings stand, and hold at their own offsets only.
    """
    return bool(mechanism.couplings)
