"""`polyveil check` as a step of `dbt build`: it fails, and nothing after it is built, unless the table holds."""

import os

import polyveil


def model(dbt, session):
    dbt.config(materialized="table")
    found = polyveil.check(dbt.source("release", "visits").pl(), os.environ["POLICY"])
    if not found.holds:
        raise ValueError(f"the guarantees are not met: {found}")
    return found.to_frame()
