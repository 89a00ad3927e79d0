"""What no function of the core takes: refused with an error that names the argument, no crash."""

import numpy as np
import pytest

from scarce import _core
from tests.core.declared import FUNCTIONS
from tests.core.samples import arguments

N = 9


def given_to(name):
    given = arguments(name, N, np.random.default_rng(1))
    kinds = {p.name: p for p in FUNCTIONS[name].parameters}
    return given, kinds


def refused(name, given, label, error, match=None):
    """See that a call is refused, that the error names function and argument, and nothing moved."""
    before = {key: np.copy(each) for key, each in given.items()}
    with pytest.raises(error, match=match) as caught:
        getattr(_core, name)(*given.values())
    assert str(caught.value).startswith(f"{name}: ")
    assert label in str(caught.value)
    for key, each in given.items():
        np.testing.assert_array_equal(np.asarray(each), before[key])


ARRAYS = [(name, p.name) for name, f in FUNCTIONS.items() for p in f.parameters if p.dims]
NUMBERS = [(name, p.name) for name, f in FUNCTIONS.items() for p in f.parameters if not p.dims]
RANGES = [(name, p.name) for name, f in FUNCTIONS.items() for p in f.parameters if p.range]
OUTPUTS = [(name, p.name) for name, f in FUNCTIONS.items() for p in f.parameters if p.written]


@pytest.mark.parametrize(("name", "label"), ARRAYS)
def test_other_types(name, label):
    given, _ = given_to(name)
    array = given[label]
    for wrong in ("complex128", "int16", "uint64", "object", ">f8"):
        refused(name, given | {label: np.zeros(array.shape, wrong)}, label, TypeError)
    for wrong in (None, [1.0, 2.0], "text", 3.0):
        with pytest.raises(TypeError, match=f"{name}: {label} must be an array"):
            getattr(_core, name)(*(given | {label: wrong}).values())
    with pytest.raises(TypeError, match=f"{name}: {label} must be"):
        getattr(_core, name)(*(given | {label: bytearray(b"bytes")}).values())


@pytest.mark.parametrize(
    ("name", "label"),
    [(name, p.name) for name, f in FUNCTIONS.items() for p in f.parameters if p.type in "rj"],
)
def test_two_types_in_one_call(name, label):
    given, kinds = given_to(name)
    same = [key for key, p in kinds.items() if p.type == kinds[label].type and key != label]
    other = np.float32 if kinds[label].type == "r" else np.int32
    if same:
        given[label] = given[label].astype(other)
        with pytest.raises(TypeError, match=f"{name}: "):
            getattr(_core, name)(*given.values())


@pytest.mark.parametrize(("name", "label"), ARRAYS)
def test_other_dimensions(name, label):
    given, _ = given_to(name)
    array = given[label]
    refused(name, given | {label: array[None]}, label, ValueError, "dimensions")
    refused(name, given | {label: np.zeros((), array.dtype)}, label, ValueError, "dimensions")


@pytest.mark.parametrize(("name", "label"), ARRAYS)
def test_other_lengths(name, label):
    """One more or one less: refused, unless it is the one that says how long the others are."""
    given, kinds = given_to(name)
    array = given[label]
    for axis, dim in enumerate(kinds[label].dims):
        elsewhere = [
            other
            for key, p in kinds.items()
            for k, other in enumerate(p.dims)
            if other[0] == dim[0] and (key, k) != (label, axis)
        ]
        if dim[0] == "*" or not (dim.isdigit() or [one for one in elsewhere if "?" not in one]):
            continue
        longer = np.concatenate([array, array.take([0] if array.size else [], axis)], axis)
        for wrong in (longer, array.take(range(array.shape[axis] - 1), axis)):
            if wrong.shape == array.shape or ("?" in dim and wrong.shape[axis] == 0):
                continue
            changed = given | {label: np.ascontiguousarray(wrong)}
            with pytest.raises(ValueError, match=f"^{name}: "):
                getattr(_core, name)(*changed.values())


@pytest.mark.parametrize(
    ("name", "label"),
    [(n, p.name) for n, f in FUNCTIONS.items() for p in f.parameters if "+" in "".join(p.dims)],
)
def test_no_pointers_at_all(name, label):
    given, _ = given_to(name)
    given[label] = given[label][:0]
    refused(name, given, label, ValueError, f"{label} must be")


