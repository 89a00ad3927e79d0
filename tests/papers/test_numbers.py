import pytest

from papers._numbers import common_format


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([87.7, 66.0, 0.0, 0.0794, 81.25], ["87.70", "66.00", "0.00", "0.08", "81.25"]),
        ([0.003, 0.02, 30.0, 0.4], ["0.003", "0.02", "30", "0.4"]),  # seconds of small and large
        ([0.9, 0.85], ["0.9000", "0.8500"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_few_small_numbers_do_not_change_how_the_others_are_written(values, written):
    assert [common_format(values)(value) for value in values] == written
