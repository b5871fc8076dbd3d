"""Hostile texts by every writer: `python -m tests.campaigns.hostile_texts [TEXTS] [SEED]`.

Texts are the fixed ones, and random splices of these with each other and with single characters
that some language obeys. Prints cases, texts that left their place, and internal errors.
"""

import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from random import Random

from .. import hostile, hostile_writers

_SINGLE = "\"'\\`$%&#_^~{}[]()<>|;:,.*?!/@=+-0aZ \n\r\t\0\x07\x1b\x7f\x85\u202e\u2028⟦⟧θ"


def text(random: Random) -> str:
    """A splice of two to four pieces."""
    pieces = []
    for _ in range(random.randint(2, 4)):
        if random.random() < 0.4:
            pieces.append("".join(random.choices(_SINGLE, k=random.randint(1, 6))))
        else:
            whole = random.choice(hostile.TEXTS)[:80]
            cut = random.randint(0, len(whole))
            pieces.append(whole[:cut] if random.random() < 0.5 else whole[cut:])
    return "".join(pieces)


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Counts of cases, escaped and internal errors; a line for each of the latter two."""
    random, found, lines = Random(seed), Counter[str](), []
    texts = [*hostile.TEXTS, *(text(random) for _ in range(count))]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that a font has not
        for one in texts:
            for name, faults_of in hostile_writers.WRITERS.items():
                found["cases"] += 1
                try:
                    faults = faults_of(one, Path(folder))
                except Exception as error:
                    found["internal errors"] += 1
                    lines.append(f"{name}: {one!r}: {type(error).__name__}: {error}")
                    continue
                if faults:
                    found["escaped"] += 1
                    lines.append(f"{name}: {one!r}: {'; '.join(faults)}")
    return found, lines


def main() -> int:
    count, seed = (int(word) for word in (*sys.argv[1:], "120", "1")[:2])
    found, lines = run(count, seed)
    print(*lines, sep="\n")
    for word in ("cases", "escaped", "internal errors"):
        print(f"{word}: {found[word]:,}")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
