"""basepar's sweeps: many variants of a mechanism, into a store."""
