"""Profiles of columns: what they hold, and the role that suggests."""
