"""Whether the parts of a model fit together, so that no answer reads beside its arrays."""

from __future__ import annotations

import dataclasses
import inspect
import math
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import check_sparse
from scarce._frame import check_parameters
from scarce._model_files._attributes import (
    ATTRIBUTES,
    ESTIMATORS,
    LISTS_OF_ESTIMATORS,
    PAIRS,
    TREES,
    UNSETTLED,
    Sizes,
    StateError,
    floats,
    number,
    rules,
)
from scarce._model_files._files import LARGEST_DEGREE

TOGETHER = (
    *("support_vectors_", "dual_coef_", "support_", "intercept_"),
    *("n_features_in_", "shape_fit_", "_sparse", "_gamma"),
)


def check_model(model: Any, *, saving: bool = False) -> None:
    """Refuse a model whose parts do not fit together, by the name of the part.

    ``model``: an estimator, and through it whatever it holds; when it is to be saved, without what
    a file does not hold.
    """
    if not hasattr(model, "fit") or isinstance(model, type):
        raise StateError(f"it holds {type(model).__name__}, not an estimator")
    try:
        _check(model, type(model).__name__, set(), saving)
    except RecursionError:
        raise StateError("its parts are nested too deeply") from None


def _check(value: Any, where: str, seen: set[int], saving: bool) -> None:
    if value is None or isinstance(value, str | bytes | bool | int | float | complex | np.generic):
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if sparse.issparse(value):
        check_sparse(value, where)
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            for each in value.flat:
                _check(each, where, seen, saving)
    elif isinstance(value, dict):
        for key, each in value.items():
            _check(each, f"{where}[{key!r}]", seen, saving)
    elif isinstance(value, list | tuple | set | frozenset):
        for place, each in enumerate(value):
            _check(each, f"{where}[{place}]", seen, saving)
    elif not isinstance(value, type) and hasattr(value, "__dict__"):
        unsaved = getattr(value, "_unsaved", ()) if saving else ()
        if unsaved:
            value.__getstate__()  # finds what waits until it is asked for
        if type(value).__module__.partition(".")[0] == "scarce":
            if hasattr(value, "get_params"):
                _check_estimator(value, where)
            else:
                _check_kernel(value, where)
        for name, each in vars(value).items():
            if name not in unsaved:
                _check(each, f"{where}.{name}", seen, saving)


def _check_kernel(kernel: Any, where: str) -> None:
    """Check an object of `scarce.kernels`: its parameters are numbers, or rules for `gamma`."""
    names = {field.name for field in dataclasses.fields(kernel)}
    if vars(kernel).keys() != names:
        raise StateError(f"{where} holds {sorted(vars(kernel))}, expected {sorted(names)}")
    for name, value in vars(kernel).items():
        if not (name == "gamma" and isinstance(value, str)):
            number().check(f"{where}.{name}", value, Sizes())
    degree = getattr(kernel, "degree", 0)
    if not 0 <= degree <= LARGEST_DEGREE:
        raise StateError(f"{where}.degree is {degree}, expected 0 to {LARGEST_DEGREE}")


def _check_estimator(model: Any, where: str) -> None:
    state = vars(model)
    signature = inspect.signature(type(model)).parameters
    parameters = set(signature)
    for name in sorted(parameters - state.keys()):  # newer than the file
        if signature[name].default is inspect.Parameter.empty:
            raise StateError(f"{where} has no {name}")
        setattr(model, name, signature[name].default)
    for name in state.keys() - parameters:
        # What a property answers cannot be hidden, and a default is there to be replaced.
        own = getattr(type(model), name, None)
        if callable(own) or (hasattr(own, "__get__") and not isinstance(own, property)):
            raise StateError(f"{where}.{name} would hide what the class has of that name")
    if hasattr(model, "_allowed_values"):
        check_parameters(model)  # names the parameter and what is accepted
    if not state.keys() - parameters:
        return  # not fitted
    sizes = Sizes()
    _learn_sizes(state, where, sizes)
    # The rows of a kernel matrix are no support vectors; `_check_expansion` looks at that.
    skipped = {"support_vectors_"} if _is_pairwise(state.get("kernel")) else set()
    for name in ESTIMATORS & state.keys():
        if not hasattr(state[name], "fit"):
            raise StateError(f"{where}.{name} is {type(state[name]).__name__}, not an estimator")
    for name in LISTS_OF_ESTIMATORS & state.keys():
        listed = _listed(f"{where}.{name}", state[name])
        if not all(hasattr(each, "fit") for each in listed):
            raise StateError(f"{where}.{name} holds something that is not an estimator")
        sizes.learn("e", len(listed), f"{where}.{name}")
    for name in ATTRIBUTES:
        if name in state and name not in skipped:
            _check_attribute(where, name, state[name], sizes)
    _check_left_out(state, where, sizes)
    _check_trees(state, where, sizes)
    _check_expansion(state, where, sizes)
    _check_classes(state, where, sizes)
    _check_tensors(state, where)
    for name in PAIRS & state.keys():
        for place, value in enumerate(_pair(f"{where}.{name}", state[name])):
            number(finite=False).check(f"{where}.{name}[{place}]", value, sizes)
    for name in ("calibration_", "source_calibration_"):
        if state.get(name) is not None:
            slope, shift = _pair(f"{where}.{name}", state[name])
            number().check(f"{where}.{name}[0]", slope, sizes)
            rule = floats("i") if isinstance(shift, np.ndarray) else number()
            rule.check(f"{where}.{name}[1]", shift, sizes)


