"""The best grouping of a small table, proven to be the best."""

from polyveil.methods._exact.grouping import MOST_ROWS, Grouping, TooHard, best_grouping

__all__ = ["MOST_ROWS", "Grouping", "TooHard", "best_grouping"]
