"""The nine-row tables of xiao2020 (Table 1) and han2013 (Table I), and how to code small tables for methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from polyveil.methods.base import Task
from polyveil.models import attributes_of, models_for
from polyveil.policy import Policy
from polyveil.table.bind import bind
from polyveil.table.coded import CodedTable
from polyveil.table.encode import encode
from polyveil.table.source import read

XIAO = pl.DataFrame(
    {
        "age": [21, 60, 56, 28, 60, 55, 43, 26, 37],
        "sex": list("MFMFMFMFM"),
        "physician": ["John", "John", "Mary", "Bob", "Bob", "Anne", "John", "Sam", "Mary"],
        "disease": ["Flu", "Pneumonia", "Cancer", "Flu", "Pneumonia", "Gastritis", "Gastritis", "HIV", "Flu"],
    }
)
XIAO_COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "physician": {"role": "sensitive"},
    "disease": {"role": "sensitive", "levels": {0: ["Flu"], 2: ["HIV", "Cancer"]}},
}
LEVELS = {0: 1, 1: 2, 2: 3}

# Table 3 of xiao2020 (its columns are scrambled in print); values that are not listed have level 1.
ADULT_LEVELS: dict[str, dict[int, list[str]]] = {
    "occupation": {0: ["Other-service"], 2: ["Armed-Forces"]},
    "education": {},
    "marital-status": {
        2: ["Divorced", "Married-AF-spouse", "Married-spouse-absent", "Separated", "Widowed"],
    },
    "workclass": {0: ["Private", "Without-pay"], 2: ["Federal-gov", "Local-gov", "State-gov"]},
    "race": {0: ["Other", "White"], 2: ["Amer-Indian-Eskimo", "Asian-Pac-Islander"]},
}

HAN = pl.DataFrame(
    {
        "gender": list("MFMMFMMFF"),
        "zip": ["31200", "32100", "31204", "42000", "32100", "42005", "42004", "32004", "31205"],
        "age": [23, 27, 24, 31, 29, 35, 31, 30, 26],
        "occupation": ["clerk", "clerk", "cook", "teacher", "teacher", "cook", "police", "clerk", "teacher"],
        "salary": ["4000+", "6000+", "4000+", "8000+", "6000+", "10000+", "4000+", "8000+", "10000+"],
        "physician": ["John", "Bob", "Bob", "John", "Lucy", "John", "Tom", "Tom", "Tom"],
        "disease": ["Gastritis", "Asthma", "Flu", "Flu", "Cancer", "Flu", "Asthma", "Cancer", "Asthma"],
    }
)
HAN_COLUMNS: dict[str, Any] = {
    "gender": {"role": "quasi"},
    "zip": {"role": "quasi", "type": "categorical", "hierarchy": {"mask": 5}},
    "age": {"role": "quasi", "type": "numeric"},
    **{name: {"role": "sensitive", "type": "categorical"} for name in ("occupation", "salary", "physician", "disease")},
}
HAN_SLICES = [["occupation", "salary"], ["physician", "disease"]]
# Tables III and IV of han2013: the tuples of each group, in an order in which MMDCF may take them. Table III is in the
# order it is printed; in Table IV the third group comes first, because <John, Flu> and <Tom, Asthma> are the largest.
HAN_GROUPS = {
    ("occupation", "salary"): [[1, 5, 6], [8, 3, 9], [4, 7, 2]],
    ("physician", "disease"): [[6, 9, 5], [3, 7, 1], [2, 4, 8]],
}


def policy_of(columns: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"version": 1, "columns": columns, **parts}


def task_of(frame: pl.DataFrame, columns: dict[str, Any], privacy: dict[str, Any], seed: int = 0) -> Task:
    """All a method gets to see, from a frame."""
    policy = Policy.from_dict(policy_of(columns, privacy=privacy))
    table = encode(bind(policy, read(frame)))
    attributes = attributes_of(table)
    return Task(table, models_for(policy, attributes), attributes, policy.privacy, np.random.default_rng(seed))


def coded(frame: pl.DataFrame, columns: dict[str, Any]) -> CodedTable:
    return task_of(frame, columns, {"k": 2}).table
