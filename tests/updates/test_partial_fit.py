"""Updates against fits of the same rows, and what they refuse."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import scarce
from benchmarks.data import load
from scarce import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from scarce.kernels import make_kernel, make_operator
from scarce.reductions import c_svc_program, one_class_program
from scarce.solvers import MovingOptimum, Terms, certify, solve

KINDS = [
    OneClassSVM(nu=0.1),
    OneClassSVM(nu=0.2, kernel="poly", coef0=1.0),
    SVDD(nu=0.1),
    SVC(),
    SVC(C=20.0, class_weight="balanced"),
    NuSVC(nu=0.3),
    SVR(),
    NuSVR(nu=0.3),
]
NAMES = [f"{type(each).__name__}{number}" for number, each in enumerate(KINDS)]


def rows(n, seed=0, classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)) + 1.0
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * random.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def stream(estimator, X, y, first, sizes, **more):
    """Update with parts of the given sizes; return the model and how many rows came."""
    model = copy.deepcopy(estimator).set_params(**more)
    model.partial_fit(X[:first], y[:first])
    for size in sizes:
        model.partial_fit(X[first : first + size], y[first : first + size])
        first += size
    return model, first


def assert_is_fit_of(model, X, y, **more):
    """A fit of the same rows with the same width gives the same answers up to the tolerance."""
    fit = type(model)(**{**model.get_params(), "gamma": model._gamma, "window": None})
    fit.fit(X, y, **more)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= model.tol
    assert model.dual_gap_ <= model.tol
    assert model.objective_ == pytest.approx(fit.objective_, rel=2 * model.tol)
    T = rows(50, 9)[0]
    name = "predict" if isinstance(fit, (SVR, NuSVR)) else "decision_function"
    wanted = getattr(fit, name)(T)
    np.testing.assert_allclose(
        getattr(model, name)(T), wanted, rtol=0, atol=5e-3 * np.abs(wanted).max()
    )


@pytest.mark.parametrize("estimator", KINDS, ids=NAMES)
@pytest.mark.parametrize(("first", "window"), [(150, None), (150, 200), (700, 700)])
def test_an_update_is_a_fit_of_the_rows_that_are_kept(estimator, first, window):
    X, y = rows(first + 100)
    model, end = stream(estimator, X, y, first, (1, 1, 30, 1, 60, 7), window=window)
    start = 0 if window is None else end - window
    assert model.shape_fit_ == (end - start, 4)
    assert_is_fit_of(model, X[start:end], y[start:end])
    assert set(model.support_) <= set(range(end - start))
    np.testing.assert_array_equal(model.support_vectors_, X[start:end][model.support_])


def test_several_classes_and_sparse_rows():
    X, y = rows(300, classes=3)
    X[np.abs(X) < 0.5] = 0.0
    model, _ = stream(SVC(window=250), X, y, 240, (20, 20, 20))
    assert_is_fit_of(model, X[50:], y[50:])
    for estimator in (OneClassSVM(nu=0.2), SVC(), SVR()):
        model, _ = stream(estimator, sparse.csr_array(X), y, 240, (20, 20, 20))
        dense, _ = stream(estimator, X, y, 240, (20, 20, 20))
        assert sparse.issparse(model.support_vectors_)
        name = "predict" if isinstance(estimator, SVR) else "decision_function"
        found, wanted = (getattr(each, name)(X[:20]) for each in (model, dense))
        np.testing.assert_allclose(found, wanted, atol=2e-2 * np.abs(wanted).max())


@pytest.mark.parametrize("estimator", KINDS, ids=NAMES)
def test_weights_are_repetition_and_zero_is_absence(estimator):
    X, y = rows(160)
    weights = np.random.default_rng(1).integers(0, 3, 160)
    model = copy.deepcopy(estimator)
    for part in (slice(0, 120), slice(120, 121), slice(121, 160)):
        model.partial_fit(X[part], y[part], sample_weight=weights[part])
    assert model._kept_rows.shape[0] == np.count_nonzero(weights)
    fit = type(model)(**{**model.get_params(), "gamma": model._gamma})
    fit.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert model.objective_ == pytest.approx(fit.objective_, rel=3e-3)


def test_single_precision_stays_until_double_precision_comes():
    X, y = rows(120)
    model = SVC().partial_fit(X[:100].astype(np.float32), y[:100])
    assert model._kept_rows.dtype == np.float32
    model.partial_fit(X[100:], y[100:])
    assert model._kept_rows.dtype == np.float64
    assert_is_fit_of(model, np.concatenate([X[:100].astype(np.float32), X[100:]]), y)


def test_gamma_is_that_of_the_first_call():
    X, _ = rows(100)
    model = OneClassSVM().partial_fit(X[:50])
    first = model._gamma
    assert first == pytest.approx(1 / (4 * X[:50].var()))
    model.partial_fit(10 * X[50:])
    assert model._gamma == first
    assert OneClassSVM().partial_fit(X)._gamma != first


def advanced(optimum, whole, gone, came):
    """Follow to a program, of which the new rows' part is taken."""
    names = ("groups", "signs", "kernel_signs", "linear", "upper")
    new = Terms(*(getattr(whole, name)[whole.kernel.n - came :] for name in names))
    optimum.take(whole.kernel, gone, new, whole.totals)
    return optimum.solve()


