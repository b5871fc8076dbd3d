"""Shards against chunks: one writer, 16,384 rows of twenty float64 arrays, CPU and objects.

As 16 chunks of 1,024 rows; as one chunk; as a shard of 16 chunks by Zarr, without threads; and as
a shard written here, from the same compressed chunks and their index.

    python -m tests.campaigns.shards FOLDER
"""

import resource
import shutil
import statistics
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr

from sweeps.store import chunk_files, metadata, objects

ROWS, SMALL, ARRAYS, TIMES = 16_384, 1024, 20, 5
VALUES = np.random.default_rng(1).random((ARRAYS, ROWS))


def cpu(work: Callable[[], object]) -> float:
    """CPU of a call, ms."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def chunked(folder: Path, chunk: int) -> tuple[float, float]:
    """Chunks as files: to write, to read."""
    document = metadata.columns((ROWS,), chunk, "float64", np.nan, ["variant"], {})
    there = objects.of(folder)
    found = [chunk_files.of(there, str(k), document) for k in range(ARRAYS)]
    files = [one for one in found if one is not None]
    numbers = range(ROWS // chunk)

    def write() -> None:
        for one, values in zip(files, VALUES, strict=True):
            for n in numbers:
                one.write(n, values[n * chunk : (n + 1) * chunk])

    return cpu(write), cpu(lambda: [one.read(n) for one in files for n in numbers])


def arrays_of(folder: Path) -> list[Any]:
    """Arrays whose chunks lie in shards, as Zarr makes them."""
    size = np.dtype("float64").itemsize
    blosc = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=size)
    return [
        zarr.create_array(
            folder / str(k),
            shape=(ROWS,),
            chunks=(SMALL,),
            shards=(ROWS,),
            dtype="float64",
            fill_value=np.nan,
            compressors=(blosc, zarr.codecs.Crc32cCodec()),
        )
        for k in range(ARRAYS)
    ]


def sharded(folder: Path) -> tuple[float, float]:
    """Shards by Zarr: to write, to read."""
    arrays = arrays_of(folder)

    def write() -> None:
        for one, values in zip(arrays, VALUES, strict=True):
            one[:] = values

    return cpu(write), cpu(lambda: [one[:] for one in arrays])


def by_hand(folder: Path) -> tuple[float, float]:
    """Shards as the format says: compressed chunks, then their places and a checksum."""
    document = metadata.columns((ROWS,), SMALL, "float64", np.nan, ["variant"], {})
    there = objects.of(folder)
    one = chunk_files.of(there, "x", document)
    assert one is not None

    def write() -> None:
        for k, values in enumerate(VALUES):
            pieces, places, at = [], [], 0
            for n in range(0, ROWS, SMALL):
                piece = one.encode(values[n : n + SMALL]) or b""
                pieces.append(piece)
                places += [at, len(piece)]
                at += len(piece)
            index = struct.pack(f"<{len(places)}Q", *places)
            check = google_crc32c.value(index).to_bytes(4, "little")
            there.put(f"{k}/c/0", b"".join(pieces) + index + check)

    spent, arrays = cpu(write), arrays_of(folder / "z")
    for k, (array, values) in enumerate(zip(arrays, VALUES, strict=True)):
        (folder / f"z/{k}/c").mkdir()
        (folder / f"{k}/c/0").rename(folder / f"z/{k}/c/0")
        np.testing.assert_array_equal(array[:], values)  # it is a shard
    return spent, cpu(lambda: [one[:] for one in arrays])


def main(folder: Path) -> None:
    zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
    ways: dict[str, tuple[Callable[[Path], tuple[float, float]], int]] = {
        f"chunks of {SMALL:,}": (lambda path: chunked(path, SMALL), ARRAYS * ROWS // SMALL),
        f"chunks of {ROWS:,}": (lambda path: chunked(path, ROWS), ARRAYS),
        f"shards of {ROWS:,}, by Zarr": (sharded, ARRAYS),
        f"shards of {ROWS:,}, by hand": (by_hand, ARRAYS),
    }
    print("| | objects | CPU to write | to read |", "|---|---|---|---|", sep="\n")
    for name, (work, count) in ways.items():
        times = []
        for _ in range(TIMES + 1):  # the first loads what is needed
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            times.append(work(folder))
        write, read = (statistics.median(one) for one in zip(*times[1:], strict=True))
        print(f"| {name} | {count} | {write:.1f} ms | {read:.1f} ms |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
