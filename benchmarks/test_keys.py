"""A sweep on this machine with keys against the same without: CPU of all its processes.

Pairs, the two sides in turn, so that whatever else the machine does meets both. Keys cost
handshakes when workers start, and ciphers for tasks and receipts; results never travel.
"""

import os
import shutil
import statistics
import time

import psutil
from distributed import Client
from distributed.security import Security

import cluster.client
from cluster.client import connect
from cluster.keys import own_security
from cluster.places import Laptop
from sweeps.chunks.evaluator import prepare
from sweeps.run.driver import sweep
from sweeps.spec.reader import parse_sweep

from .conftest import ONCE

VARIANTS = 1024 if ONCE else 131_072
PAIRS = 1 if ONCE else 10
SWEEP = f"""
mechanism: four-bar
space:
  plan: sobol
  variables: {{lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}}
  candidates: {VARIANTS}
  seed: 7
evaluate: {{rank: auto, metrics: [torque_rms]}}
store: {{chunk: 512}}
"""


def _cpu(client: Client) -> float:
    """Seconds of this process and the workers so far."""
    pids = [os.getpid(), *client.run(os.getpid).values()]
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def _side(spec, evaluator, protocol: str) -> dict[str, float]:
    """Seconds of CPU: the sweep's, and with workers started and ended; and to start them."""
    shutil.rmtree(spec.store, ignore_errors=True)
    begun, before = time.perf_counter(), sum(os.times()[:4])
    with connect(Laptop(workers=2)) as client:
        assert client.scheduler.address.startswith(protocol)
        found = {"start": time.perf_counter() - begun, "sweep": -_cpu(client)}
        assert sweep(spec, client, evaluator=evaluator, precise=evaluator.precise).done
        found["sweep"] += _cpu(client)
    return found | {"whole": sum(os.times()[:4]) - before}


def test_keys(benchmark, figure, tmp_path, monkeypatch):
    spec = parse_sweep(SWEEP).at(str(tmp_path / "keys.zarr"))
    evaluator = prepare(spec)
    evaluator.warm(spec.plan.names)
    sides = {"tls://": own_security, "tcp://": Security}
    found = {protocol: [] for protocol in sides}

    def pair(number: int) -> None:
        order = sorted(sides, reverse=number % 2 == 0)  # neither is always the first
        for protocol in order:
            monkeypatch.setattr(cluster.client, "own_security", sides[protocol])
            found[protocol].append(_side(spec, evaluator, protocol))

    for number in range(PAIRS - 1):
        pair(number)
    benchmark.pedantic(pair, (PAIRS - 1,), rounds=1)
    for what in ("sweep", "whole", "start"):
        ratios = [
            keys[what] / without[what]
            for keys, without in zip(found["tls://"], found["tcp://"], strict=True)
        ]
        seconds = statistics.median(one[what] for one in found["tcp://"])
        said = f"{what}, with keys / without ({seconds:.2f} s), median of {PAIRS} pairs"
        figure(said, statistics.median(ratios), 1.05 if what == "sweep" else None)
