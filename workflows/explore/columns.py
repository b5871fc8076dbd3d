"""A store's numbers as columns of a page: every variant, every number in full."""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from basepar_core.errors import ExpressionError
from basepar_core.expressions import NUMBER, UNITS, parse_any, parse_unit
from basepar_core.metrics import array_name
from basepar_core.symbolic import symbol_values
from basepar_core.texts import script_json
from sweeps.store import reason_texts
from workflows.report import Facts, metric_title, words
from workflows.studies import quantities, results_in, sides

#: Arrays that say how a variant ended, which the page has in words.
IN_WORDS = ("status", "reason", "precise_status", "precise_reason")


@dataclass(frozen=True)
class Column:
    """A number per variant, in the unit that it is shown in.

    Attributes
    ----------
    word
        What conditions call it: as `where:` and `constraints:` do, where they know it.
    kind
        number (of the variant), symbol, following (by `relations`), objective, constraint,
        metric, or result: what else the store has.
    sign
        1 where less is better, −1 where more is, 0 where neither is.
    limits
        (`<=` or `>=`, value in the unit) of every constraint that holds it.
    in_files
        Whether `where:` or `constraints:` know its word.
    """

    title: str
    unit: str
    values: np.ndarray
    kind: str
    sign: int = 0
    word: str = ""
    limits: tuple[tuple[str, float], ...] = ()
    in_files: bool = True

    def document(self) -> dict[str, Any]:
        """What the page reads."""
        size, powers = _measure(self.unit)
        return {
            "title": self.title,
            "unit": self.unit,
            "kind": self.kind,
            "sign": self.sign,
            "word": self.word,
            "limits": self.limits,
            "in_files": self.in_files,
            "size": size,
            "powers": powers,
            **packed(np.asarray(self.values, float)),
        }


def packed(values: np.ndarray) -> dict[str, Any]:
    """Numbers in base64, in the smallest form that loses nothing.

    `type`: of the array's entries. With `levels` (float64) entries are places among these.
    """
    levels, places = np.unique(values, return_inverse=True, equal_nan=True)
    kind = np.dtype("<u1" if levels.size <= 1 << 8 else "<u2")
    single = values.astype("<f4")
    exact = np.array_equal(single.astype(float), values, equal_nan=True)
    plain = single if exact else values.astype("<f8")
    if levels.size <= 1 << 16 and kind.itemsize * values.size + levels.nbytes < plain.nbytes:
        return {**_coded(places.astype(kind)), "levels": _coded(levels.astype("<f8"))["data"]}
    return _coded(plain)


def _coded(array: np.ndarray) -> dict[str, str]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"type": array.dtype.str[1:], "data": data}


def _measure(unit: str) -> tuple[float, list[float]]:
    """A unit's SI value and powers of kg, m, s and cycle; a plain number where it is none."""
    try:
        found = parse_unit(unit) if unit else None
    except ExpressionError:
        found = None
    dimension = NUMBER if found is None else found.dimension
    return (1.0 if found is None else found.size), [float(x) for x in dimension.powers]


def units() -> dict[str, tuple[float, list[float]]]:
    """The units that conditions may have."""
    return {name: _measure(name) for name in UNITS}


def columns(found: Facts) -> list[Column]:
    """Symbols, objectives, constraints, metrics: (row,) of all rows."""
    made = [Column(s.name, _spelled(s.unit), s.values, "symbol", 0, s.name) for s in found.symbols]
    made += _following(found)
    metrics = list(_metrics(found))
    made += [one for one in metrics if one.kind == "objective"]
    # An objective of one drive among several is a metric of the store too.
    there = {_plain(one.word) for one in made}
    made += [one for one in metrics if one.kind != "objective" and _plain(one.word) not in there]
    return _held(found, made)


def _symbols(found: Facts) -> tuple[dict[str, str], dict[str, Any]]:
    """Units in the file, and SI values, of the symbols and constants that the store has not."""
    it = found.mechanism
    if it is None:
        return {}, {}
    swept = {s.name: s.values / s.per_si for s in found.symbols}
    known = symbol_values(it, swept)
    units = {one.name: one.unit for one in (*it.geometry, *it.constants) if one.name not in swept}
    return units, {name: known[name] for name in units if name in known}


def _following(found: Facts) -> list[Column]:
    """Symbols that follow from swept ones, by the file's relations."""
    units, values = _symbols(found)
    return [
        Column(name, _spelled(units[name]), value / _measure(units[name])[0], "following", 0, name)
        for name, value in values.items()
        if np.ndim(value)
    ]


def constants(found: Facts) -> list[dict[str, Any]]:
    """What conditions may name besides columns: `word`, its `size` (SI) and `powers`."""
    units, values = _symbols(found)
    return [
        {"word": name, "size": float(value), "powers": _measure(units[name])[1]}
        for name, value in values.items()
        if not np.ndim(value)
    ]


def _spelled(unit: str) -> str:
    """A unit as conditions have it: `N*m`."""
    return "" if unit == "1" else re.sub(r"\s+", "*", unit.strip())


def _metrics(found: Facts) -> Iterator[Column]:
    asked = {array_name(text): text for text in found.spec["evaluate"]["metrics"]}
    for metric in found.metrics:
        name, _, drive = metric.name.partition(" of ")
        word = asked.get(name, name) + (f"({drive})" if drive else "")
        better = 0 if metric.ends[0] == "Minimum" else int(metric.sign)
        kind = "objective" if metric.is_asked else "metric"
        yield Column(
            metric_title(metric), _spelled(metric.unit), metric.values, kind, better, word
        )


