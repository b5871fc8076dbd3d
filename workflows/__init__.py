"""basepar's commands, studies and reports."""
