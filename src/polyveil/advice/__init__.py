"""Advice: a first policy for a table."""

from polyveil.advice.starter import starter_policy

__all__ = ["starter_policy"]
