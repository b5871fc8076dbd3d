"""Parameters from measurements: motion smoothed, torque regressed, doubts said."""
