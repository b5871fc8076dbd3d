"""The keys of study files (docs/study-files.md)."""

from dataclasses import replace

from basepar_core.files import (
    AnyOf,
    Anything,
    ByKey,
    Each,
    Key,
    Keys,
    Named,
    Quantity,
    Scalar,
    Whole,
)
from sweeps.spec import sweep_keys

from .sampler_kinds import CLASSES, KINDS

_NUMBER, _TEXT = Quantity(), Scalar()
VARIABLE = Keys(
    (
        Key("choices", sweep_keys.VALUES, "one of these values", "this or `integer`"),
        Key(
            "integer",
            Each(Whole(-(10**17)), 2),
            "whole numbers of the symbol's unit, `[low, high]`",
            "this or `choices`",
        ),
    ),
    one_of=(("choices", "integer"),),
)
SAMPLER = Keys(
    (
        Key("kind", Scalar((*KINDS, *CLASSES)), "[a sampler](#samplers)", "[chosen](#samplers)"),
        Key("own", _TEXT, "a class of yours, `mine.py:Mine`; instead of `kind`", "none"),
        Key("screen", Whole(1), "rows that are [screened](#screening) before it asks", "none"),
        Key("seed", Whole(), "of its random numbers", "0"),
        Key("options", Named(Anything()), "go to the sampler's constructor", "none"),
    )
)
STORE = Keys(
    tuple(
        replace(key, default=default)
        for key, default in zip(
            sweep_keys.STORE.keys,
            ("the file's name with `-study.zarr`", "a fourth of a batch, or less"),
            strict=True,
        )
    )
)
PLACE = Keys(
    (
        Key(
            "storage",
            _TEXT,
            "a file (Optuna's journal), or a URL",
            "the file's name with `-study.journal`",
        ),
        Key("name", _TEXT, "the study's name there", "the file's name"),
    )
)
STUDY = Keys(
    (
        Key("mechanism", _TEXT, "a file beside this one, or a name of `basepar list`"),
        Key(
            "variables",
            Named(AnyOf((sweep_keys.INTERVAL, VARIABLE)), least=1),
            "by symbol: `[low, high]`, `{choices: [1.2, 1.3]}` or `{integer: [1, 2]}`",
        ),
        Key(
            "objectives",
            Named(Scalar(("minimize", "maximize")), least=1),
            "expressions, each to `minimize` or `maximize`",
        ),
        Key(
            "trials",
            Whole(1),
            "how many variants are tried, in all",
            "16,384 where all are screened; else required",
        ),
        Key("constraints", Each(_TEXT), 'comparisons: `["stroke(D) >= 40 deg"]`', "none"),
        Key("derive", Named(_TEXT), "formulas of symbols that follow: `{Dy: lx1/3}`", "none"),
        Key(
            "own_metrics",
            sweep_keys.OWN_METRICS,
            "metrics of yours: `{wear: wear.py:wear}`",
            "none",
        ),
        Key(
            "targets",
            sweep_keys.TARGETS,
            "curves for `path_error(P,name)`: `{name: curve.csv}`, [below](#targets)",
            "none",
        ),
        Key(
            "reduction",
            sweep_keys.REDUCTION,
            "what `selected_size` and `selected_error` mean; as in a sweep file",
            "as there",
        ),
        Key("sampler", SAMPLER, "who proposes variants", "`screen` or `tpe`, [below](#samplers)"),
        Key("batch", Whole(1), "trials asked for at once", "the sampler's"),
        Key("warm_start", _TEXT, "the store of a sweep to learn from", "none"),
        Key("store", STORE, "where the results go", "see below"),
        Key("study", PLACE, "where Optuna keeps the study", "see below"),
    )
)

#: What members of several mechanisms may have of their own, in the place of the file's.
_OWN = ("variables", "trials", "constraints", "derive", "targets", "sampler", "warm_start")
_BY_NAME = {key.name: key for key in STUDY.keys}
MEMBER = Keys(
    (
        _BY_NAME["mechanism"],
        *(replace(_BY_NAME[name], default="the file's") for name in _OWN),
    )
)
MECHANISMS = replace(
    sweep_keys.MECHANISMS,
    holds=AnyOf(
        (
            Named(AnyOf((_TEXT, MEMBER)), sweep_keys.MEMBER_NAME, 1),
            Each(_TEXT, least=1),
        )
    ),
)
#: A study file: of one mechanism, or of several.
STUDY_FILE = ByKey(
    "mechanisms",
    Keys(
        (
            MECHANISMS,
            *(
                replace(key, default="the members'") if key.name == "variables" else key
                for key in STUDY.keys
                if key.name != "mechanism"
            ),
        )
    ),
    ByKey(
        "assemblies", Keys((_BY_NAME["mechanism"], sweep_keys.ASSEMBLIES, *STUDY.keys[1:])), STUDY
    ),
)
