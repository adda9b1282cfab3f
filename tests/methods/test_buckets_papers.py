"""MSB on the papers' own tables: buckets, capacities and priorities worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paper_tables import HAN, HAN_COLUMNS, HAN_GROUPS, LEVELS, XIAO, XIAO_COLUMNS, task_of
from polyveil.methods._buckets.demand import demand_of
from polyveil.methods._buckets.engine import BucketOptions, Engine, Priority, bucketize
from polyveil.methods._buckets.pool import Pool, fill, key_of, set_limits, shielded, take
from polyveil.methods.as_printed import in_force
from polyveil.table.coded import SensitiveColumn

AS_PRINTED = in_force("mbf", BucketOptions(as_printed=True))
PRIORITIES: tuple[Priority, ...] = ("mbf", "msdcf", "mmdcf")


def engine_of(task: Any, columns: tuple[SensitiveColumn, ...], priority: Priority) -> tuple[Engine, Pool]:
    """An engine and its pool with the capacities of all buckets, before any row is taken."""
    engine = Engine(task.table, columns, demand_of(task), priority, BucketOptions())
    pool = engine._pool(np.random.default_rng(0), np.ones(task.table.rows, dtype=bool))
    fill(pool, engine._forest(), 99)
    set_limits(pool, engine.need, 3)
    return engine, pool


def columns_of(task: Any, *names: str) -> tuple[SensitiveColumn, ...]:
    return tuple(column for name in names for column in task.table.sensitive if column.name == name)


def bucket_of_tuple(engine: Engine, number: int) -> int:
    """The bucket of tuple t1, t2, ... of the paper's table."""
    return int(engine.bucket_of_row[number - 1])


class TestXiao2020:
    def test_nine_buckets_and_their_capacities(self) -> None:
        task = task_of(XIAO, XIAO_COLUMNS, {"l": LEVELS})
        engine, pool = engine_of(task, task.table.sensitive, "mbf")
        assert engine.size.tolist() == [1] * 9
        physician, disease = task.table.sensitive
        capacity = dict(zip([*physician.domain.labels, *disease.domain.labels], pool.capacity.tolist(), strict=True))
        assert [capacity[name] for name in ("John", "Bob", "Anne", "Sam", "Mary")] == [3, 2, 1, 1, 2]
        assert [capacity[name] for name in ("Flu", "Pneumonia", "Gastritis", "HIV", "Cancer")] == [3, 2, 2, 1, 1]

    @pytest.mark.parametrize("priority", PRIORITIES)
    def test_with_security_levels_all_nine_rows_are_grouped_for_any_seed(self, priority: Priority) -> None:
        task = task_of(XIAO, XIAO_COLUMNS, {"l": LEVELS})
        for seed in range(100):
            found = bucketize(
                *(task.table, task.table.sensitive, demand_of(task), priority, BucketOptions()),
                np.random.default_rng(seed),
            )
            assert found.suppressed == 0
            assert (found.of_row >= 0).all()

    def test_the_rows_with_cancer_and_hiv_are_grouped_first(self) -> None:
        task = task_of(XIAO, XIAO_COLUMNS, {"l": LEVELS})
        for seed in range(20):
            of_row = bucketize(
                *(task.table, task.table.sensitive, demand_of(task), "mbf", BucketOptions()),
                np.random.default_rng(seed),
            ).of_row
            first = set(np.flatnonzero(of_row == 0) + 1)
            assert first >= {3, 8}, "t3 and t8 are the only rows of level 2, and may share a group of three"


class TestHan2013:
    def test_priorities_of_the_worked_example(self) -> None:
        task = task_of(HAN, HAN_COLUMNS, {"l": 3})
        engine, pool = engine_of(task, columns_of(task, "occupation", "salary"), "mmdcf")
        for number, priority in ((1, 7), (5, 6), (6, 5)):  # <clerk,4000+>, <teacher,6000+>, <cook,10000+>
            bucket = bucket_of_tuple(engine, number)
            assert not shielded(pool, bucket)
            assert key_of(pool, bucket) == priority
            take(pool, bucket, 0)

    def test_a_chosen_bucket_shields_its_row_and_column(self) -> None:
        task = task_of(HAN, HAN_COLUMNS, {"l": 3})
        engine, pool = engine_of(task, columns_of(task, "occupation", "salary"), "mmdcf")
        take(pool, bucket_of_tuple(engine, 1), 0)
        hidden = [number for number in range(1, 10) if shielded(pool, bucket_of_tuple(engine, number))]
        assert hidden == [1, 2, 3, 7, 8], "clerks are t1, t2, t8; 4000+ earn t1, t3, t7"

    @pytest.mark.parametrize("names", list(HAN_GROUPS))
    def test_the_groups_of_tables_iii_and_iv_publish_all_nine_rows(self, names: tuple[str, str]) -> None:
        """With the paper's tie choices every row taken is one that MMDCF may take, and no row is left."""
        task = task_of(HAN, HAN_COLUMNS, {"l": 3})
        engine, pool = engine_of(task, columns_of(task, *names), "mmdcf")
        for group in HAN_GROUPS[names]:
            for number in group:
                bucket = bucket_of_tuple(engine, number)
                open_buckets = [b for b in range(len(pool.size)) if pool.size[b] > 0 and not shielded(pool, b)]
                assert bucket in open_buckets
                assert key_of(pool, bucket) == max(key_of(pool, b) for b in open_buckets)
                take(pool, bucket, 0)
            pool.used[:] = 0
        assert pool.size.sum() == 0

    @pytest.mark.parametrize("priority", PRIORITIES)
    def test_over_all_four_attributes_plain_msb_never_suppresses_fewer_than_six(self, priority: Priority) -> None:
        task = task_of(HAN, HAN_COLUMNS, {"l": 3})
        suppressed = [
            bucketize(
                *(task.table, task.table.sensitive, demand_of(task), priority, AS_PRINTED),
                np.random.default_rng(seed),
            ).suppressed
            for seed in range(200)
        ]
        assert min(suppressed) >= 6

    def test_random_ties_lose_rows_and_restarts_do_not(self) -> None:
        task = task_of(HAN, HAN_COLUMNS, {"l": 3})
        demand = demand_of(task)

        def suppressed(seed: int, restarts: int) -> int:
            options = BucketOptions(restarts=restarts, leave_out="last")
            rng = np.random.default_rng(seed)
            return sum(
                bucketize(task.table, columns_of(task, *names), demand, "mmdcf", options, rng).suppressed
                for names in HAN_GROUPS
            )

        once = [suppressed(seed, 1) for seed in range(200)]
        assert 20 < sum(count > 0 for count in once) < 180, "random ties alone often fail"
        assert [suppressed(seed, 30) for seed in range(50)] == [0] * 50
