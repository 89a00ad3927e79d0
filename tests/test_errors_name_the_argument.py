"""Errors of wrong calls name the argument, what was seen and what is accepted."""

import numpy as np
import pandas as pd
import pytest

from scarce import SVC, SVR, CalibratedOneClass, NuSVC, NuSVR, OneClassSVM
from tests.subjects import SUBJECTS

each_subject = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
LABELLED = [each for each in SUBJECTS if "classifier" in each.traits]


@each_subject
@pytest.mark.parametrize("values", [np.full((30, 3), "blue"), [["blue", 1.0, 2.0]] * 30])
def test_words_among_the_rows(subject, values):
    _, y, *_ = subject.make(30)
    with pytest.raises(ValueError, match=r"X has values that are not numbers: .*blue.*Encode"):
        subject.new().fit(values, y)


@pytest.mark.parametrize("model", [OneClassSVM(), CalibratedOneClass()])
def test_times_are_no_numbers(model):
    """NumPy would count days or nanoseconds."""
    X = np.arange("2020-01", "2020-03", dtype="datetime64[D]").reshape(-1, 2)
    with pytest.raises(ValueError, match=r"not numbers: could not convert datetime64\[D\]"):
        model.fit(X)
    table = pd.DataFrame({"when": X[:, 0], "then": X[:, 1]})
    for columns in (table, table.assign(value=1.0), table[["when"]] - table.when[0]):
        with pytest.raises(ValueError, match="X has columns that are not numbers: 'when'"):
            model.fit(columns)
    with pytest.raises(ValueError, match=r"y must be a number for each sample: .*datetime64"):
        SVR().fit(np.ones((30, 1)), X[:, 0])


@each_subject
@pytest.mark.parametrize("weights", ["balanced", ["heavy"] * 30, {0: 1.0}])
def test_weights_that_are_no_numbers(subject, weights):
    X, y, *_ = subject.make(30)
    with pytest.raises(ValueError, match="sample_weight must be a number for each of the 30 samp"):
        subject.new().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("subject", LABELLED, ids=lambda subject: subject.name)
def test_labels_of_two_kinds(subject):
    X, y, *_ = subject.make(30)
    labels = np.array(["odd", *y[1:].tolist()], dtype=object)
    with pytest.raises(ValueError, match=r"y has labels that are texts and others.*'odd' and [01]"):
        subject.new().fit(X, labels)


@pytest.mark.parametrize("model", [SVR(), NuSVR()])
def test_values_that_are_no_numbers(model):
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match=r"y must be a number for each sample.*'low'"):
        model.fit(X, ["low", "high", "low", "high"])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.fit(X, np.array([None, 1.0, 2.0, 3.0], dtype=object))


@pytest.mark.parametrize("model", [SVC, NuSVC])
@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan])
def test_factors_of_classes_that_are_not_above_zero(model, factor):
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    with pytest.raises(ValueError, match=f"class_weight must be above 0.*got {factor:g} for 1"):
        model(class_weight={1: factor}).fit(X, y)


def test_a_cost_beside_which_no_tube_has_a_width():
    with pytest.raises(ValueError, match=r"'C' parameter of NuSVR must be .*inf\)\. Got inf"):
        NuSVR(C=np.inf).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("fdr", ["low", None, 0.0, 1.0, np.nan])
def test_a_false_discovery_rate_that_is_none(fdr):
    X = np.arange(20.0)[:, None]
    model = OneClassSVM(false_alarms=0.1).fit(X)
    with pytest.raises(ValueError, match=f"fdr must be a number between 0 and 1, got {fdr!r}"):
        model.select(X, fdr=fdr)
