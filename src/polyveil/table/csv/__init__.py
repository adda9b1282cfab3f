"""Text tables: bytes, dialect, a fast reader and a careful one."""
