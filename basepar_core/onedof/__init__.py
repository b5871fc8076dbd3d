"""Mechanisms of one degree of freedom by Eksergian's reduction: m(q) q̈ + ½ m′(q) q̇² = F(q, q̇).

`way` finds how far the coordinate goes; `reduced` has m, m′ and the potential's slope by two
routes; `virtual` frees joints in the directions whose reaction is wanted; `forces` reduces motors
and resistances; `curves` represents what was sampled, with its accuracy; `forward`, `regime` and
`turning` integrate; `measures` are what sweeps ask for.
"""
