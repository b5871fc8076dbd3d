"""Whether schemas and tables are current; with --write they are renewed."""

import sys

from .schema import FOLDER, schemas, text
from .tables import pages

stale = []
for place, wanted in {
    **{FOLDER / f"{kind}.json": text(schema) for kind, schema in schemas().items()},
    **pages(),
}.items():
    if not place.exists() or place.read_text(encoding="utf-8") != wanted:
        stale.append(place)
        if "--write" in sys.argv:
            place.parent.mkdir(exist_ok=True)
            place.write_text(wanted, encoding="utf-8")
print("\n".join(f"{'renewed' if '--write' in sys.argv else 'stale'}: {one}" for one in stale))
sys.exit(bool(stale) and "--write" not in sys.argv)
