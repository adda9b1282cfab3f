"""The tree behind `kaca`."""
