"""What fits without some rows cannot promise is said; plots and metadata of left-out scores."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce import (
    SVDD,
    CalibratedOneClass,
    OneClassSTM,
    OneClassSVM,
    ScarceDataWarning,
    TransferOneClassSVM,
)
from scarce.held_out import HeldOutScores, lower_group
from scarce.one_class import LeftOutScoresDisplay, PValueDisplay

pytestmark = pytest.mark.usefixtures("drawn_in_memory")

X = np.random.default_rng(0).normal(size=(30, 2))
FRESH = np.random.default_rng(1).normal(size=(400, 2))

# Warnings.


@pytest.mark.parametrize(
    "machine",
    [
        OneClassSVM(gamma=1e6, offset="left_out"),
        SVDD(gamma=1e6, offset="left_out"),
        TransferOneClassSVM(gamma=1e6),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_a_width_so_narrow_that_every_row_is_accepted_is_told(machine):
    with pytest.warns(ScarceDataWarning, match="every row is accepted"):
        machine.fit(X)
    assert (machine.predict([[1e3, 1e3]]) == 1).all()


def test_a_single_outlier_can_make_a_machine_accept_everything():
    far = np.r_[X[:9], [[1e3, 1e3]]]
    with pytest.warns(ScarceDataWarning, match="every row is accepted"):
        OneClassSVM(gamma=1.0, offset="left_out").fit(far)
    OneClassSVM(gamma=1.0, offset="left_out", false_alarms=0.2).fit(far)  # the second lowest


def noisy_class():
    """A class on a line in ten columns, two fifths of its training rows with noise; other rows."""
    random = np.random.default_rng(0)
    line = random.normal(size=(160, 1)) @ np.ones((1, 10)) + 0.1 * random.normal(size=(160, 10))
    others = random.normal(size=(100, 10))
    noisy = line[:60].copy()
    noisy[:24] += random.normal(0.0, 1.5, size=(24, 10))
    return noisy, line[60:], others


@pytest.mark.parametrize(
    "machine",
    [TransferOneClassSVM(), CalibratedOneClass(OneClassSVM(gamma="neighbors"))],
    ids=lambda machine: type(machine).__name__,
)
def test_more_noisy_rows_than_may_be_rejected_are_told_and_the_advice_helps(machine):
    rows, fresh, others = noisy_class()
    with pytest.warns(ScarceDataWarning, match=r"4\d % of the rows look unlike") as told:
        machine.fit(rows)
    assert (machine.predict(others) == 1).all()
    advised = float(str(told[0].message).rpartition("=")[2])
    machine.set_params(false_alarms=advised)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is asked for now lies beyond the noisy rows
        machine.fit(rows)
    assert (machine.predict(others) == -1).mean() > 0.9
    assert (machine.predict(fresh) == 1).mean() > 0.7
    TransferOneClassSVM().fit(rows[24:])  # without them nothing is said


def test_the_split_into_two_groups_is_the_best_of_all_and_counts_weights():
    random = np.random.default_rng(0)
    scores = np.sort(random.random(40)) ** 2
    weights = random.integers(1, 4, size=40)
    repeated = np.repeat(scores, weights)
    of_groups = [
        np.r_[np.full(k, repeated[:k].mean()), np.full(repeated.size - k, repeated[k:].mean())]
        for k in np.cumsum(weights)[:-1]
    ]
    explained = [groups.var() / repeated.var() for groups in of_groups]
    number, share = lower_group(HeldOutScores.of(scores, weights))
    assert number == 1 + int(np.argmax(explained))
    np.testing.assert_allclose(share, max(explained), rtol=1e-12)
    assert lower_group(HeldOutScores.of(np.ones(5))) == (0, 0.0)


def test_left_out_fits_that_end_early_are_told():
    rows = np.random.default_rng(0).normal(size=(60, 6, 5))
    rows += 0.2 * np.outer(np.ones(6), np.ones(5))
    # The fit of all samples settles in these sweeps; some without a part of them do not.
    settled = OneClassSTM(offset="training").fit(rows).n_iter_
    machine = OneClassSTM(max_iter=settled)
    with pytest.warns(ConvergenceWarning, match="Fits without some rows ended early"):
        machine.fit(rows)
    assert machine.converged_


def test_a_fit_that_ends_early_warns_once():
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        TransferOneClassSVM(max_iter=1).fit(X)
    assert len(caught) == 1


def test_what_many_inner_fits_warn_of_is_said_once():
    inner = OneClassSVM(max_iter=1, nu=0.3)
    with pytest.warns(ConvergenceWarning) as caught:
        CalibratedOneClass(inner).fit(X)
    assert len(caught) == 2
    assert "of 30 fits without some rows the first to warn gave" in str(caught[1].message)


@pytest.mark.parametrize("n", [30, 230])
@pytest.mark.parametrize("kind", [OneClassSVM, SVDD, TransferOneClassSVM])
def test_a_precomputed_kernel_gives_the_same_left_out_scores(kind, n):
    rows = np.random.default_rng(n).normal(size=(n, 2))
    given = {"gamma": 0.3, "nu": 0.2, "offset": "left_out", "tol": 1e-8}
    direct = kind(**given).fit(rows)
    matrix = kind(kernel="precomputed", **given).fit(rbf_kernel(rows, gamma=0.3))
    found, expected = (
        direct.decision_function(FRESH),
        matrix.decision_function(rbf_kernel(FRESH, rows, gamma=0.3)),
    )
    # Equal rows of a kernel matrix are those of equal rows, in another order: other folds.
    atol = 1e-6 if n == 30 else 0.05 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=atol)


# Metadata.


def test_groups_without_a_splitter_are_refused():
    with pytest.raises(ValueError, match="groups is for a splitter"):
        CalibratedOneClass().fit(X, groups=np.arange(30) // 3)


def test_groups_weights_and_domains_are_routed():
    groups, weights = np.arange(30) // 3, np.linspace(0.5, 2.0, 30)
    domain = np.r_[np.zeros(12, int), np.full(18, -1)]
    inner = TransferOneClassSVM(offset="original", gamma="scale")
    model = CalibratedOneClass(inner, cv=GroupKFold(3))
    plain = model.fit(X, sample_domain=domain, sample_weight=weights, groups=groups)
    expected = plain.decision_function(FRESH)
    given = {"sample_domain": domain, "sample_weight": weights, "groups": groups}
    with config_context(enable_metadata_routing=True):
        routed = model.fit(X, **given).decision_function(FRESH)
        scores = cross_validate(
            model,
            X,
            cv=GroupKFold(2),
            params=given,
            scoring=lambda fitted, rows, y=None: np.isfinite(fitted.left_out_scores_).sum(),
            error_score="raise",
        )["test_score"]
    np.testing.assert_array_equal(routed, expected)
    assert scores.sum() == 18  # every row of the target in one of two halves


def test_metadata_of_a_pipeline_is_named_after_its_last_step():
    weights = np.where(np.arange(30) < 20, 1.0, 0.0)
    chain = make_pipeline(StandardScaler(), OneClassSVM(nu=0.1))
    model = CalibratedOneClass(chain).fit(X, oneclasssvm__sample_weight=weights)
    np.testing.assert_array_equal(np.isnan(model.left_out_scores_), weights == 0.0)


# Plots.


@pytest.mark.parametrize("machine", [TransferOneClassSVM(), CalibratedOneClass()])
def test_the_scores_display_shows_shares_and_the_threshold(machine):
    machine.fit(X)
    display = LeftOutScoresDisplay.from_estimator(machine, FRESH, name="fresh")
    for bars in display.ax_.patches:  # of rows left out, and of fresh ones
        assert bars.get_data().values.sum() == pytest.approx(1.0)
    assert len(display.ax_.patches) == 2
    threshold = float(np.ravel(machine.offset_)[0])
    np.testing.assert_allclose(display.threshold_line_.get_xdata(), threshold)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[1] == "fresh"
    low, high = machine.false_alarm_range_
    assert f"90 % range {low:.2g} to {high:.2g}" in texts[2]


def test_the_p_value_display_is_the_distribution_function():
    model = TransferOneClassSVM().fit(X)
    display = PValueDisplay.from_estimator(model, FRESH, name="fresh")
    p = model.p_values(FRESH)
    levels, shares = display.line_.get_data()
    for level in (0.1, 0.5, 0.9):
        drawn = shares[np.searchsorted(levels, level + 1e-9, side="right") - 1]
        assert drawn == pytest.approx(np.mean(p <= level + 1e-9))
    band = display.band_.get_paths()[0].vertices
    assert band[:, 1].min() >= 0
    assert band[:, 1].max() <= 1


def test_displays_need_left_out_scores():
    with pytest.raises(ValueError, match='offset="left_out"'):
        LeftOutScoresDisplay.from_estimator(OneClassSVM().fit(X))