@pytest.mark.parametrize("kind", ["one class", "two classes"])
def test_the_certificate_is_that_of_the_whole_program(kind):
    """What an update claims, by a few active rows, against all kernel values from nothing."""
    X, y = rows(3200)
    kernel = make_kernel("rbf", gamma=0.2)

    def program(start, end):
        operator = make_operator(X[start:end], kernel)
        if kind == "one class":
            return one_class_program(operator, nu=0.1, weights=np.ones(end - start))
        return c_svc_program(operator, 2.0 * y[start:end] - 1.0, np.ones(end - start))

    first = program(0, 3000)
    optimum = MovingOptimum(first, solve(first).alpha, 1e-3, 200.0)
    assert optimum.rows.size < 1500  # most rows are not looked at
    last = 0, 3000
    for now in ((1, 3000), (1, 3001), (40, 3050), (41, 3051), (100, 3200)):
        whole = program(*now)
        found = advanced(optimum, whole, now[0] - last[0], now[1] - last[1])
        truth = certify(whole, found.alpha)
        assert truth.kkt_violation <= found.kkt_violation + 1e-9
        assert found.kkt_violation <= 1e-3
        assert truth.dual_gap <= found.dual_gap + 1e-9
        assert truth.objective == pytest.approx(found.objective, rel=1e-10)
        assert found.primal_objective == pytest.approx(-found.objective, rel=1e-3)
        assert truth.relative_infeasibility <= 1e-12
        last = now


def test_a_total_that_the_rows_cannot_carry_is_refused():
    X, _ = rows(610)
    kernel, weights = make_kernel("rbf", gamma=0.2), np.ones(610)
    first = one_class_program(make_operator(X[:600], kernel), nu=0.5, weights=weights[:600])
    whole = one_class_program(make_operator(X, kernel), nu=0.5, weights=weights)
    whole.totals = np.array([611.0])  # of bounds that sum to 610
    with pytest.raises(ValueError, match="infeasible: group 0 must sum to 611"):
        advanced(MovingOptimum(first, solve(first).alpha, 1e-3, 200.0), whole, 0, 10)


@pytest.mark.parametrize("size", [1, 60])
def test_sums_of_all_rows_are_brought_up_to_date(size, monkeypatch):
    """However often that is done, sums are those of the point that they are said to be for."""
    X, y = rows(3000 + 10 * size)
    kernel, signs = make_kernel("rbf", gamma=0.2), 2.0 * y - 1.0

    def program(end):
        return c_svc_program(make_operator(X[:end], kernel), signs[:end], np.ones(end))

    far = []
    for patience in (np.inf, -1.0):  # if it can be avoided never, after every update
        monkeypatch.setattr("scarce.solvers._moving.PATIENCE", patience)
        first = program(3000)
        optimum = MovingOptimum(first, solve(first).alpha, 1e-3, 200.0)
        for end in range(3000 + size, X.shape[0] + 1, size):
            whole = program(end)
            found = advanced(optimum, whole, 0, size)
        at = optimum.x.copy()
        at[optimum.rows] = optimum.last
        K, signed = kernel.values(X, X), whole.signed.kernel_signs
        np.testing.assert_allclose(optimum.field, K @ (signed * at), atol=1e-9)
        now = (K @ (signed * optimum.x))[optimum.rows]
        np.testing.assert_allclose(optimum.active, now, atol=1e-9)
        truth = certify(whole, found.alpha)
        assert truth.kkt_violation <= found.kkt_violation + 1e-9 <= 1e-3 + 1e-9
        moved = signed * (optimum.x - at)
        far.append(moved @ K @ moved)
    assert size > 1 or far[1] <= 0.5 * far[0]  # many rows have sums brought up to date in any case


