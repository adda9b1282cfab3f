"""Private parts of `lattice`."""