@pytest.mark.parametrize(("name", "label"), ARRAYS)
def test_items_that_lie_apart_or_backwards(name, label):
    given, _ = given_to(name)
    array = given[label]
    if array.shape[-1] < 2:
        return
    apart = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)[..., ::2]
    apart[:] = array
    backwards = np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    for wrong in (apart, backwards):
        refused(name, given | {label: wrong}, label, ValueError, "contiguous")
    if array.ndim == 2 and array.shape[0] > 1:
        upside_down = np.ascontiguousarray(array[::-1])[::-1]
        refused(name, given | {label: upside_down}, label, ValueError, "contiguous")
        columns = np.asfortranarray(array)
        refused(name, given | {label: columns}, label, ValueError, "contiguous")


def across(array):
    """Return the same array at an odd place of memory, as one that another process has sent."""
    memory = bytearray(array.nbytes + 1)
    crossing = np.frombuffer(memory, array.dtype, array.size, offset=1).reshape(array.shape)
    crossing[:] = array
    return crossing


@pytest.mark.parametrize(("name", "label"), ARRAYS)
def test_items_across_their_borders_are_read_and_not_written(name, label):
    given, kinds = given_to(name)
    array = given[label]
    if array.size == 0 or array.itemsize == 1:
        return
    if kinds[label].written:
        refused(name, given | {label: across(array)}, label, ValueError, "aligned")
        return
    expected, _ = given_to(name)
    answer = getattr(_core, name)(*expected.values())
    found = getattr(_core, name)(*(given | {label: across(array)}).values())
    assert repr(found) == repr(answer)
    for other, each in expected.items():
        if kinds[other].written:
            np.testing.assert_array_equal(given[other], each)


@pytest.mark.parametrize(("name", "label"), OUTPUTS)
def test_read_only_outputs(name, label):
    given, _ = given_to(name)
    given[label].flags.writeable = False
    refused(name, given, label, ValueError, "read-only")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_read_only_inputs_are_taken(name):
    given, kinds = given_to(name)
    for label, each in given.items():
        if kinds[label].dims and not kinds[label].written:
            each.flags.writeable = False
    getattr(_core, name)(*given.values())


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (n, p.name)
        for n, f in FUNCTIONS.items()
        for p in f.parameters
        if len(p.dims) == 2 and p.written
    ],
)
def test_one_row_many_times_is_no_output(name, label):
    given, _ = given_to(name)
    array = given[label]
    if min(array.shape) > 1:
        refused(
            name,
            given | {label: np.lib.stride_tricks.as_strided(array, strides=(0, array.itemsize))},
            label,
            ValueError,
            "contiguous",
        )


@pytest.mark.parametrize(("name", "label"), RANGES)
def test_indices_out_of_range(name, label):
    given, kinds = given_to(name)
    if given[label].size == 0:
        return
    least = -1 if kinds[label].range == "~" else 0
    for wrong in (least - 1, 10**6, np.iinfo(np.int64).min, np.iinfo(np.int64).max):
        for place in (0, -1):
            array = given[label].copy()
            array[place] = wrong
            refused(name, given | {label: array}, label, ValueError, rf"must lie in {least} \.\.")


@pytest.mark.parametrize(
    ("name", "label"), [(name, label) for name, label in RANGES if label == "starts"]
)
def test_starts_that_fall_or_miss_variables(name, label):
    given = arguments(name, N, np.random.default_rng(4))
    given[label][:] = N // 2
    given[label][0], given[label][-1] = 0, N
    if name in {"pairwise_steps", "solve_small"}:
        for wrong in (0, 1), (-1, N - 1):
            array = given[label].copy()
            array[wrong[0]] = wrong[1]
            refused(name, given | {label: array}, label, ValueError, "begin with 0 and end")
    falling = np.ascontiguousarray(given[label][::-1])
    refused(name, given | {label: falling}, label, ValueError, "not fall")


