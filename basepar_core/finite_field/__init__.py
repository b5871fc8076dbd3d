"""Exact statements about a mechanism's generic geometry, by arithmetic over finite fields.

`rank.generic_rank` for the rank at a random point of the family, `identities.check_identities`
for null vectors, `beta.exact_beta` for β at rational lengths, `interpolated_beta.black_box_beta`
for symbolic β without joint rules, `grading.grade` for what a certificate may say. Points come
from `component`, `family` and `points`, their motions from `motion`.
"""
