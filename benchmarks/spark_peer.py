"""Spark's `LinearSVC` on rows of a Parquet file, in one thread of this machine.

Spark is no dependency, not even of the benchmarks: `pip install pyspark`, with a Java that it
takes. Without it the case says so and is left out.
"""

import os
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np


def is_here():
    return find_spec("pyspark") is not None


def cpu_seconds(pid):
    """User and system time of a process, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def linear_svc(folder, columns, C, n_rows, passes=100, tol=1e-6):
    """Fit the C-SVC of cost ``C`` to the columns ``x0``, ``x1``, ... and ``y`` of Parquet files.

    Spark minimises ``mean hinge + regParam / 2 |w|^2``, so that its ``regParam`` is
    ``1 / (C n)``; the intercept is free in both.
    """
    from pyspark.ml.classification import LinearSVC
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    try:
        pid = spark.sparkContext._gateway.proc.pid
        names = [f"x{j}" for j in range(columns)]
        table = spark.read.parquet(str(folder))
        rows = VectorAssembler(inputCols=names, outputCol="features").transform(table)
        rows = rows.select("features", rows["y"].cast("double").alias("label"))
        LinearSVC(maxIter=2).fit(rows.limit(1000))  # the virtual machine is warm from here on
        began, wall = cpu_seconds(pid), time.perf_counter()
        # It keeps the rows in memory while it fits, as it does by itself.
        model = LinearSVC(
            maxIter=passes, tol=tol, regParam=1.0 / (C * n_rows), standardization=False
        ).fit(rows)
        spent, wall = cpu_seconds(pid) - began, time.perf_counter() - wall
        return {
            "cpu_s": round(spent, 1),
            "wall_s_busy_machine": round(wall, 1),
            "iterations": int(model.summary().totalIterations),
            "coef": np.asarray(model.coefficients.toArray()),
            "intercept": float(model.intercept),
        }
    finally:
        spark.stop()
