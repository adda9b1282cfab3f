-- A dbt test fails if its query gives rows: these are the guarantees that the table does not meet.
select * from {{ ref('visits_checked') }} where holds = false
