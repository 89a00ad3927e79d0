"""Names that are private in scikit-learn and small here: both must say and accept the same."""

from numbers import Integral, Real
from unittest import mock

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import _NotAnArray

import scarce
from scarce import SVC, OneClassSVM, _parameters
from scarce._sklearn import HAS_CALLBACKS, check_sample_weight, copied, num_samples, safe_indexing

theirs = pytest.importorskip("sklearn.utils._param_validation")
utils = pytest.importorskip("sklearn.utils")
validation = pytest.importorskip("sklearn.utils.validation")

ESTIMATORS = [
    getattr(scarce, name)
    for name in scarce.__all__
    if hasattr(getattr(scarce, name), "_allowed_values")
]
VALUES = [
    *(None, True, np.True_, 0, 1, 2, -1, 2**33, np.int64(3), 0.0, 0.5, 1.0, np.float32(0.5), -1e-9),
    *(np.inf, -np.inf, np.nan, np.float64("nan"), "scale", "auto", "balanced", "rbf", "no such"),
    *([1, 2], (), {}, {0: 2.0}, np.arange(3), np.ones(()), sparse.eye_array(2), iter([1])),
    *(np.random.RandomState(0), np.random.default_rng(0), KFold(2), SVC(), LinearSVC(), len, SVC),
    *(pandas.Series([1.0]), 3 + 1j, b"bytes", object()),
]


def their_constraint(ours):
    """The constraint of scikit-learn that says what one of ours says."""
    match ours:
        case _parameters.Interval():
            return theirs.Interval(ours.kind, ours.left, ours.right, closed=ours.closed)
        case _parameters.StrOptions():
            options = theirs.StrOptions(ours.options)
            # A class may add a remark to the words.
            assert type(ours) is not _parameters.StrOptions or str(ours) == str(options)
            return mock.Mock(wraps=options, spec=options, hidden=False, __str__=lambda _: str(ours))
        case _parameters.Options():
            return theirs.Options(ours.kind, ours.options)
        case _parameters.HasMethods():
            return theirs.HasMethods(list(ours.methods))
    return ours


class Holder:
    """Something with one parameter."""

    def __init__(self, constraints, value):
        self._allowed_values = {"C": constraints}
        self.value = value

    def get_params(self, deep):
        assert not deep
        return {"C": self.value}


def message(check, *args):
    try:
        check(*args)
    except TypeError as error:
        return str(error) if isinstance(error, ValueError) else "of one type only"
    return None


def said_by_both(constraints, value):
    ours = message(_parameters.validate_parameters, Holder(constraints, value))
    expected = constraints
    if constraints != "no_validation":
        expected = [their_constraint(each) for each in constraints]
    other = message(
        theirs.validate_parameter_constraints, {"C": expected}, {"C": value}, Holder.__name__
    )
    return ours, other


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_parameters_are_accepted_and_refused_as_by_scikit_learn(kind):
    refused = 0
    for constraints in kind._allowed_values.values():
        for value in VALUES:
            ours, other = said_by_both(constraints, value)
            assert ours == other
            refused += ours is not None
    assert refused


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
@pytest.mark.parametrize("bounds", [(0, 1), (0, None), (None, 2), (None, None)])
@pytest.mark.parametrize("number", [Real, Integral])
def test_intervals_are_those_of_scikit_learn(number, bounds, closed):
    left, right = bounds
    if number is Integral and (
        (left is None and closed in ("left", "both"))
        or (right is None and closed in ("right", "both"))
    ):
        return  # refused by theirs: no integer is infinite
    for value in VALUES:
        ours, other = said_by_both([_parameters.Interval(number, *bounds, closed=closed)], value)
        assert ours == other


@pytest.mark.parametrize(
    "entry",
    ["array-like", "boolean", "cv_object", "nan", "random_state", "verbose", callable, None],
)
def test_entries_by_name_are_those_of_scikit_learn(entry):
    entry = callable if entry is len else entry
    for value in VALUES:
        assert len(set(said_by_both([entry], value))) == 1
        assert len(set(said_by_both([dict, entry], value))) == 1


def test_an_entry_without_rules_accepts_everything():
    assert all(said_by_both("no_validation", value) == (None, None) for value in VALUES)


