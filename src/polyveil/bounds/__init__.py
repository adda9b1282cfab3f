"""How far from the best possible: a loss that no release with the same guarantees can go below."""

from polyveil.bounds.loss_bound import bound
from polyveil.bounds.result import LossBound

__all__ = ["LossBound", "bound"]
