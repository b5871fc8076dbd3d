"""A design of a study by its name: the best, a variant, a polished one."""

import warnings
from dataclasses import replace
from fractions import Fraction

from basepar_core.errors import BaseparWarning, StoreError, UsageError
from basepar_core.expressions import Expression, Number
from basepar_core.mechanism import Mechanism
from basepar_core.texts import shell
from sweeps.spec import SweepSpec, from_document, plain_mechanism
from sweeps.store import Store

from .companion_stores import polished_of, polished_path
from .feasibility import Verdict, best_feasible, finished, judge
from .spec import StudySpec
from .store import is_study, study_of


def chosen(spec: StudySpec, variant: str, so_far: bool = False) -> tuple[str, dict[str, float]]:
    """A design of a study by its name, SI: `best`, a variant's number, or `polished 0`.

    `best` is the best feasible one of the polished ones and the variants, of several objectives by
    the first; of equals a polished one. By its name an infeasible one is found too.

    Parameters
    ----------
    so_far
        Whether a study that is not finished has a best one, too.

    Raises
    ------
    UsageError
        There is none of this name, or none is feasible.
    """
    verdict = judge(spec, Store.open(spec.path), 0, spec.trials) if so_far else finished(spec)
    polished = polished_of(spec)
    if variant == "best":
        return _best(spec, verdict, polished)
    word, _, number = variant.rpartition(" ")
    if word == "polished" and number.isdecimal() and polished is not None:
        place = int(number)
        if place < len(polished.values) and not polished.settled[place]:
            raise UsageError(
                f"{polished_path(spec.path)} has no result of {variant}: run `basepar polish` "
                "again.",
                ["--variant"],
            )
        if place < len(polished.values):
            return f"polished {place}", _design(spec, polished, place)
    if variant.isdecimal() and int(variant) < spec.trials:
        return f"variant {variant}", _design(spec, verdict, int(variant))
    count = 0 if polished is None else len(polished.values)
    more = (
        f" ({count} designs are polished)"
        if count > 1
        else f" after `basepar polish {shell(str(spec.store))}`" * (not count)
    )
    raise UsageError(
        f"{spec.store} has no design {variant!r}: best, a variant from 0 to {spec.trials - 1}, or "
        f"'polished 0'{more}.",
        ["--variant"],
    )


def design_title(place: str) -> str:
    """Which design `STORE:N` is; of a study's `best` also by which of several objectives.

    Raises
    ------
    UsageError, StoreError
        There is no such store or variant.
    """
    path, name, _ = _place(place)
    if not is_study(path):
        return f"variant {name} of {path}"
    study = study_of(path)
    found, _ = chosen(study, name)
    if name != "best" or len(study.objectives) == 1:
        return f"{found} of {path}"
    kind, _ = found.split()
    which = "polished one" if kind == "polished" else kind
    return f"{found} of {path}, its best {which} by {study.objectives[0].text}"


def values_of(mechanism: Mechanism, place: str) -> dict[str, Expression]:
    """The geometry of a stored variant, SI, for another look at it.

    Parameters
    ----------
    mechanism
        Whose symbols the store's are.
    place
        `STORE:N`, the number of a sweep's variant; of a study's store a design (`chosen`).

    Raises
    ------
    UsageError, StoreError
        There is no such store or variant, or it is another mechanism's.
    """
    path, name, spec = _place(place)
    _check_same(mechanism, spec.mechanism, path)
    if is_study(path):
        _, found = chosen(study_of(path), name)
    elif name.isdecimal() and int(name) < len(spec):
        rows = spec.plan.rows(int(name), int(name) + 1)
        found = {one: float(values[0]) for one, values in rows.items()}
    else:
        what = "names are for designs of a study; a sweep has variants" if name else "it has"
        raise UsageError(
            f"{path} has no variant {name!r}: {what} 0 to {len(spec) - 1}.", ["--variant"]
        )
    return {one: Number(Fraction(value)) for one, value in found.items()}


def sweep_of_store(place: str) -> SweepSpec:
    """The specification that the store of `STORE:N` keeps, with its mechanism.

    Raises
    ------
    UsageError, StoreError
        There is no such store.
    """
    return _place(place)[2]


def _place(place: str) -> tuple[str, str, SweepSpec]:
    """The store, the variant's name, and the specification that the store keeps."""
    path, _, name = place.rpartition(":")
    if not path or not name:
        raise UsageError(
            f"--variant {place}: write STORE:N, such as four-bar.zarr:17.", ["--variant"]
        )
    document = Store.open(path).attrs.get("spec")
    if document is None:
        raise StoreError(f"{path} is not the store of a sweep. Name another.", [path])
    return path, name, from_document(str(document))


def _check_same(mechanism: Mechanism, stored: Mechanism, path: str) -> None:
    """That a store is of this mechanism; what its file has otherwise now is warned of."""
    if mechanism.name != stored.name:
        raise UsageError(
            f"{path} is of {stored.name!r}, not of {mechanism.name!r}.", ["--variant"]
        )
    before, now = stored.nominal, mechanism.nominal
    changed = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    if plain_mechanism(stored) != plain_mechanism(mechanism):
        what = f" ({', '.join(changed)})" if changed else ""
        warnings.warn(
            f"the file of {mechanism.name!r} has changed since {path} was made{what}: this "
            "variant was not evaluated so.",
            BaseparWarning,
            stacklevel=2,
        )


def _best(
    spec: StudySpec, verdict: Verdict, polished: Verdict | None
) -> tuple[str, dict[str, float]]:
    row = best_feasible(spec, verdict)
    place = None if polished is None else best_feasible(spec, polished)
    if polished is not None and place is not None:
        apart = (polished.values[place] - verdict.values[row or 0]) * spec.signs
        if row is None or apart[0] <= 0:
            return f"polished {place}", _design(spec, polished, place)
    if row is None:
        raise UsageError(
            f"No variant of {spec.store} meets all constraints, so none is the best; name one "
            "with --variant.",
            ["--variant"],
        )
    return f"variant {row}", _design(spec, verdict, row)


def _design(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, float]:
    """Variables, and the symbols that follow them: as made, each dimension errs for itself."""
    plan = replace(spec.plan, count=1).knowing(0, verdict.parameters[[row]])
    rows = spec.with_derived(plan).rows(0, 1)
    return {name: float(values[0]) for name, values in rows.items()}
