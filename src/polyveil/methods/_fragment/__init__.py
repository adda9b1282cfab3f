"""The fragmentation behind `fragment`."""
