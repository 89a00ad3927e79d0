"""What goes in: arrays of any order, rows, memory maps, frames; and what is refused."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from scarce import STM, OneClassSTM
from scarce.tensor import vectors_to_tensors
from tests.published import one_class_stm
from tests.tensor.internals import Tensors
from tests.tensor.samples import one_class_tensors, two_class_tensors

MODELS = [one_class_stm(nu=0.3), STM()]


def fitted(model, X, **params):
    labels = np.arange(len(X)) % 2
    return type(model)(**model.get_params()).set_params(**params).fit(X, labels)


# Vectors to tensors.


@pytest.mark.parametrize(
    ("n_features", "side"),
    [(1, 1), (4, 2), (5, 3), (9, 3), (13, 4), (25, 5), (33, 6), (34, 6), (61, 8), (278, 17)],
)
def test_near_square_shapes_are_those_of_the_paper(n_features, side):
    assert vectors_to_tensors(np.ones((2, n_features))).shape == (2, side, side)


def test_zeros_are_appended_and_rows_are_read_first():
    tensors = vectors_to_tensors([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], (2, 2, 2))
    np.testing.assert_array_equal(tensors[1], [[[6, 7], [8, 9]], [[10, 0], [0, 0]]])
    X = np.arange(12.0).reshape(2, 6)
    assert np.shares_memory(vectors_to_tensors(X, (3, 2)), X)
    assert vectors_to_tensors(X.astype(np.float32), (7,)).dtype == np.float32


@pytest.mark.filterwarnings("ignore:.*cells are filled up")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("shape", [(3, 4), "auto", (2, 2, 3), (5, 3), (12,)])
def test_rows_with_a_shape_are_padded_tensors(model, shape):
    rows = one_class_tensors((12,))
    tensors = vectors_to_tensors(rows, shape)
    by_rows, by_tensors = fitted(model, rows, tensor_shape=shape), fitted(model, tensors)
    assert by_rows.tensor_shape_ == tensors.shape[1:]
    assert by_rows.coef_.shape == tensors.shape[1:]
    np.testing.assert_array_equal(by_rows.coef_, by_tensors.coef_)
    np.testing.assert_allclose(
        by_rows.decision_function(rows), by_tensors.decision_function(tensors), rtol=1e-10
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_pipelines_with_scalers(model):
    X, signs = two_class_tensors((12,), n=40)
    for scaler in (MinMaxScaler(), StandardScaler(with_mean=False)):
        # Not centred: the one-class machine needs the origin outside.
        chain = make_pipeline(
            scaler, type(model)(**model.get_params()).set_params(tensor_shape="auto")
        )
        chain.fit(X + 5.0, signs)
        assert chain[-1].coef_.shape == (4, 4)
        assert chain.decision_function(X + 5.0).shape == (40,)
    scores = cross_val_score(
        make_pipeline(MinMaxScaler(), STM(tensor_shape="auto")), X, signs, cv=4
    )
    assert scores.mean() > 0.8


# Types and places.


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2)])
def test_single_precision(model, shape):
    tensors = one_class_tensors(shape, n=30).astype(np.float32)
    narrow, wide = fitted(model, tensors), fitted(model, tensors.astype(np.float64))
    np.testing.assert_array_equal(narrow.coef_, wide.coef_)
    assert narrow.coef_.dtype == np.float64
    np.testing.assert_allclose(
        narrow.decision_function(tensors),
        wide.decision_function(tensors.astype(np.float64)),
        atol=1e-12 * np.abs(narrow.score_samples(tensors)).max() if "nu" in vars(model) else 1e-12,
    )
    ints = (10 * tensors).astype(np.int32)
    np.testing.assert_array_equal(
        fitted(model, ints).coef_, fitted(model, ints.astype(np.float64)).coef_
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_memory_maps_and_layouts(model, tmp_path):
    tensors = one_class_tensors((4, 3), n=30)
    expected = fitted(model, tensors).coef_
    np.save(tmp_path / "X.npy", tensors)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    turned = np.ascontiguousarray(tensors.transpose(2, 1, 0)).transpose(2, 1, 0)
    assert not turned.flags.c_contiguous
    for samples in (mapped, turned, np.asfortranarray(tensors), tensors.tolist()):
        found = fitted(model, samples)
        np.testing.assert_array_equal(found.coef_, expected)
        found.decision_function(samples)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "tensor_shape"), [((120, 120), None), ((24, 20, 30), None), ((14_000,), "auto")]
)
def test_data_are_not_copied(model, dtype, shape, tensor_shape, tmp_path):
    # The memory that does not grow with a sample's size stays below 8 MB.
    X = np.random.default_rng(0).random(size=(300, *shape), dtype=dtype)
    params = {"tensor_shape": tensor_shape, "tol": 1e-3}
    params |= {"C": 1e-4} if isinstance(model, STM) else {}
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fitted(model, X[:30], **params)  # compiles
    for samples in (X, mapped):
        tracemalloc.start()
        found = fitted(model, samples, **params)
        found.decision_function(samples)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.5 * X.nbytes


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_feature_names(model):
    frame = pd.DataFrame(one_class_tensors((6,)), columns=list("abcdef"))
    found = fitted(model, frame, tensor_shape=(2, 3))
    assert list(found.feature_names_in_) == list("abcdef")
    assert found.n_features_in_ == 6
    found.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[list("fedcba")])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_persistence(model):
    tensors = one_class_tensors((3, 4, 2))
    found = fitted(model, tensors, rank=2, tol=1e-3)
    saved = skops.io.dumps(found)
    untrusted = skops.io.get_untrusted_types(data=saved)
    assert all(name.startswith("scarce.") for name in untrusted)
    for loaded in (
        pickle.loads(pickle.dumps(found)),
        skops.io.loads(saved, trusted=untrusted),
    ):
        np.testing.assert_array_equal(loaded.coef_, found.coef_)
        np.testing.assert_array_equal(
            loaded.decision_function(tensors), found.decision_function(tensors)
        )


# Errors.


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_later_modes_are_checked_at_predict_time(model):
    tensors = one_class_tensors((4, 3))
    found = fitted(model, tensors)
    for wrong in (tensors[:, :, :2], tensors[:, :3], tensors.reshape(12, 12), tensors[..., None]):
        words = rf"samples of shape \({wrong.shape[1]},.*fitted to samples of shape \(4, 3\)"
        with pytest.raises(ValueError, match=words):
            found.predict(wrong)
    with pytest.raises(ValueError, match="samples of shape"):
        found.predict(tensors[:, :, :2].tolist())
    by_rows = fitted(model, tensors.reshape(12, 12), tensor_shape=(4, 3))
    with pytest.raises(ValueError, match=r"samples of shape \(4, 3\), but .* of shape \(12,\)"):
        by_rows.predict(tensors)
    with pytest.raises(ValueError, match=r"X has 11 features, but .* is expecting 12"):
        by_rows.predict(tensors.reshape(12, 12)[:, :11])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_shapes_that_do_not_fit(model):
    rows, tensors = one_class_tensors((12,)), one_class_tensors((4, 3))
    with pytest.raises(ValueError, match=r"tensor_shape=\(3, 3\) has 9 cells, fewer than the 12"):
        fitted(model, rows, tensor_shape=(3, 3))
    for shape in ((), [], (3, 0), (3, -4), (3, 4.0)):
        with pytest.raises(ValueError, match="tensor_shape must hold at least one size"):
            fitted(model, rows, tensor_shape=shape)
    for shape in ("square", 12, {3, 4}):
        with pytest.raises(ValueError, match="The 'tensor_shape' parameter of"):
            fitted(model, rows, tensor_shape=shape)
    with pytest.raises(ValueError, match=r"tensor_shape=\(6, 2\) is for rows.* shape \(4, 3\)"):
        fitted(model, tensors, tensor_shape=(6, 2))
    for shape in ((4, 3), [4, 3], "auto"):
        assert fitted(model, tensors, tensor_shape=shape).tensor_shape_ == (4, 3)
    with pytest.raises(ValueError, match=r"shape \(4, 0\); every mode needs a size above 0"):
        fitted(model, np.ones((12, 4, 0)))
    ragged = [np.ones((4, 3)), np.ones((4, 2)), np.ones((4, 3))]
    with pytest.raises(ValueError, match=r"different shapes: \[\(4, 2\), \(4, 3\)\]"):
        fitted(model, ragged)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fitted(model, np.ones(12))  # order 0
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        fitted(model, tensors[:0])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_values_that_do_not_fit(model):
    tensors = one_class_tensors((4, 3))
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoiled = tensors.copy()
        spoiled[3, 1, 2] = value
        with pytest.raises(ValueError, match=f"Input X contains {word}"):
            fitted(model, spoiled)
        with pytest.raises(ValueError, match=f"Input X contains {word}"):
            fitted(model, tensors).predict(spoiled)
    with pytest.raises(ValueError, match="X must have a sample that is not zero"):
        fitted(model, np.zeros((12, 4, 3)))
    with pytest.raises(ValueError, match=r"not finite.*X holds 1e\+170"):
        fitted(model, np.full((12, 4, 3), 1e170))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rank", [0, 1.5]),
        ("n_init", [0]),
        ("tol", [0.0, -1.0]),
        ("max_iter", [0, 2.5]),
        ("stop", ["never"]),
    ],
)
def test_parameters_out_of_range(model, name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"The '{name}' parameter of .* Got {value!r}"):
            fitted(model, one_class_tensors((4, 3)), **{name: value})


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1])
def test_nu_out_of_range(nu):
    with pytest.raises(ValueError, match=r"The 'nu' parameter.* \(0.0, 1.0\]"):
        one_class_stm(nu=nu).fit(one_class_tensors((4, 3)))


def test_weights_of_zero_leave_samples_out():
    tensors = one_class_tensors((4, 3))
    spoiled = np.concatenate([tensors, 1e6 * tensors[:3]])
    model = one_class_stm(nu=0.3).fit(spoiled, sample_weight=np.r_[np.ones(12), np.zeros(3)])
    np.testing.assert_array_equal(model.coef_, one_class_stm(nu=0.3).fit(tensors).coef_)


def test_a_shape_with_room_for_more_is_told():
    with pytest.warns(UserWarning, match="24 cells for the 20 columns of X: 4 cells are"):
        one_class_stm(tensor_shape=(4, 6)).fit(np.random.default_rng(0).uniform(1, 2, (5, 20)))


def test_a_single_matrix_is_told():
    with pytest.raises(ValueError, match=r"X of shape \(4, 6\) is one sample"):
        OneClassSTM(tensor_shape=(4, 6)).fit(np.ones((4, 6)))


def test_columns_first_is_the_transposed_reading():
    rows = np.random.default_rng(0).uniform(1, 2, size=(6, 6))
    shared = {"nu": 0.4, "false_alarms": 0.2, "tol": 1e-9}
    fortran = OneClassSTM(tensor_shape=(2, 3), order="F", **shared).fit(rows)
    tensors = np.array([row.reshape((2, 3), order="F") for row in rows])
    plain = OneClassSTM(**shared).fit(tensors)
    np.testing.assert_array_equal(fortran.coef_, plain.coef_)
    np.testing.assert_array_equal(fortran.predict(rows), plain.predict(tensors))


def test_samples_of_norm_one():
    random = np.random.default_rng(0)
    X = np.outer([1.0, 2.0, 3.0], [1.0, 1.0]) + 0.3 * random.normal(size=(12, 3, 2))
    model = OneClassSTM().fit(X)
    scaled = OneClassSTM().fit(X * random.uniform(0.1, 9.0, size=(12, 1, 1)))
    np.testing.assert_allclose(scaled.offset_, model.offset_, rtol=1e-6)
    np.testing.assert_allclose(scaled.score_samples(7 * X), model.score_samples(X), rtol=1e-6)
    assert model.predict(np.zeros((1, 3, 2))) == [-1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("shape", "rank"), [((4, 3), 1), ((3, 4, 2), 2), ((6,), 1)])
def test_samples_are_divided_by_their_norms(shape, rank, dtype):
    """The model of divided samples, though the data are not divided, whatever their scales."""
    tensors = one_class_tensors(shape, n=30, mean=1.0).astype(dtype)
    axes = tuple(range(1, tensors.ndim))
    given = {"nu": 0.3, "rank": rank, "offset": "training", "tol": 1e-9, "max_iter": 500}
    for factors in (1.0, 0.1 + np.arange(30.0), np.where(np.arange(30) < 15, 1e-15, 1e15)):
        scaled = (tensors * np.reshape(factors, (-1, *[1] * len(shape)))).astype(dtype)
        exact = scaled.astype(np.float64)
        divided = exact / np.sqrt((exact**2).sum(axis=axes, keepdims=True))
        expected = OneClassSTM(normalize=False, **given).fit(divided)
        model = OneClassSTM(**given).fit(scaled)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-7)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)
        np.testing.assert_allclose(model.offset_, expected.offset_, atol=1e-5)
    huge = tensors.astype(np.float64) * 1e200  # whose squares overflow
    np.testing.assert_allclose(
        OneClassSTM(**given).fit(huge).coef_,
        OneClassSTM(**given).fit(tensors).coef_,
        atol=1e-4,
    )


def test_sums_over_divided_samples():
    tensors, lengths = one_class_tensors((3, 4, 2), n=9), 1.0 + np.arange(9.0)
    divided = tensors / lengths[:, None, None, None] / 2.0
    held = Tensors(tensors.reshape(9, -1), (3, 4, 2), norm=2.0, lengths=lengths)
    weights = np.linspace(-1.0, 1.0, 9)
    np.testing.assert_allclose(held.combine(weights), np.tensordot(weights, divided, 1), rtol=1e-12)
    for mode, formula in enumerate(("iabc,idbc->ad", "iabc,iadc->bd", "iabc,iabd->cd")):
        expected = np.einsum(formula, divided, divided)
        np.testing.assert_allclose(held.unfolding_gram(mode), expected, rtol=1e-12)
    factors = [
        np.random.default_rng(mode).normal(size=(size, 2)) for mode, size in enumerate((3, 4, 2))
    ]
    for mode, formula in enumerate(("iabc,br,cr->iar", "iabc,ar,cr->ibr", "iabc,ar,br->icr")):
        others = [factor for m, factor in enumerate(factors) if m != mode]
        expected = np.einsum(formula, divided, *others)
        np.testing.assert_allclose(held.contract(factors, mode), expected, rtol=1e-10, atol=1e-14)