def _check_attribute(where: str, name: str, value: Any, sizes: Sizes) -> None:
    """Check an attribute by its rules: by that for such arrays if it is one, else by the other."""
    choices = rules(name)
    if len(choices) > 1:
        if isinstance(value, np.ndarray) or sparse.issparse(value):
            arrays = [rule for rule in choices if rule.shape is not None]
            same = [rule for rule in arrays if len(rule.shape or ()) == value.ndim]
            alike = [rule for rule in same if value.dtype.kind in rule.kinds]
            choices = tuple(alike or same or arrays)
        else:
            choices = choices[:1]
    choices[0].check(f"{where}.{name}", value, sizes)


def _learn_sizes(state: dict[str, Any], where: str, sizes: Sizes) -> None:
    tensors = "tensor_shape_" in state
    if "n_features_in_" in state:
        n_features = _whole(f"{where}.n_features_in_", state["n_features_in_"])
        if not tensors:
            sizes.learn("d", n_features, f"{where}.n_features_in_")
    if "feature_names_in_" in state:
        names = state["feature_names_in_"]
        if not isinstance(names, np.ndarray) or names.dtype.kind not in "OU":
            raise StateError(f"{where}.feature_names_in_ is not an array of texts")
        if not all(isinstance(name, str) for name in names.flat):
            raise StateError(f"{where}.feature_names_in_ holds what is no text")
        sizes.fit(f"{where}.feature_names_in_", names.shape, ("d",))
    if "shape_fit_" in state:
        n_rows, n_columns = _pair(f"{where}.shape_fit_", state["shape_fit_"])
        sizes.learn("n", _whole(f"{where}.shape_fit_[0]", n_rows), f"{where}.shape_fit_")
        sizes.learn("d", _whole(f"{where}.shape_fit_[1]", n_columns), f"{where}.shape_fit_")


def _check_left_out(state: dict[str, Any], where: str, sizes: Sizes) -> None:
    scores = state.get("_left_out_scores", np.zeros(0))
    if (np.diff(scores) < 0).any():
        raise StateError(f"{where}._left_out_scores does not ascend")
    with np.errstate(over="ignore"):
        total = float(np.sum(state.get("_left_out_weights", 0.0)))
    if not np.isfinite(total):
        raise StateError(f"{where}._left_out_weights has a sum that is not finite")
    if "_unsettled" in state:
        parts = state["_unsettled"]
        if not isinstance(parts, dict) or parts.keys() != UNSETTLED.keys():
            raise StateError(f"{where}._unsettled does not hold {', '.join(UNSETTLED)}")
        for name, rule in UNSETTLED.items():
            rule.check(f"{where}._unsettled[{name!r}]", parts[name], sizes)
        with np.errstate(over="ignore"):
            totals = {name: float(parts[name].sum()) for name in ("weights", "alpha")}
        for name, total in totals.items():
            if not (np.isfinite(total) and total > 0):
                raise StateError(f"{where}._unsettled[{name!r}] sums to {total:g}")
        if not totals["weights"] - float(parts["weights"].max()) > 0:  # nor has it other rows
            raise StateError(f"{where}._unsettled['weights'] is zero for all rows but one")


def _check_trees(state: dict[str, Any], where: str, sizes: Sizes) -> None:
    trees = state.get("trees_")
    if trees is None:
        return
    if not isinstance(trees, dict) or trees.keys() != TREES.keys():
        raise StateError(f"{where}.trees_ does not hold {', '.join(TREES)}")
    for name, rule in TREES.items():
        rule.check(f"{where}.trees_[{name!r}]", trees[name], sizes)
    if trees["root"].size == 0:
        raise StateError(f"{where}.trees_['root'] is empty, expected a place for each tree")


