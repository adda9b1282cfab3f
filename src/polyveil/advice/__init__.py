"""Advice: a first policy for a table, what helps to choose t and k, methods side by side."""

from polyveil.advice.starter import starter_policy

__all__ = ["starter_policy"]