def _held(found: Facts, made: Sequence[Column]) -> list[Column]:
    """With the limits of a study's constraints, and columns of what only they speak of."""
    if found.judged is None:
        return [*made]
    it = found.judged
    symbols = {s.name: s.values / s.per_si for s in found.symbols}
    known, more = {_plain(column.word): column for column in made}, (it.spec.own, it.spec.targets)
    for side in sides(it.spec, it.verdict, symbols):
        key, unit = _plain(side.text), _spelled(side.unit.text)
        if key not in known:
            values = side.values[it.rows] * side.unit.per_si
            expression, _ = parse_any(side.text, quantities(it.spec.mechanism, *more))
            if results_in(it.spec.mechanism, [expression], *more):
                values = np.where(found.has_results, values, np.nan)
            known[key] = Column(side.text, unit, values, "constraint", 0, side.text)
        column = known[key]
        # Studies have no equalities (workflows/studies/reader.py): a bound is a bound, `<` too.
        limit = (f"{side.sign[0]}=", side.limit / _measure(column.unit)[0])
        kind = "constraint" if column.kind == "metric" else column.kind
        known[key] = replace(column, limits=(*column.limits, limit), kind=kind)
    order = ("symbol", "following", "objective", "constraint", "metric")
    return sorted(known.values(), key=lambda column: order.index(column.kind))


def _plain(text: str) -> str:
    return "".join(text.split())


def others(found: Facts, rows: np.ndarray) -> Iterator[Column]:
    """Every other number of some rows: of an array with several per variant a column for each."""
    metrics = {metric.name.partition(" of ")[0] for metric in found.metrics}
    asked = {array_name(text) for text in found.spec["evaluate"]["metrics"]}
    named = {symbol.name for symbol in found.symbols} | set(IN_WORDS) | asked | metrics
    spoken = _spoken(found)
    for name in found.store:
        array = found.store[name]
        dims = tuple(getattr(array.metadata, "dimension_names", None) or ())
        if name in named or dims[:1] != ("variant",) or array.dtype.kind not in "fiub":
            continue
        values = found.read(name)
        assert values is not None
        values = _without_fill(values[rows], array.fill_value)
        unit = _spelled(found.unit(name))
        if values.ndim == 1:
            yield Column(name, unit, values, "result", 0, name, in_files=name in spoken)
            continue
        flat = values.reshape(len(values), -1)
        labels = _labels(found, dims[1:], values.shape[1:])
        own = found.labels(f"{dims[-1]}_unit") if values.ndim == 2 else []
        for k, label in enumerate(labels):
            each = _spelled(own[k]) if len(own) == len(labels) else unit
            word = f"{name}({label})"
            yield Column(word, each, flat[:, k], "result", 0, word, in_files=word in spoken)


def _spoken(found: Facts) -> set[str]:
    """Results that `constraints:` may name."""
    if found.mechanism is None:
        return set()
    study = found.judged.spec if found.judged else None
    more = (study.own, study.targets) if study else ()
    return set(quantities(found.mechanism, *more))


def _without_fill(values: np.ndarray, fill: Any) -> np.ndarray:
    """As floats; −1 of an array of integers without a result is no number."""
    made = values.astype(float)
    if values.dtype.kind in "iu" and fill is not None and int(fill) == -1:
        made[values == -1] = np.nan
    return made


def _labels(found: Facts, dims: Sequence[str], shape: tuple[int, ...]) -> list[str]:
    """What entries of an array are called: `bic`, or `3,bic`."""
    known = [found.labels(dim) for dim in dims]
    each = [
        labels if len(labels) == size else [str(k + 1) for k in range(size)]
        for labels, size in zip(known, shape, strict=True)
    ]
    names = [""]
    for labels in each:
        names = [f"{name},{label}".lstrip(",") for name in names for label in labels]
    return names


def named(made: Iterable[Column]) -> Iterator[Column]:
    """Columns with a number somewhere, or a limit, each with a word of its own."""
    taken: set[str] = set()
    for column in made:
        # What limits and goals speak of is there even before the first result.
        if not np.isfinite(column.values).any() and column.kind not in ("objective", "constraint"):
            continue
        word = column.word
        while _plain(word) in taken:  # spaces do not tell words apart
            word += "_"
        taken.add(_plain(word))
        yield replace(column, word=word)


def fitting(made: Iterable[dict[str, Any]], room: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Documents that fit into so many bytes of a page, and the titles of those that do not."""
    kept, left = [], []
    for document in made:
        size = len(script_json(document)) + 1  # and a comma
        if size > room:
            left.append(document["title"])
            continue
        room -= size
        kept.append(document)
    return kept, left


def states(found: Facts, rows: np.ndarray) -> list[dict[str, Any]]:
    """Columns of words: what there is, and which of it each variant has."""
    made = []
    for title, texts in (*words(found), ("why", _why(found))):
        said, places = np.unique(np.asarray(texts, dtype=str)[rows], return_inverse=True)
        kind = "<u1" if said.size <= 1 << 8 else "<u4"
        made.append({"title": title, "texts": said.tolist(), **_coded(places.astype(kind))})
    return made


def _why(found: Facts) -> np.ndarray:
    """(row,) what ended each variant early, in words; "" of the others."""
    codes, values = found.read("reason"), found.read("reason_value")
    if codes is None or values is None:
        return np.full(found.variants.size, "")
    where = found.spec["space"].get("where", ())
    return reason_texts(codes, values, found.store.texts("reason"), where)


def constraints(found: Facts) -> list[str]:
    """The texts of a study's constraints."""
    return [str(text) for text in found.spec["space"].get("by", {}).get("constraints", ())]
