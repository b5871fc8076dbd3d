"""Seeds of what is random: a hash of the mechanism and of what is tested.

A bound such as 2⁻⁹⁰ is of points and primes that do not depend on what they test. Drawn from one
number in the source they would be the same for every mechanism and known beforehand; so a
mechanism, and vectors that are tested, draw their own. A seed is recorded beside each prime and
repeats the point.
"""

import hashlib

from basepar_core.mechanism import Mechanism

#: Bytes of a seed: as many bits as the bounds that are stated.
BYTES = 16


def seed_of(mechanism: Mechanism, *about: object) -> int:
    """A seed for one mechanism and one purpose.

    Parameters
    ----------
    mechanism
        Its file's text, or all of it where it was not read from a file.
    about
        What else it is for; told apart by `repr`.
    """
    text = repr((mechanism.source or mechanism.in_full, about))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:BYTES], "big")
