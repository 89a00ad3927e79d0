import numpy as np
import pytest

from papers.data import rotate_images, rotated_faces_split


class TestImages:
    """Rotation of faces."""

    def test_counter_clockwise_by_quarter_turns(self):
        images = np.random.default_rng(0).random((3, 6, 6))
        for turns in (1, 2, 3):
            # np.rot90 turns from the first axis towards the second: counter-clockwise as shown.
            expected = np.rot90(images, turns, axes=(1, 2))
            np.testing.assert_allclose(rotate_images(images, 90 * turns), expected, atol=1e-9)

    def test_a_blob_moves_by_the_angle(self):
        rows, columns = np.mgrid[:33, :33] - 16.0
        blob = np.exp(-((rows + 0) ** 2 + (columns - 9) ** 2) / 6)[None]  # right of the centre
        turned = rotate_images(blob, 30)[0]
        x, y = (turned * columns).sum(), -(turned * rows).sum()  # y points up
        assert np.rad2deg(np.arctan2(y, x)) == pytest.approx(30, abs=0.1)

    def test_split(self):
        images = np.random.default_rng(0).random((340, 8, 8))
        y = np.repeat([1, 0], 170)
        split = rotated_faces_split(images, y, angle=50, random_state=0)
        assert int(split.is_common.sum()) == 68
        assert split.shares.size == 42  # 340 // 8
        assert int((split.groups < 0).sum()) == 4
        flat, turned = images.reshape(340, -1), rotate_images(images, 50).reshape(340, -1)
        assert np.array_equal(split.X_source, flat)
        assert np.array_equal(split.X_target[split.is_common], flat[split.is_common])
        assert np.array_equal(split.X_target[~split.is_common], turned[~split.is_common])
