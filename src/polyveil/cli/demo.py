"""`polyveil demo`: every step on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from polyveil.cli.frame import print_json, reported_errors
from polyveil.cli.progress import shown_progress


def demo(
    example: Annotated[Literal["hospital", "census"], typer.Argument(help="Which built-in table.")] = "hospital",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the table, its policy and the release.")] = Path(
        "polyveil-demo"
    ),
    rows: Annotated[
        int | None, typer.Option(help="Number of rows; by default as many as the example has.", min=10)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the generated table.")] = 1,
    overwrite: Annotated[bool, typer.Option(help="Replace an older demo of that name.")] = False,
    data_only: Annotated[bool, typer.Option("--data-only", help="Write the table and its policy only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Generate an example table with several sensitive columns, anonymize it, and verify the release.

    The folder OUT then contains the table as CSV, its hierarchies, `policy.yaml` to read and edit, and `release`.
    """
    with reported_errors(as_json=as_json):
        from polyveil.demo import EXAMPLES, write_example
        from polyveil.pipeline import anonymize

        out.mkdir(parents=True, exist_ok=True)
        written = write_example(EXAMPLES[example], out, rows=rows, seed=seed, overwrite=overwrite)
        again = f"polyveil anonymize {written.data} --policy {written.policy} --out {out / 'my-release'}"
        if data_only:
            files = {"data": str(written.data), "policy": str(written.policy)}
            print_json(files) if as_json else typer.echo("\n".join([*files.values(), f"Next: {again}"]))
            return
        with shown_progress(quiet=as_json) as progress:
            release = anonymize(
                written.data, written.policy, out=out / "release", overwrite=overwrite, progress=progress, bound=False
            )
        if as_json:
            print_json({**release.to_dict(), "release": str(out / "release")})
            return
        from polyveil.cli.show import show_release

        typer.echo(f"{EXAMPLES[example].title}: {EXAMPLES[example].description}\n")
        show_release(release.manifest, release.seconds, str(out / "release"))
        typer.echo(f"\nEdit {written.policy} and run it again:\n  {again}")
        typer.echo(f"Independently re-check the release:\n  polyveil verify {out / 'release'}")