ROWS = [
    np.arange(12.0).reshape(4, 3),
    sparse.csr_array(np.arange(12.0).reshape(4, 3)),
    sparse.coo_array(np.arange(12.0).reshape(4, 3)),
    pandas.DataFrame(np.arange(12.0).reshape(4, 3), index=list("abcd")),
    pandas.Series(list("abcd"), index=[3, 2, 1, 0]),
    [[1.0], [2.0], [3.0], [4.0]],
]


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: type(rows).__name__)
@pytest.mark.parametrize(
    "chosen", [[2, 0], np.array([1, 1, 3]), np.array([True, False, False, True]), [], range(2)]
)
def test_rows_are_taken_as_by_scikit_learn(rows, chosen):
    ours = safe_indexing(rows, np.asarray(chosen, dtype=None if len(chosen) else int))
    rows = rows.tocsr() if sparse.issparse(rows) else rows  # COO cannot be indexed in SciPy 1.13
    expected = utils._safe_indexing(rows, np.asarray(chosen, dtype=None if len(chosen) else int))
    assert type(ours) is type(expected) or sparse.issparse(ours)
    plain = [each.toarray() if sparse.issparse(each) else each for each in (ours, expected)]
    np.testing.assert_array_equal(*map(np.asarray, plain))
    if hasattr(ours, "index") and not isinstance(ours, list):
        assert list(ours.index) == list(expected.index)


@pytest.mark.parametrize("rows", [*ROWS, _NotAnArray(np.ones((3, 2)))])
def test_rows_are_counted_as_by_scikit_learn(rows):
    assert num_samples(rows) == validation._num_samples(rows)


@pytest.mark.parametrize("rows", [3, np.array(3.0), OneClassSVM(), None])
def test_what_has_no_rows_is_refused(rows):
    with pytest.raises(TypeError):
        num_samples(rows)


@pytest.mark.parametrize(
    "weights",
    [
        None,
        2,
        0.5,
        np.float32(2),
        [1, 2, 3, 0],
        np.ones(4, np.float32),
        pandas.Series([1, 2, 3, 4]),
    ],
)
def test_weights_are_those_of_scikit_learn(weights):
    expected = validation._check_sample_weight(weights, ROWS[0], dtype=np.float64)
    ours = check_sample_weight(weights, ROWS[0])
    assert ours.dtype == np.float64
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("weights", [[1.0], np.ones((4, 1)), [1, np.nan, 1, 1]])
def test_weights_are_refused_as_by_scikit_learn(weights):
    with pytest.raises(ValueError, match=r"(?s).+") as expected:
        validation._check_sample_weight(weights, ROWS[0], dtype=np.float64)
    with pytest.raises(ValueError, match=r"(?s).+") as ours:
        check_sample_weight(weights, ROWS[0])
    assert str(ours.value).startswith(str(expected.value))  # which has become longer since 1.6


def test_weights_of_zero_are_refused_unless_the_caller_does_so_itself():
    zeros = [0.0] * 4
    with pytest.raises(ValueError, match="must contain at least one non-zero number"):
        check_sample_weight(zeros, ROWS[0])
    assert np.array_equal(check_sample_weight(zeros, ROWS[0], all_zero=True), zeros)


def test_copies_are_what_clone_returns():
    frozen = FrozenEstimator(StandardScaler().fit(np.eye(3)))
    machine = OneClassSVM(random_state=np.random.RandomState(3))
    with config_context(enable_metadata_routing=True):
        machine.set_fit_request(sample_weight=False)
    pipeline = make_pipeline(frozen, StandardScaler().set_output(transform="pandas"), machine)
    unfitted = clone(pipeline)
    heard = [object()]
    if HAS_CALLBACKS:
        unfitted[-1]._skl_callbacks = heard
    copy, wanted = copied(unfitted), clone(unfitted)
    for ours, theirs_ in zip(copy, wanted, strict=True):
        assert type(ours) is type(theirs_)
        assert vars(ours).keys() == vars(theirs_).keys()
    assert copy[0] is wanted[0] is frozen
    assert copy[1] is not unfitted[1]
    assert copy[1]._sklearn_output_config == {"transform": "pandas"}
    assert not HAS_CALLBACKS or copy[2]._skl_callbacks is heard
    assert copy[2].random_state is not unfitted[2].random_state
    assert copy[2].random_state.randint(99) == wanted[2].random_state.randint(99)
    assert copy[2].get_metadata_routing().fit.requests == {"sample_weight": False}
    copy[2].nu = 0.1
    assert unfitted[2].nu == 0.5
