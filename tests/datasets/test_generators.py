"""What the generators promise, measured."""

import numpy as np
import pytest
from scipy import sparse, stats

from scarce.datasets import (
    add_noise,
    equal_groups,
    label_some_positives,
    make_positive_unlabeled_clouds,
    make_rotated_moons,
)


class TestRotatedMoons:
    """Two moons, before and after."""

    def test_sizes_as_printed(self):
        moons = make_rotated_moons(random_state=0)
        assert moons.X_source.shape == moons.X_target.shape == (300, 2)
        assert np.bincount(moons.y_source).tolist() == [150, 150]
        assert np.bincount(moons.groups).tolist() == 50 * [6]
        np.testing.assert_allclose(moons.X_source.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(moons.X_source.var(axis=0).mean(), 1)

    @pytest.mark.parametrize("angle", [0, 10, 40, 90])
    def test_angle_is_clockwise(self, angle):
        moons = make_rotated_moons(angle=angle, random_state=1)
        moved = ~moons.is_common
        # As complex numbers, clockwise rotation is multiplication by exp(-i angle).
        before, after = (X[moved] @ [1, 1j] for X in (moons.X_source, moons.X_target))
        measured = -np.angle(after / before, deg=True)
        np.testing.assert_allclose(measured, angle, atol=1e-6)
        np.testing.assert_allclose(np.abs(after), np.abs(before))

    @pytest.mark.parametrize(("common", "number"), [(0.0, 0), (0.1, 30), (0.2, 60), (1.0, 300)])
    def test_common_rows_stay(self, common, number):
        moons = make_rotated_moons(common=common, random_state=2)
        same = np.all(moons.X_source == moons.X_target, axis=1)
        assert np.array_equal(same, moons.is_common)
        assert int(same.sum()) == number

    def test_shares(self):
        moons = make_rotated_moons(n_samples=20, n_groups=3, random_state=0)
        assert np.bincount(moons.groups + 1).tolist() == [2, 6, 6, 6]
        for group, share in enumerate(moons.shares):
            assert share == np.mean(moons.y_target[moons.groups == group])

    def test_training_rows(self):
        moons = make_rotated_moons(n_samples=20, n_groups=3, common=0.25, random_state=0)
        X, y, groups = moons.training_rows()
        assert np.array_equal(groups[:5], np.full(5, -1))
        assert np.isnan(y[:5]).all()
        assert np.array_equal(X[:5], moons.X_target[moons.is_common])
        assert np.bincount(groups[5:]).tolist() == [6, 6, 6]
        assert np.array_equal(y[5:], moons.shares[groups[5:]])
        X_grouped, _, without = moons.training_rows(common=False)
        assert np.array_equal(without, groups[5:])
        assert np.array_equal(X_grouped, X[5:])

    def test_number_of_groups_is_kept_when_rows_are_left_over(self):
        moons = make_rotated_moons(n_samples=310, n_groups=50, random_state=0)
        assert np.bincount(moons.groups + 1).tolist() == [10, *(50 * [6])]

    def test_seeds(self):
        first, again, other = (make_rotated_moons(random_state=seed) for seed in (0, 0, 1))
        for name in ("X_source", "y_source", "X_target", "is_common", "groups"):
            assert np.array_equal(getattr(first, name), getattr(again, name))
            assert not np.array_equal(getattr(first, name), getattr(other, name))

    def test_errors(self):
        with pytest.raises(ValueError, match="common must be between 0 and 1, got 2"):
            make_rotated_moons(common=2, random_state=0)
        with pytest.raises(ValueError, match="n_groups must be between 1 and n_samples=300, got 0"):
            make_rotated_moons(n_groups=0, random_state=0)


def test_groups_are_random_and_equal():
    groups = equal_groups(43, 8, random_state=0)
    assert np.bincount(groups + 1).tolist() == [3, 8, 8, 8, 8, 8]
    assert not np.array_equal(np.sort(groups), groups)
    assert not np.array_equal(groups, equal_groups(43, 8, random_state=1))
    assert np.all(equal_groups(5, 8, random_state=0) == -1)
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        equal_groups(5, 0, random_state=0)


class TestNoise:
    """The noise model of the paper on uncertain data."""

    spread = np.array([1.0, 2.0, 0.0, 4.0])

    def test_rows_and_scales(self):
        X = np.zeros((20_000, 4))
        noisy = add_noise(X, share=0.4, spread=self.spread, random_state=0)
        assert int(noisy.is_noisy.sum()) == 8000
        assert not noisy.X[~noisy.is_noisy].any()
        measured = noisy.X[noisy.is_noisy].std(axis=0)
        np.testing.assert_allclose(measured, noisy.scales, rtol=0.03)
        assert noisy.scales[2] == 0
        assert not X.any()  # the argument is left alone

    def test_scales_are_uniform_up_to_twice_the_spread(self):
        X = np.random.default_rng(0).normal(0, 3, size=(50, 4000))
        noisy = add_noise(X, random_state=1)
        ratio = noisy.scales / X.std(axis=0)
        assert stats.kstest(ratio, stats.uniform(0, 2).cdf).pvalue > 0.01

    def test_noise_is_normal_and_independent(self):
        noisy = add_noise(np.zeros((5000, 2)), share=1.0, spread=[1, 1], random_state=0)
        assert stats.kstest(noisy.X[:, 0] / noisy.scales[0], "norm").pvalue > 0.01
        assert abs(np.corrcoef(noisy.X.T)[0, 1]) < 0.05

    def test_seeds_and_kinds(self):
        X = np.eye(10, dtype=np.float32)
        first, again, other = (add_noise(X, random_state=seed).X for seed in (0, 0, 1))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
        assert first.dtype == np.float32
        assert add_noise(np.eye(3, dtype=int), random_state=0).X.dtype == np.float64

    def test_errors(self):
        with pytest.raises(TypeError, match="must be dense"):
            add_noise(sparse.csr_array(np.eye(3)), random_state=0)
        with pytest.raises(ValueError, match=r"share must be between 0 and 1, got 1\.5"):
            add_noise(np.eye(3), share=1.5, random_state=0)
        with pytest.raises(ValueError, match=r"one value per feature, 3, got shape \(2,\)"):
            add_noise(np.eye(3), spread=[1, 2], random_state=0)


class TestClouds:
    """Positive and unlabelled rows."""

    def test_counts(self):
        X, y, y_true = make_positive_unlabeled_clouds(50, 200, prior=0.2, random_state=0)
        assert X.shape == (250, 2)
        assert np.array_equal(y, np.repeat([1, 0], [50, 200]))
        assert y_true[:50].all()
        assert int(y_true[50:].sum()) == 40
        assert 0 < y_true[50:90].sum() < 40  # hidden positives are spread over U

    @pytest.mark.parametrize("clouds", [(1, 1), (2, 3), (4, 2)])
    def test_clouds_are_apart_and_of_their_class(self, clouds):
        n_positive, n_negative = clouds
        X, _, y_true = make_positive_unlabeled_clouds(
            500,
            3000,
            n_positive_clouds=n_positive,
            n_negative_clouds=n_negative,
            n_features=3,
            distance=20.0,
            random_state=0,
        )
        # Rows of one cloud are within a few standard deviations of each other.
        centres = []
        for label, number in ((1, n_positive), (0, n_negative)):
            rest = X[y_true == label]
            for _ in range(number):
                near = np.linalg.norm(rest - rest[0], axis=1) < 10
                centres.append(rest[near].mean(axis=0))
                np.testing.assert_allclose(rest[near].std(axis=0), 1, atol=0.15)
                rest = rest[~near]
            assert not len(rest)
        gaps = np.linalg.norm(np.subtract.outer(centres, centres).diagonal(0, 1, 3), axis=2)
        nearest = np.min(gaps + np.diag(np.full(len(centres), np.inf)), axis=1)
        np.testing.assert_allclose(nearest, 20, atol=0.5)

    def test_seeds(self):
        first, again, other = (
            make_positive_unlabeled_clouds(random_state=seed)[0] for seed in (0, 0, 1)
        )
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"prior": 1.5}, "prior must be between 0 and 1, got 1.5"),
            ({"n_features": 1}, "n_features must be at least 2, got 1"),
            ({"n_negative_clouds": 0}, "n_negative_clouds must be at least 1, got 0"),
        ],
    )
    def test_errors(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            make_positive_unlabeled_clouds(random_state=0, **wrong)


class TestLabelledPositives:
    """Some rows of a class are labelled, at random or not."""

    X = np.random.default_rng(0).normal(size=(4000, 2))
    truth = np.arange(4000) < 2000

    @pytest.mark.parametrize("bias", [-1.0, 0.0, 1.0])
    def test_the_bias_is_the_log_of_the_odds(self, bias):
        y = label_some_positives(
            self.X, self.truth, 100, bias=bias, along=[1.0, 0.0], random_state=0
        )
        assert y.sum() == 100
        assert self.truth[y == 1].all()
        # Normal rows drawn with weights exp(bias x) are normal around bias.
        mean, _ = self.X[y == 1].T.mean(axis=1)
        assert mean == pytest.approx(bias, abs=0.3)

    def test_by_default_easy_rows_come_first(self):
        X = self.X + 3.0 * self.truth[:, None]
        y = label_some_positives(X, self.truth, 100, bias=1.0, random_state=0)
        assert X[y == 1].sum(axis=1).mean() > X[self.truth].sum(axis=1).mean() + 1.0

    def test_refusals(self):
        with pytest.raises(ValueError, match="n_labelled must be from 1 to 2000"):
            label_some_positives(self.X, self.truth, 0, random_state=0)
        with pytest.raises(ValueError, match="along must be a direction"):
            label_some_positives(self.X, np.ones(4000, bool), 5, random_state=0)