@pytest.mark.parametrize("estimator", [OneClassSVM(nu=0.1), SVC()])
def test_rows_that_change_nothing_leave_the_model_as_it_is(estimator):
    """Rows deep inside their class come, and others like them go."""
    window = 2080
    X, y = rows(window + 20)
    two = isinstance(estimator, SVC)
    inside = SVC().fit(X, y).decision_function(X) * (2 * y - 1) if two else -abs(X - 1).sum(axis=1)
    order = np.argsort(-inside, kind="stable")
    order = np.concatenate([order[:40:2], order[40:], order[1:40:2]])
    X, y = X[order], y[order]
    model = copy.deepcopy(estimator).set_params(window=window).partial_fit(X[:window], y[:window])
    stayed = 0
    for end in range(window + 1, window + 21):
        before, places = model.dual_coef_, model.support_
        model.partial_fit(X[end - 1 : end], y[end - 1 : end])
        if model.dual_coef_ is before:
            stayed += 1
            np.testing.assert_array_equal(model.support_, places - 1)
        assert model.shape_fit_ == (window, 4)
        np.testing.assert_array_equal(model.support_vectors_, X[end - window : end][model.support_])
    assert stayed >= 10
    X, y = X[20:], y[20:]
    assert_is_fit_of(model, X, y)
    operator = make_operator(X, make_kernel("rbf", gamma=model._gamma))
    program = one_class_program(operator, nu=0.1, weights=np.ones(window))
    if two:
        program = c_svc_program(operator, 2.0 * y - 1.0, np.ones(window))
    alpha = np.zeros(window)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    truth = certify(program, alpha)
    assert truth.kkt_violation <= model.kkt_violation_ + 1e-9 <= 1e-3
    assert truth.dual_gap <= model.dual_gap_ + 1e-9


INSIDE = ("_forget", "_move", "_state", "_append", "_solved_for_active", "_solution")


@pytest.mark.parametrize("estimator", [OneClassSVM(nu=0.1), SVC()])
def test_interrupted_updates_leave_the_old_model(estimator, monkeypatch):
    X, y = rows(760)
    model, end = stream(estimator, X, y, 640, (10,), window=640)

    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    places = [(MovingOptimum, name) for name in INSIDE]
    for owner, name in [*places, (type(model), "_keep"), (type(model), "_stored")]:
        before = dict(vars(model)), model.decision_function(X[:5])
        part = slice(end, end + 10)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, stop)
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(X[part], y[part])
        assert vars(model) == before[0]
        np.testing.assert_array_equal(model.decision_function(X[:5]), before[1])
        model.partial_fit(X[part], y[part])
        end += 10
    assert_is_fit_of(model, X[end - 640 : end], y[end - 640 : end])


def test_copies_go_their_own_way():
    X, y = rows(700)
    model, _ = stream(SVC(), X, y, 600, (10,))
    shallow, deep = copy.copy(model), copy.deepcopy(model)
    model.partial_fit(X[610:620], y[610:620])
    shallow.partial_fit(X[620:640], y[620:640])
    deep.partial_fit(X[640:650], y[640:650])
    for each, part in ((model, (610, 620)), (shallow, (620, 640)), (deep, (640, 650))):
        own = np.append(np.arange(610), np.arange(*part))
        assert_is_fit_of(each, X[own], y[own])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator", KINDS, ids=NAMES)
def test_saved_in_the_middle(estimator, form, tmp_path):
    X, y = rows(260)
    X = form(X)
    model, end = stream(estimator, X, y, 200, (20,), window=210)
    scarce.save(model, tmp_path / "model.skops")
    files = pickle.loads(pickle.dumps(model)), scarce.load(tmp_path / "model.skops")
    for each in (model, *files):
        each.partial_fit(X[end : end + 30], y[end : end + 30])
        assert_is_fit_of(each, X[40:250], y[40:250])


def test_thresholds_of_rows_left_out_are_found_when_asked_for(tmp_path):
    X, _ = rows(260)
    model, end = stream(OneClassSVM(nu=0.2, false_alarms=0.1), X, X[:, 0], 200, (20, 1))
    assert "offset_" not in vars(model)
    fit = OneClassSVM(nu=0.2, false_alarms=0.1, gamma=model._gamma).fit(X[:end])
    T = rows(50, 5)[0]
    wanted = fit.decision_function(T)
    np.testing.assert_allclose(model.decision_function(T), wanted, atol=2e-3 * np.abs(wanted).max())
    np.testing.assert_allclose(model.p_values(T), fit.p_values(T), atol=0.02)
    assert model.false_alarm_range_ == fit.false_alarm_range_
    assert "offset_" in vars(model)
    model.partial_fit(X[end:])
    loaded = pickle.loads(pickle.dumps(model))
    assert "offset_" in vars(loaded)
    assert loaded.offset_ == model.offset_
    model.partial_fit(X[:1])
    scarce.save(model, tmp_path / "model.skops")
    assert scarce.load(tmp_path / "model.skops").offset_ == model.offset_


