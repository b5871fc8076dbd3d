"""The report of a sweep: one self-contained HTML page for engineers."""
