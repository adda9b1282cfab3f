"""Compiled kernels that several methods share, each beside a plain twin in the tests."""