@pytest.mark.parametrize(
    ("estimator", "calls", "words"),
    [
        (OneClassSVM(), [np.ones((4, 2)), np.ones((4, 3))], "X has 3 features"),
        (OneClassSVM(contamination=0.1), [np.eye(4)], "contamination=0.1"),
        (OneClassSVM(window=0), [np.eye(4)], "window"),
        (OneClassSVM(), [np.eye(4), sparse.csr_array(np.eye(4))], "X is sparse"),
    ],
)
def test_what_is_refused(estimator, calls, words):
    y = np.array([0, 1, 0, 1])
    for X in calls[:-1]:
        estimator.partial_fit(X, y)
    with pytest.raises(ValueError, match=words):
        estimator.partial_fit(calls[-1], y)


def test_classes_stay_those_of_the_first_call():
    X, y = rows(60)
    with pytest.raises(ValueError, match="needs y"):
        SVC().partial_fit(X)
    with pytest.raises(ValueError, match="differ from the labels of the first call"):
        SVC().partial_fit(X, y, classes=[0, 1, 2])
    model = SVC(window=60).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="y holds 7, which is none of the classes"):
        model.partial_fit(X[:1], [7])
    ones = np.ones(60, int)
    with pytest.raises(ValueError, match="window=60 holds no row of class 0"):
        model.partial_fit(X, ones)
    assert model.shape_fit_ == (60, 4)  # as before
    with pytest.raises(ValueError, match="infeasible"):
        NuSVC(nu=0.5, window=60).partial_fit(X, y).partial_fit(X[:50], ones[:50])


def test_fit_keeps_no_rows():
    X, y = rows(60)
    model = SVC().fit(X, y)
    with pytest.warns(UserWarning, match="fit keeps no rows: partial_fit begins anew"):
        model.partial_fit(X[:40], y[:40])
    assert_is_fit_of(model, X[:40], y[:40])
    assert model._gamma == pytest.approx(1 / (4 * X[:40].var()))
    model.fit(X, y)
    assert not [name for name in vars(model) if name.startswith("_kept")]


def test_machines_without_partial_fit():
    assert not hasattr(SVC(kernel="precomputed"), "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as error:
        OneClassSVM(approximation="nystroem").partial_fit  # noqa: B018
    assert "approximation='nystroem' is for fit" in str(error.value.__cause__)


def test_hard_programs_are_left_to_the_solver(monkeypatch):
    """Very many steps are not taken among the active rows alone."""
    X, y = rows(760)
    monkeypatch.setattr("scarce.solvers._moving.MOST_ACTIVE_STEPS", 5)
    model, _ = stream(SVC(C=100.0), X, y, 700, (30, 30))
    assert_is_fit_of(model, X, y)


def test_the_rate_of_false_alarms_holds_over_a_stream():
    """Of 2,000 new rows, each judged before the model learns it, a tenth is rejected."""
    random, rejected = np.random.default_rng(3), 0
    model = OneClassSVM(nu=0.1, gamma=0.1, false_alarms=0.1, window=200)
    model.partial_fit(random.normal(size=(200, 4)))
    for _ in range(40):
        X = random.normal(size=(50, 4))
        rejected += int((model.predict(X) < 0).sum())
        model.partial_fit(X)
    # Thresholds from 200 rows vary by about .02, less over a stream; 2,000 rows by .007.
    assert 0.07 <= rejected / 2000 <= 0.13


def test_numbers_do_not_drift_over_many_updates():
    X, y = rows(1400)
    model = SVC(window=300).partial_fit(X[:300], y[:300])
    for row in range(300, 1400):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    program = c_svc_program(
        make_operator(X[1100:], make_kernel("rbf", gamma=model._gamma)),
        2.0 * y[1100:] - 1.0,
        np.ones(300),
    )
    alpha = np.zeros(300)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    truth = certify(program, alpha)
    assert truth.kkt_violation <= model.kkt_violation_ + 1e-9 <= 1e-3
    assert truth.dual_gap <= model.dual_gap_ + 1e-9
    assert truth.relative_infeasibility <= 1e-12


def test_active_rows_have_room_for_what_a_total_needs():
    """Clusters whose rows near the boundary are nearly all at their bound."""
    X = np.asarray(load("easy", 1700, 16).X, float)
    model, end = stream(OneClassSVM(nu=0.5), X, X[:, 0], 1500, (100, 100))
    fit = OneClassSVM(nu=0.5, gamma=model._gamma).fit(X[:end])
    assert model.kkt_violation_ <= model.tol
    assert model.objective_ == pytest.approx(fit.objective_, rel=1e-3)
