"""How far from the best possible: a loss that no release with the same guarantees can go below."""

from polyveil.bounds.loss_bound import LossBound, bound, bound_of

__all__ = ["LossBound", "bound", "bound_of"]