@pytest.mark.parametrize("name", [each for each in FUNCTIONS if "indptr" in given_to(each)[0]])
@pytest.mark.parametrize("index", ["l", "i"])
def test_sparse_rows_out_of_range(name, index):
    given = arguments(name, N, np.random.default_rng(2), index=index)
    for label in ("indptr", "panel_indptr", "indices", "panel_indices"):
        if label not in given or given[label].size == 0:
            continue
        for wrong in (-1, 10**6, -(2**31)):
            if name == "merged_distances" and label.endswith("indices"):
                continue  # they are compared only
            array = given[label].copy()
            array[array.size // 2] = wrong
            with pytest.raises(ValueError, match=f"{name}: an index or a row pointer"):
                getattr(_core, name)(*(given | {label: array}).values())


@pytest.mark.parametrize(("name", "label"), NUMBERS)
def test_numbers(name, label):
    given, kinds = given_to(name)
    wrong = [None, "text", np.zeros(2), 1j] + ([2.5, 2**70] if kinds[label].type == "I" else [])
    for each in wrong:
        with pytest.raises(TypeError, match=f"{name}: {label} must be a"):
            getattr(_core, name)(*(given | {label: each}).values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_too_few_or_too_many(name):
    given = list(given_to(name)[0].values())
    for wrong in (given[:-1], [*given, 1], []):
        with pytest.raises(TypeError, match=f"{name} takes {len(given)} arguments, got"):
            getattr(_core, name)(*wrong)


@pytest.mark.parametrize(
    ("name", "changed", "match"),
    [
        ("pack", {"packed": np.zeros(64 * 5 - 1)}, "packed must have room"),
        ("gaussian_rows", {"packed": np.zeros(64 * 5 - 1)}, "packed must hold"),
        ("gaussian_square", {"packed": np.zeros(64 * 5 - 1)}, "packed must hold"),
        ("gaussian_scores", {"packed": np.zeros(64 * 5 - 1)}, "packed must hold"),
        ("gaussian_square", {"start": 1}, "start must be a multiple of 64"),
        ("gaussian_square", {"start": -64}, "start must be a multiple of 64"),
        ("gaussian_square", {"stop": N + 1}, "stop at most the rows"),
        ("gaussian_square", {"stop": -1}, "stop at most the rows"),
        ("add_group_sums", {"first_row": -1}, "tile must lie inside"),
        ("add_group_sums", {"first_row": N}, "tile must lie inside"),
        ("add_group_sums", {"first_column": -1}, "tile must lie inside"),
        ("add_group_sums", {"first_column": N}, "tile must lie inside"),
        ("add_group_sums", {"first_row": 2**63 - 1}, "tile must lie inside"),
        ("add_group_sums", {"first_column": 2**63 - 1}, "tile must lie inside"),
        ("add_group_sums", {"buffer": np.zeros(1)}, "buffer"),
        ("next_rows", {"asked": N}, "asked must be -1 or a variable"),
        ("solve_small", {"space": np.zeros(N * N - 1)}, "space must have room"),
        ("solve_active", {"space": np.zeros(N * N - 1)}, "space must have room"),
        ("pairwise_steps", {"values": np.zeros((N - 1, N))}, "values must have a row"),
        ("pairwise_steps", {"signs": np.zeros(0)}, "signs must have one entry"),
    ],
)
def test_what_does_not_belong_together(name, changed, match):
    given, _ = given_to(name)
    with pytest.raises(ValueError, match=f"^{name}: .*{match}"):
        getattr(_core, name)(*(given | changed).values())


@pytest.mark.parametrize("name", ["pairwise_steps", "exact_steps", "follow_steps", "solve_small"])
def test_a_matrix_narrower_than_its_program(name):
    given, _ = given_to(name)
    label = "values" if name == "solve_small" else "source"
    given["columns"] = given["columns"][:0]
    given[label] = np.ascontiguousarray(given[label][:, : N - 1])
    with pytest.raises(ValueError, match=f"^{name}: rows of the .* must have every variable"):
        getattr(_core, name)(*given.values())


@pytest.mark.parametrize("name", ["exact_steps", "follow_steps"])
def test_rows_that_are_needed_and_absent(name):
    given, _ = given_to(name)
    given["lines"][:] = -1
    with pytest.raises(ValueError, match=f"^{name}: the rows of .* must be there"):
        getattr(_core, name)(*given.values())
