"""The keys of sweep files (docs/sweep-files.md)."""

from basepar_core.files import (
    ASSEMBLY,
    NAME,
    Again,
    AnyOf,
    ByKey,
    ByWord,
    Each,
    Key,
    Keys,
    Named,
    Quantity,
    Scalar,
    Whole,
    by_word,
)
from basepar_core.metrics import FITTED
from basepar_core.reduction import CRITERIA, METHODS

from .plans import PLANS
from .sweep_spec import POOLINGS, RANKS, REDUCTION_ARRAYS

#: Names of a family's members, which are folders.
MEMBER_NAME = "[A-Za-z0-9][A-Za-z0-9_-]*"

_NUMBER, _TEXT = Quantity(), Scalar()
INTERVAL = Each(_NUMBER, 2)
SPACED = Keys(
    (
        Key("from", _NUMBER, "the first value"),
        Key("to", _NUMBER, "the last value"),
        Key("count", Whole(2), "how many, evenly spaced"),
    )
)
VALUES = AnyOf((Each(_NUMBER, least=1), SPACED))
_BY_PLAN = {
    "lists": Keys(
        (
            Key(
                "variables",
                Named(VALUES, least=1),
                "values by symbol: `{lx1: [0.2, 0.3], lx3: {from: 1, to: 1.6, count: 7}}`",
            ),
        )
    ),
    "ranges": Keys(
        (
            Key("variables", Named(INTERVAL, least=1), "a range by symbol: `{lx1: [0.2, 0.6]}`"),
            Key("candidates", Whole(1), "how many variants"),
            Key("seed", Whole(), "of the random numbers", "0"),
        )
    ),
    "table": Keys(
        (
            Key(
                "rows",
                Each(Named(_NUMBER, least=1), least=1),
                "`[{lx1: 0.3, lx3: 1.2}, …]`, each row with the same symbols",
                "this or `file`",
            ),
            Key(
                "file",
                _TEXT,
                "a CSV that names symbols in its first line, `lx1` or `lx1 [mm]`, or the store of "
                "an earlier sweep",
                "this or `rows`",
            ),
        ),
        one_of=(("rows", "file"),),
    ),
    "": Keys((Key("of", Each(Again("plan"), least=1), "plans, without `where` and `derive`"),)),
}
#: What a space may have besides its plan; a part of a product has its plan only.
BESIDE = (
    Key("where", Each(_TEXT), 'conditions, such as `["lx1 + Dx <= 1.8 m"]`', "none"),
    Key("derive", Named(_TEXT), "formulas of symbols that follow: `{Dx: lx2 + 0.3 m}`", "none"),
)
PLAN = by_word(
    "plan",
    "which variants there are",
    {
        name: _BY_PLAN["table" if name == "table" else kind.variables]
        for name, kind in PLANS.items()
    },
)
SPACE = ByWord("plan", {name: keys.plus(*BESIDE) for name, keys in PLAN.cases.items()})
#: A plan whose word is not known: whatever any has.
ANY_PLAN = Keys(
    (
        Key("plan", Scalar(tuple(PLANS)), "which variants there are"),
        *{
            key.name: Key(key.name, key.holds, key.what, "none")
            for keys in _BY_PLAN.values()
            for key in keys.keys
        }.values(),
    )
)

