"""The search for classes of least loss: a tree to start from, and ways to improve classes that keep every guarantee.

`space` says what a box costs and what must hold; `tree`, `extract`, `absorb` and `start` build classes bottom-up;
`classes` holds them; `moves`, `divide` and `rebuild` improve them; `rounds` runs the improvements over the table, part
by part, and `schedule` says how many.
"""
