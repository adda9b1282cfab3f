"""`polyveil warmup`."""

from __future__ import annotations

import typer

from polyveil.cli.frame import reported_errors


def warmup() -> None:
    """Compile the code of every method now, so that the first runs do not have to wait for it."""
    with reported_errors():
        import polars as pl

        from polyveil.errors import PolyveilError
        from polyveil.methods import METHODS, method_class
        from polyveil.pipeline import anonymize

        rows = range(60)
        frame = pl.DataFrame({"age": rows, "town": [f"t{i % 7}" for i in rows], "illness": [f"i{i % 5}" for i in rows]})
        quasi = {"age": {"role": "quasi"}, "town": {"role": "quasi"}}
        for name in METHODS:
            form = method_class(name).forms[0]
            # Kernels for guarantees beyond size, shares and closeness are others; buckets give none of the latter.
            asked: list[dict[str, object]] = [{}]
            if form == "generalized":
                asked = [{"t": 0.5}, {"t": 0.5, "diversity": "distinct"}]
            try:
                for more in asked:
                    policy = {
                        "columns": {**quasi, "illness": {"role": "sensitive"}},
                        "privacy": {"k": 2, "l": 2, **more},
                        "method": {"name": name},
                        "release": {"form": form},
                    }
                    anonymize(frame, policy, bound=True)
            except PolyveilError as error:
                typer.echo(f"{name}: not compiled ({type(error).__name__})", err=True)
            else:
                typer.echo(f"{name}: ready")
