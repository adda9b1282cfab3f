"""Advice: a first policy for a table."""

from polyveil.advise.starter import starter_policy

__all__ = ["starter_policy"]
