"""polyveil: publish tables with several sensitive columns safely."""

__version__ = "0.1.0"
