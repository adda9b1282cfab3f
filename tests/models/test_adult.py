"""The raw Adult table judged class by class, against the definitions written out as loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from model_examples import attribute
from polyveil.models import EntropyDiversity, FrequencyDiversity, KAnonymity, TCloseness, from_classes
from polyveil.models.ground import equal, ordered

QUASI = ["age", "workclass", "marital-status", "race", "sex", "native-country", "income"]


def test_raw_adult(shared_data: Path) -> None:
    table = pl.read_csv(shared_data / "adult.csv.gz", null_values=["?"])
    table = table.filter(pl.col("split") == "train").drop_nulls()
    assert table.height == 30_162
    jobs, schooling = table["occupation"].to_list(), table["education-num"].to_list()
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row, cells in enumerate(table.select(QUASI).iter_rows()):
        groups[cells].append(row)
    class_of_row = np.empty(table.height, dtype=np.int64)
    for number, rows in enumerate(groups.values()):
        class_of_row[rows] = number
    codes = {
        name: np.unique(np.array(cells), return_inverse=True)[1]
        for name, cells in (("job", jobs), ("school", schooling))
    }
    about = {
        "job": attribute(np.bincount(codes["job"]).tolist(), equal(14), name="job"),
        "school": attribute(np.bincount(codes["school"]).tolist(), ordered(16), name="school"),
    }
    statistics = from_classes(class_of_row, codes, about)

    whole_jobs, whole_school = Counter(jobs), Counter(schooling)
    t_job, t_school, l_job, entropy_job = [], [], [], []
    for rows in groups.values():
        size, here = len(rows), Counter(jobs[row] for row in rows)
        t_job.append(sum(abs(here[j] / size - whole_jobs[j] / 30_162) for j in whole_jobs) / 2)
        l_job.append(size / max(here.values()))
        entropy_job.append(np.exp(-sum(c / size * np.log(c / size) for c in here.values())))
        here_school, running, total = Counter(schooling[row] for row in rows), 0.0, 0.0
        for years in sorted(whole_school):
            running += here_school[years] / size - whole_school[years] / 30_162
            total += abs(running)
        t_school.append(total / 15)
    assert KAnonymity(2).judge(statistics).value == 1.0
    assert TCloseness(0.2, "job").measure_all(statistics) == pytest.approx(t_job, abs=1e-12)
    assert TCloseness(0.2, "school").measure_all(statistics) == pytest.approx(t_school, abs=1e-12)
    assert FrequencyDiversity(2, "job").measure_all(statistics) == pytest.approx(l_job, abs=1e-12)
    assert EntropyDiversity(2, "job").measure_all(statistics) == pytest.approx(entropy_job, abs=1e-12)