def _check_expansion(state: dict[str, Any], where: str, sizes: Sizes) -> None:
    """Check the sum over kernel functions: as many support vectors as coefficients."""
    if "kernel" not in state or not {"support_vectors_", "dual_coef_"} & state.keys():
        return
    missing = [name for name in TOGETHER if name not in state]
    if missing:
        raise StateError(f"{where} has no {missing[0]}, but {TOGETHER[0]} or {TOGETHER[1]}")
    vectors, dual, support = (state[name] for name in TOGETHER[:3])
    for name in TOGETHER[:2]:
        if sparse.issparse(state[name]) != state["_sparse"]:
            kind = "a CSR matrix" if state["_sparse"] else "an array"
            raise StateError(f"{where}.{name} is not {kind}, as {where}._sparse says")
    if support.size not in (0, dual.shape[1]):
        raise StateError(
            f"{where}.support_ has {support.size} entries, expected {dual.shape[1]}, as "
            f"{where}.dual_coef_ says"
        )
    if _is_pairwise(state["kernel"]):
        if vectors.size or support.size != dual.shape[1]:
            raise StateError(f"{where}.support_vectors_ is not empty, as kernel='precomputed' asks")
    elif vectors.shape[0] != dual.shape[1]:
        raise StateError(
            f"{where}.support_vectors_ has {vectors.shape[0]} rows, expected {dual.shape[1]}, as "
            f"{where}.dual_coef_ says"
        )


def _check_classes(state: dict[str, Any], where: str, sizes: Sizes) -> None:
    n_classes, n_lines, n_intercepts = (sizes.get(name) for name in "cki")
    if n_lines is not None and n_intercepts is not None:
        # One against one has an intercept a pair of classes, all others one a line.
        pairs = n_classes and n_lines == n_classes - 1
        expected = n_classes * (n_classes - 1) // 2 if n_classes and pairs else n_lines
        if n_intercepts != expected:
            raise StateError(
                f"{where}.intercept_ has {n_intercepts} entries, expected {expected} where "
                f"{where}.dual_coef_ has {n_lines} lines"
            )
    if "_n_support" in state and sizes.get("s") is not None:
        total = int(state["_n_support"].sum())
        if total != sizes.get("s"):
            raise StateError(
                f"{where}._n_support sums to {total}, expected {sizes.get('s')}, as "
                f"{where}.support_vectors_ says"
            )
    if "classes_" in state:
        classes = state["classes_"].tolist()
        if len(classes) < 2 or len(set(map(repr, classes))) != len(classes):
            raise StateError(f"{where}.classes_ is {classes}, expected two or more, each once")
        if "_n_support" in state and n_classes and n_classes > state["_n_support"].size:
            raise StateError(f"{where}._n_support has fewer entries than {where}.classes_")
        if n_lines is not None and n_classes not in (2, n_lines, n_lines + 1):
            raise StateError(
                f"{where}.classes_ has {n_classes} entries, where {where}.dual_coef_ has "
                f"{n_lines} lines"
            )
        if "pos_label_" in state and not any(state["pos_label_"] == each for each in classes):
            raise StateError(f"{where}.pos_label_ is {state['pos_label_']!r}, none of {classes}")


def _check_tensors(state: dict[str, Any], where: str) -> None:
    if "factors_" not in state:
        return
    shape = _shape(f"{where}.tensor_shape_", state.get("tensor_shape_"))
    given = _shape(f"{where}._sample_shape", state.get("_sample_shape"))
    if given != shape and (len(given) > 1 or given[0] > math.prod(shape)):
        raise StateError(
            f"{where}._sample_shape is {given}, which tensor_shape_ {shape} cannot hold"
        )
    factors = _listed(f"{where}.factors_", state["factors_"])
    if len(factors) != len(shape):
        raise StateError(f"{where}.factors_ has {len(factors)} arrays, expected {len(shape)}")
    sizes = Sizes()
    for place, (factor, size) in enumerate(zip(factors, shape, strict=True)):
        sizes.learn(f"size {place}", size, f"{where}.tensor_shape_")
        floats(f"size {place}", "rank").check(f"{where}.factors_[{place}]", factor, sizes)


def _is_pairwise(kernel: Any) -> bool:
    return bool(getattr(kernel, "pairwise", isinstance(kernel, str) and kernel == "precomputed"))


def _whole(where: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
        raise StateError(f"{where} is {value!r}, expected a whole number of at least 0")
    return int(value)


def _shape(where: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, tuple) or not value:
        raise StateError(f"{where} is {value!r}, expected a tuple of sizes")
    return tuple(_whole(where, each) for each in value)


def _pair(where: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise StateError(f"{where} is not a pair")
    return value


def _listed(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise StateError(f"{where} is of type {type(value).__name__}, expected a list")
    return value
