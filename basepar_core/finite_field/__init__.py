"""Exact statements about a mechanism's generic geometry, by arithmetic over finite fields.

`rank.generic_rank` for the rank at a random point of the family, `identities.check_identities`
for null vectors, `beta.exact_beta` for β at rational lengths, `interpolated_beta.black_box_beta`
for symbolic β without joint rules, `grading.grade` for what a certificate may say. Points come
from `component`, `family` and `points`, their motions from `motion`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