REDUCTION = Keys(
    (
        Key(
            "criteria",
            Each(Scalar(tuple(CRITERIA))),
            f"of `{'`, `'.join(CRITERIA)}`",
            "`[tolerance]`",
        ),
        Key("tolerance", _NUMBER, "of the relative torque error", "0.01"),
        Key(
            "effective_samples",
            Whole(1),
            "rows in the criteria",
            "samples times coordinates",
        ),
        Key("method", Scalar(tuple(METHODS)), f"of `{'`, `'.join(METHODS)}`", "`backward`"),
        Key(
            "noise",
            Scalar(POOLINGS),
            "`joint`: each coordinate its own σ; `pooled`: one for all",
            "`joint`",
        ),
        Key(
            "arrays",
            Each(Scalar(REDUCTION_ARRAYS)),
            "further arrays: `generalised` (each criterion's model as generalised base "
            "parameters), `validation` (the models against torques on a second trajectory)",
            "none",
        ),
    )
)
OWN_METRICS = Named(_TEXT, NAME)
TARGET = Keys(
    (
        Key(
            "file",
            _TEXT,
            "a CSV: columns `x`, `y`, in space `z`, in m, or `x [mm]`; or `value` of a joint",
            "this or `points`",
        ),
        Key(
            "points",
            Each(Each(_NUMBER, least=1), least=2),
            "`[[0.1, 0.2], …]`, m; or `[[0.5], …]`, values of a joint",
            "this or `file`",
        ),
        Key(
            "timing",
            Named(Each(_NUMBER), least=1),
            "of `points`: `{A: [0.5, …]}` values of a coordinate, or `{t: […]}` times",
            "none",
        ),
        Key(
            "fit",
            Each(Scalar(FITTED)),
            f"what is fitted first, of `{'`, `'.join(FITTED)}`",
            "the timing, if none is stated",
        ),
        Key("angles", Each(_NUMBER), "of `points`: angles of the point's body, rad", "none"),
        Key("arm", _NUMBER, "length with which angles count, m", "none; `angles` need it"),
    ),
    one_of=(("file", "points"),),
)
TARGETS = Named(AnyOf((_TEXT, TARGET)), NAME)
EVALUATE = Keys(
    (
        Key(
            "rank",
            Scalar(RANKS),
            "`auto`: float64, variable precision where it is in doubt; `numeric`: float64 only, "
            "what it doubts stays *awaiting precise* (`auto` in a new store settles it); "
            "`precise`: variable precision for all; `none`",
            "`auto`",
        ),
        Key("reduction", REDUCTION, "parameters dropped one by one: keys below", "none"),
        Key(
            "metrics",
            Each(_TEXT),
            "`torque_rms`, `torque_peak`, … of the drives (`actuated`: coordinates, all or some), "
            "`stroke(J)` of a joint value, over the cycle; and those of docs/study-files.md",
            "none",
        ),
        Key(
            "own",
            OWN_METRICS,
            "metrics of yours: `{wear: wear.py:wear}`, see docs/study-files.md",
            "none",
        ),
        Key(
            "targets",
            TARGETS,
            "curves and functions for `path_error(P,name)`, …: `{name: curve.csv}`, see "
            "docs/study-files.md",
            "none",
        ),
        Key(
            "beta",
            Scalar(("true", "false")),
            "`true`: β's entries as numbers, see below",
            "`false`",
        ),
        Key(
            "with",
            Each(_TEXT),
            "columns besides the inertial ones, see below",
            "none",
        ),
    )
)
STORE = Keys(
    (
        Key("path", _TEXT, "the folder where the results go", "the file's name with `.zarr`"),
        Key("chunk", Whole(1), "variants that are written together", "measured"),
    )
)
LIMITS = Keys((Key("variant_seconds", _NUMBER, "a variant that takes longer is timed out", "60"),))

_OTHERS = (
    Key("space", SPACE, "which variants there are"),
    Key("evaluate", EVALUATE, "what is computed of each", "`{rank: auto}`"),
    Key("store", STORE, "where the results go", "see below"),
    Key("limits", LIMITS, "what a variant may take", "see below"),
)
_MECHANISM = Key("mechanism", _TEXT, "a file beside this one, or a name of `basepar list`")
SWEEP = Keys((_MECHANISM, *_OTHERS))
MECHANISMS = Key(
    "mechanisms",
    AnyOf((Named(_TEXT, MEMBER_NAME, 1), Each(_TEXT, least=1))),
    "several, by name or as a list; instead of `mechanism`",
)
ASSEMBLIES = Key(
    "assemblies",
    Named(ASSEMBLY, MEMBER_NAME, 1),
    "several, by name, each as in the mechanism's file",
)
#: A sweep file: of one mechanism, or a family.
SWEEP_FILE = ByKey(
    "mechanisms",
    Keys((MECHANISMS, *_OTHERS)),
    ByKey("assemblies", Keys((_MECHANISM, ASSEMBLIES, *_OTHERS)), SWEEP),
)
