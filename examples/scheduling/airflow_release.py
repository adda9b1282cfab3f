"""An Airflow DAG: anonymize a table every week and verify the release from its files.

Both steps are plain commands. They end with 0 only if the release holds, a retry replaces what the last try made, and a
step that is killed leaves the older release or none.
"""

from __future__ import annotations

import os
from datetime import timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

FOLDER = os.environ.get("RELEASES", "/data/releases")

with DAG("publish_visits", schedule="@weekly", catchup=False, max_active_runs=1) as dag:
    step = {"cwd": FOLDER, "append_env": True, "retries": 2, "retry_delay": timedelta(minutes=5)}
    anonymize = BashOperator(
        task_id="anonymize",
        bash_command="polyveil anonymize visits.csv --policy policy.yaml --out release --overwrite --json",
        **step,
    )
    verify = BashOperator(task_id="verify", bash_command="polyveil verify release --json", **step)
    anonymize >> verify
