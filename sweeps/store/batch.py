"""The batch system that a process is a job of: what it calls the job."""

import os
import re
from collections.abc import Mapping

Job = Mapping[str, str]

#: By system: what names the job, and its place in an array; what that is where there is none.
_NAMES = {
    "slurm": ("SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID", ""),
    "pbs": ("PBS_JOBID", "PBS_ARRAY_INDEX", ""),
    "lsf": ("LSB_JOBID", "LSB_JOBINDEX", "0"),
    "sge": ("JOB_ID", "SGE_TASK_ID", "undefined"),
}
#: HTCondor's description of the job, a file.
_DESCRIPTION = "_CONDOR_JOB_AD"


def batch_job() -> dict[str, str]:
    """The job that this process is in; nothing where it is in none.

    Returns
    -------
    Its `system`, its number (`job`), its place in an array (`task`), its `cluster`, as far as
    the system says them.
    """
    get = os.environ.get
    for system, (name, index, none) in _NAMES.items():
        if job := get(name):
            found = {"job": job[:80], "system": system}
            if (task := get(index, "")) not in ("", none):
                found["task"] = task[:20]
            if system == "slurm" and (cluster := get("SLURM_CLUSTER_NAME")):
                found["cluster"] = cluster[:80]
            return found
    return _of_htcondor(get(_DESCRIPTION) or "")


def _of_htcondor(file: str) -> dict[str, str]:
    try:
        with open(file) as opened:
            text = opened.read(1 << 20)
    except (OSError, ValueError):
        return {}
    said = dict(re.findall(r"^(ClusterId|ProcId)\s*=\s*(\d{1,12})\s*$", text, re.MULTILINE))
    if "ClusterId" not in said:
        return {}
    task = {"task": said["ProcId"]} if "ProcId" in said else {}
    return {"job": said["ClusterId"], "system": "htcondor", **task}
