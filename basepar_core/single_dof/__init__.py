"""Mechanisms of one degree of freedom by Eksergian's reduction: m(q) q̈ + ½ m′(q) q̇² = F(q, q̇).

`way` finds how far the coordinate goes; `reduced` has m, m′ and the potential's slope by two
routes; `virtual` frees joints in the directions whose reaction is wanted; `loads` reduces motors
and resistances; `curves` represents what was sampled, with its accuracy; `turn` has it on nodes
for `turning`, which runs many variants and finds their regimes, and `forward` moves one in time;
`machine` is all of it for one mechanism, and `metrics` are what sweeps ask for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
