"""basepar's mechanics: mechanisms, their base parameters, and what is computed from them."""
