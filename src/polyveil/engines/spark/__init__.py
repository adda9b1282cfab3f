"""The Spark engine: `engine` takes the steps of `polyveil.pipeline` on a Spark DataFrame.

Only the DataFrame API is used, so that it runs on a classic session and over Spark Connect alike. No row reaches the
driver: it sees the distinct values of each column with their counts, the cuts of the block tree, one line per block
and one line per partition of the measurement.
"""

from polyveil.engines.spark.release import SparkRelease
from polyveil.engines.spark.session import session_for
from polyveil.engines.spark.verify import verify

__all__ = ["SparkRelease", "session_for", "verify"]
