"""What other parts may use of the kernels: the compiler's door, and how a quasi-identifier is generalized."""

from __future__ import annotations

from polyveil.methods._kernels.boxes import ORDERED, SET, TREE, kind_of
from polyveil.methods._kernels.compiled import njit

__all__ = ["ORDERED", "SET", "TREE", "kind_of", "njit"]
