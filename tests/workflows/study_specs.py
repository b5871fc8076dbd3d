"""Studies from arguments: a mapping with a file's keys, as `basepar.study` takes it."""

from pathlib import Path

from workflows.studies.study import load_job


def study_from(
    mechanism,
    variables,
    objectives,
    *,
    trials,
    sampler="tpe",
    seed=0,
    store="study.zarr",
    storage="",
    **others,
):
    """A study of a mechanism's file or name; `others` are further keys of study files."""
    keys = {
        "mechanism": mechanism,
        "variables": variables,
        "objectives": objectives,
        "trials": trials,
        "sampler": {"kind": sampler, "seed": seed},
        "store": {"path": store},
        "study": {"storage": storage or str(Path(store).with_suffix(".journal"))},
    }
    return load_job(keys | others)
