"""Tables that are not in memory are refused with what to do, and array dispatch changes nothing."""

import os
import subprocess
import sys
from importlib.metadata import version

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from packaging.version import Version

import scarce
from tests.subjects import SUBJECTS

ROWS = np.random.default_rng(0).normal(size=(40, 3))


def stand_in(module, name):
    """A table of a library that is not installed here."""
    return type(name, (), {"__module__": module, "shape": ROWS.shape, "__len__": lambda self: 40})()


BY_CHUNKS = {"MappingConvergence", "PositiveUnlabeledSVC", "SVMC"}  # as they are
UNREAD = [
    (stand_in("polars.lazyframe.frame", "LazyFrame"), r"LazyFrame of polars.*X\.collect\(\)"),
    (stand_in("pyspark.sql.dataframe", "DataFrame"), r"DataFrame of pyspark.*X\.toPandas\(\)"),
]


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_tables_not_in_memory_are_refused(subject):
    X, y, *_ = subject.make(40)
    fitted = subject.new().fit(X, y)
    for table, message in UNREAD:
        with pytest.raises(TypeError, match=message):
            subject.new().fit(table, y)
        with pytest.raises(TypeError, match=message):
            fitted.predict(table)
    # Answers for Dask collections are lazy; fits need them in memory, unless told otherwise.
    if subject.name in BY_CHUNKS:
        return
    for table in (
        dask.array.from_array(ROWS, chunks=10),
        dask.dataframe.from_pandas(pd.DataFrame(ROWS), 2),
    ):
        with pytest.raises((TypeError, ValueError), match="in memory"):
            subject.new().fit(table, y)


def test_callables_do_not_get_them_either():
    model = scarce.OneClassSVM(kernel=lambda A, B: np.exp(A @ B.T))
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        model.fit(UNREAD[0][0])
    with pytest.raises(ValueError, match="without approximation needs all rows in memory"):
        model.fit(dask.array.from_array(ROWS, chunks=10))


def test_frames_in_memory_of_the_same_library_pass():
    class DataFrame(pd.DataFrame):
        __module__ = "polars.dataframe.frame"

    scarce.OneClassSVM().fit(DataFrame(ROWS))


DISPATCH = """
import warnings
import numpy as np
from sklearn import config_context
from tests.subjects import SUBJECTS
warnings.simplefilter("ignore")
for subject in SUBJECTS:
    X, y, *_ = subject.make(30)
    plain = subject.new().fit(X, y).predict(X)
    with config_context(array_api_dispatch=True):
        dispatched = subject.new().fit(X, y).predict(X)
    np.testing.assert_array_equal(dispatched, plain)
print(len(SUBJECTS))
"""


@pytest.mark.skipif(Version(version("scipy")) < Version("1.14"), reason="no dispatch before 1.14")
def test_array_dispatch_changes_nothing():
    # SciPy reads the variable when it is imported.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SCIPY_ARRAY_API": "1"}
    found = subprocess.run(
        [sys.executable, "-c", DISPATCH], capture_output=True, text=True, env=environment
    )
    assert found.stdout.strip() == str(len(SUBJECTS)), found.stderr
