"""Names that every store has."""

#: Where records lie, and all that is not for readers of results; no symbol has such a name.
HIDDEN = "chunk-records"
#: What xarray and Zarr open: attributes, and a copy of the arrays' metadata.
ROOT = "zarr.json"
#: Below `HIDDEN`, in a bucket: who fills the store.
LOCK = "lock"
