"""What a place would start, without starting it."""

import shlex

import yaml

from . import scripts
from .keys import directory_of
from .manifests import owned_manifests, scheduler_manifest
from .places import Address, Batch, Keys, Kubernetes, Laptop, Place, Slurm, Ssh
from .slurm import job_script
from .ssh import command

#: In the place of what is made anew each time.
NAME, SCHEDULER, SECRET = "basepar-RUN", "tls://THIS-MACHINE:PORT", "MADE-FOR-THE-RUN"


def preview(place: Place) -> str:
    """Job script, manifests or commands; capitals stand for what is made when it starts."""
    match place:
        case Laptop():
            count = str(place.workers) if place.workers else "for every core one"
            processes = "process" if place.workers in (None, 1) else "processes"
            return f"# {count} worker {processes} on 127.0.0.1"
        case Address():
            return f"# nothing: joins {place.url}"
        case Slurm():
            folder = f"{directory_of(place.directory).rstrip('/')}/.basepar-RUN"
            keys = Keys(
                f"{folder}/certificate.pem", f"{folder}/certificate.pem", f"{folder}/key.pem"
            )
            script = job_script(place, NAME, SCHEDULER, keys)
            return f"# sbatch --array=0-{place.jobs - 1}\n{script}"
        case Batch():
            return scripts.script(place, "SPEC", "DIR").rstrip("\n")
        case Ssh():
            return "\n".join(shlex.join(command(place, host)) for host in place.hosts)
        case Kubernetes():
            pair = SECRET, SECRET
            manifests = [
                scheduler_manifest(place, NAME),
                *owned_manifests(place, NAME, pair, "UID-OF-THE-JOB"),
            ]
            return yaml.safe_dump_all(manifests, sort_keys=False)
