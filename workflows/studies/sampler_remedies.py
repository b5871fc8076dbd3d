"""What to write instead of keys that stand in a study's `sampler` and belong elsewhere."""

import inspect
from collections.abc import Collection, Mapping
from dataclasses import replace

from basepar_core.errors import Mistake
from basepar_core.expressions import did_you_mean
from basepar_core.files import Fields, Node, Reading, Text, key_path, written
from sweeps.spec import OwnCodeError

from .sampler_kinds import KINDS, own_sampler, plain_options
from .study_keys import SAMPLER

#: What `trials` is called elsewhere.
_TRIALS = {
    *("trials", "ntrials", "n_trials", "num_trials", "number_of_trials", "max_trials"),
    *("total_trials", "trial_count", "budget", "evaluations", "n_evaluations", "num_evaluations"),
    *("max_evaluations", "max_evals", "n_calls", "iterations", "n_iterations", "max_iterations"),
    *("n_iter", "max_iter", "maxiter"),
}


def without_misplaced(reading: Reading, node: Node, trials: Node | None) -> Node:
    """A sampler without the keys that belong elsewhere, each reported with its place.

    `trials` is what the top of the file has under that name.
    """
    if not isinstance(node, Fields):
        return node
    inner = node.entries.get("options")
    if isinstance(inner, Fields):
        found = {key: _of_trials(key, entry, trials) for key, entry in inner.entries.items()}
        own = _options(reading, node)
        cleaned = _reported(reading, inner, {k: v for k, v in found.items() if k not in own})
        node = replace(node, entries={**node.entries, "options": cleaned})
    strange = {key: one for key, one in node.entries.items() if key not in SAMPLER.names}
    options = _options(reading, node) if strange else ()
    return _reported(
        reading,
        node,
        {
            key: ("" if key in options else _of_trials(key, entry, trials))
            or _of_options(key, entry, _text(node, "own") or _text(node, "kind"), options)
            for key, entry in strange.items()
        },
    )


def _reported(reading: Reading, node: Fields, messages: Mapping[str, str]) -> Fields:
    """A mapping without the keys that have a message, which is reported."""
    wrong = {key: message for key, message in messages.items() if message}
    reading.mistakes += [
        Mistake(key_path(node.path, key), message, node.lines[key])
        for key, message in wrong.items()
    ]
    left = {key: entry for key, entry in node.entries.items() if key not in wrong}
    return replace(node, entries=left)


def _of_trials(key: str, entry: Node, trials: Node | None) -> str:
    """What to say of a number of trials; nothing for other keys."""
    if key.lower().replace("-", "_") not in _TRIALS:
        return ""
    where = "the number of trials stands at the top of the file"
    if trials is not None:
        return f"{where}, `trials: {written(trials)}`: leave this out"
    whole = isinstance(entry, Text) and entry.value.strip().isdecimal()
    return f"{where}: write `trials: {written(entry) if whole else '…'}` there and leave this out"


def _of_options(key: str, entry: Node, sampler: str, options: Collection[str]) -> str:
    """What to say of an option beside `options`; nothing for misspelt keys of the section."""
    if key in options:
        return f"unknown key; write options: {{{key}: {written(entry)}}}"
    if others := [one for one in KINDS if key in plain_options(one)]:
        if sampler:
            return f"unknown key; it is an option of {', '.join(others)}, not of {sampler}"
        return f"unknown key; write kind: {others[0]}, options: {{{key}: {written(entry)}}}"
    own = [one for one in SAMPLER.names if one != "options"]
    if key.startswith("opt") or did_you_mean(key, own):
        return ""  # as of every section
    if hint := did_you_mean(key, options):
        return f"unknown key{hint} {sampler}'s own options stand in `options: {{…}}`"
    return f"unknown key; known here: {', '.join(SAMPLER.names)}"


def _options(reading: Reading, node: Fields) -> Collection[str]:
    """Options that the sampler has, as far as it can be found."""
    if not (own := _text(node, "own")):
        return plain_options(_text(node, "kind"))
    try:
        make = own_sampler(own, reading.folder).make
    except OwnCodeError:  # reported where it is read
        return ()
    return tuple(inspect.signature(make).parameters) if make is not None else ()


def _text(node: Fields, key: str) -> str:
    entry = node.entries.get(key)
    return entry.value.strip() if isinstance(entry, Text) else ""
