"""What a method's classes go through where the method alone cannot keep everything that is asked for.

`by_model` serves models without constraints, `people` tables in which a person has several rows; both merge the classes
that fail (`merging`), which never weakens a monotone model.
"""
