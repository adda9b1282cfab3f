"""The workbench: the whole job in a browser, on the same pipeline, and a REST API beside it."""
