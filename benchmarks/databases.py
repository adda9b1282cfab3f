"""How much polyveil's reading and writing of databases costs beside the same work by ADBC alone.

    python benchmarks/databases.py [--rows 1000000] [--rounds 3] [--postgresql URL]

Prints, for each database, the seconds of both and their ratio (the median over rounds, each measured in turn, so that a
busy machine slows both). Reading: a table into a frame, types settled. Writing: a release of one table, committed; and
the same with everything read back and compared before the commit, beside writing and reading by ADBC. Without a URL, a
PostgreSQL server is started from the installed programs.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import polyveil
from polyveil.releases.database import write_release
from polyveil.table.databases import place_of, read_wanted
from polyveil.verification import StoredRelease
from polyveil.verification.fingerprint import fingerprint

MANIFEST = {"format": "polyveil-release", "format_version": 1}
ALLOWED = 3.0


def people(rows: int) -> pl.DataFrame:
    """Ten columns as registers have them: numbers, codes, names of places, dates, truths, with missing cells."""
    rng = np.random.default_rng(1)
    towns, diseases = [f"Town {i}" for i in range(300)], [f"Disease number {i}" for i in range(60)]
    frame = pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(rows)],
            "age": rng.integers(0, 99, rows),
            "zip": pl.Series(rng.integers(10000, 99999, rows)).cast(pl.String),
            "sex": pl.Series(rng.integers(0, 2, rows)).replace_strict({0: "m", 1: "f"}, return_dtype=pl.String),
            "town": pl.Series(towns).gather(rng.integers(0, 300, rows)),
            "admitted": pl.Series(rng.integers(10000, 20000, rows).astype(np.int32)).cast(pl.Date),
            "disease": pl.Series(diseases).gather(rng.integers(0, 60, rows)),
            "salary": rng.normal(50000, 9000, rows).round(2),
            "visits": rng.integers(0, 99, rows),
            "insured": rng.random(rows) < 0.5,
        }
    )
    return frame.with_columns(pl.when(pl.col("age") < 95).then(pl.col("visits")).alias("visits"))


def adbc(url: str) -> Any:
    """A plain ADBC connection to the same place."""
    place = place_of(url)
    if place.kind == "postgresql":
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(url)
    if place.kind == "sqlite":
        from adbc_driver_sqlite import dbapi as sqlite

        return sqlite.connect(str(place.file))
    from adbc_driver_duckdb import dbapi as duckdb

    return duckdb.connect(str(place.file))


def adbc_read(url: str) -> None:
    connection = adbc(url)
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM people")
        pl.from_arrow(cursor.fetch_arrow_table())
    connection.close()


def adbc_write(url: str, frame: pl.DataFrame, name: str) -> None:
    connection = adbc(url)
    with connection.cursor() as cursor:
        cursor.adbc_ingest(name, frame.to_arrow(), mode="replace")
    connection.commit()
    connection.close()


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(title: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> float:
    pairs = [(timed(theirs), timed(ours)) for _ in range(rounds)]
    ratio = statistics.median(mine / plain for plain, mine in pairs)
    plain, mine = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    print(f"{title:<38} ADBC alone {plain:6.2f} s   polyveil {mine:6.2f} s   ratio {ratio:4.2f}")
    return ratio


def measure(url: str, frame: pl.DataFrame, rounds: int) -> list[float]:
    kind = place_of(url).kind
    adbc_write(url, frame, "people")
    out = f"{url}?schema=bench"
    tables = {"table": frame}

    def write(accept: Callable[[StoredRelease], None]) -> None:
        write_release(out, tables, MANIFEST, overwrite=True, accept=accept)

    def compared(stored: StoredRelease) -> None:
        found = read_wanted(stored.session, stored.session.stored(stored.schema, "table"))
        if fingerprint(found) != fingerprint(frame):
            raise SystemExit("what was read back is not what was written")

    def plain() -> None:
        adbc_write(url, frame, "copy")

    def plain_both() -> None:
        plain()
        adbc_read(url)

    return [
        compare(f"{kind}: read", lambda: polyveil.read(url, table="people"), lambda: adbc_read(url), rounds),
        compare(f"{kind}: write", lambda: write(lambda _: None), plain, rounds),
        compare(f"{kind}: write, read back, compare", lambda: write(compared), plain_both, rounds),
    ]


MEMORY = """
import sys
sys.path.insert(0, "benchmarks")
import databases, polyveil
from pathlib import Path
from polyveil.table.databases import opened, place_of

def status(name):
    return int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0]) / 1024

with opened(place_of(sys.argv[1])) as session:
    session.tables()
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
polyveil.read(sys.argv[1], table="people") if sys.argv[2] == "polyveil" else databases.adbc_read(sys.argv[1])
print(status("VmHWM") - before)
"""


def peak(url: str, reader: str) -> float:
    """Largest memory in MB that reading the table takes in a fresh process, above what it had before."""
    root = Path(__file__).parent.parent
    command = [sys.executable, "-c", MEMORY, url, reader]
    return float(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=3600).stdout)


def started_server(stack: ExitStack) -> str:
    """The tests' own server."""
    file = Path(__file__).parent.parent / "tests" / "databases" / "servers.py"
    spec = importlib.util.spec_from_file_location("servers", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is missing")
    servers = sys.modules["servers"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    programs = servers.server_programs()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed (Debian: apt-get install postgresql); or give --postgresql URL")
    os.environ["PGPASSWORD"] = servers.PASSWORD
    url: str = stack.enter_context(servers.running_server(programs)).url("postgres")
    return url


def main() -> None:
    options = argparse.ArgumentParser(description="Databases beside ADBC alone.")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--postgresql", help="URL of a database to use instead of a server started here")
    chosen = options.parse_args()
    frame = people(chosen.rows)
    size = frame.estimated_size("mb")
    print(f"{chosen.rows:,} rows, {frame.width} columns, {size:.0f} MB in memory; median of {chosen.rounds} rounds")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = [f"sqlite://{folder}/bench.db", f"duckdb://{folder}/bench.duckdb", chosen.postgresql]
        if chosen.postgresql is None:
            urls[2] = started_server(stack)
        ratios = [ratio for url in urls for ratio in measure(url, frame, chosen.rounds)]
        for url in urls:
            theirs, ours = peak(url, "adbc"), peak(url, "polyveil")
            print(f"{place_of(url).kind}: peak memory of reading: ADBC alone {theirs:.0f} MB, polyveil {ours:.0f} MB")
    print(f"largest ratio {max(ratios):.2f}; allowed {ALLOWED:.0f}")
    sys.exit(max(ratios) > ALLOWED)


if __name__ == "__main__":
    main()
