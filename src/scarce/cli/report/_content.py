"""What a report says of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from scarce._arrays import Array
from scarce.cli._fit import LABELLED
from scarce.cli._info import estimator_of
from scarce.cli._words import certified, dropped_rows, promise, quality
from scarce.cli.report import _pictures as pictures
from scarce.cli.scores._answers import ahead, direction
from scarce.cli.scores._reasons import entry_names, reason_texts
from scarce.inspection import explain

ENDS = 5  # most and least typical rows
REASONS = 3
NAMES = {  # of rows on either side of the threshold
    "pu": ("of the class", "the others"),
    "groups": ("positive", "negative"),
    "classify": ("decided", "undecided"),
    "regress": ("above the median", "below it"),
}


def report_content(task: Any, model: Any) -> dict[str, Any]:
    """Return everything that the page of a fit shows."""
    estimator = estimator_of(model)
    scores = _scores(task, model)
    sentence, *more = promise(task, model)
    return {
        "title": _title(task),
        "sentence": sentence,
        "more": more,
        "main": _main_picture(task, model, scores),
        "estimator": type(estimator).__name__,
        "why": task.why,
        "rows": task.n_rows,
        "columns": task.plan.columns,
        "n_used": len(task.plan.types),
        "missing": sum(c.missing for c in task.plan.columns if c.use in ("number", "category")),
        "support": int(np.size(getattr(certified(estimator), "support_", ()))),
        "id_name": task.id_name,
        "left_out": [str(name) for name in task.ids[dropped_rows(model)]],
        "ends": _ends(task, model, scores),
        "view": _view(task, model, scores),
        "special": _special(task, model),
        "rounds": _rounds(estimator),
        "certificate": quality(model),
        "parameters": {name: repr(value) for name, value in _told_parameters(estimator).items()},
    }


def _scores(task: Any, model: Any) -> Array:
    """Return the rows' scores, held-out ones where there are such, NaN for sources."""
    if task.kind == "regress":
        return np.asarray(model.predict(task.X), dtype=np.float64)
    if hasattr(model, "left_out_scores_"):
        return np.asarray(model.left_out_scores_ - np.ravel(model.offset_)[0])
    scores = np.asarray(model.decision_function(task.X), dtype=np.float64)
    return ahead(scores) if scores.ndim > 1 else np.asarray(direction(model) * scores)


def _title(task: Any) -> str:
    names = {
        "one-class": "What is normal",
        "transfer": "What is normal, with the help of related tasks",
        "pu": "Which of the unlabelled rows belong to the class",
        "groups": "Who is positive, from proportions of groups",
        "tensor": "What a normal sample looks like",
        "classify": "Which class a row belongs to",
        "regress": "What number a row has",
    }
    return names[task.kind]


def _words(kind: str) -> tuple[str, str]:
    return NAMES.get(kind, ("accepted", "rejected"))


def _main_picture(task: Any, model: Any, scores: Array) -> dict[str, str]:
    estimator, (inside, outside), threshold = estimator_of(model), _words(task.kind), 0.0
    if task.kind == "pu":
        labelled, others = estimator.out_of_bag_scores_
        kinds = {"labelled": np.asarray(labelled), "unlabelled": np.asarray(others)}
        caption = "Scores of labelled and unlabelled rows, each by models that did not see it."
    elif task.kind == "regress":
        kinds = {"given": np.asarray(task.y), "predicted": scores}
        caption = "Given and predicted numbers of the rows, with the median of the given ones."
        threshold, inside, outside = float(np.median(task.y)), "above", "below"
    elif task.kind == "classify":
        kinds = {"rows": scores}
        caption = "How far the class that is decided for is ahead of the next, for each row."
        if len(task.facts["classes"]) == 2:
            first, second = task.facts["classes"]
            own = np.asarray(task.y == second)
            kinds = {f"is {second}": scores[own], f"is {first}": scores[~own]}
            caption = f"Scores of the rows of both classes; above 0 they are called {second}."
            inside, outside = second, first
    elif task.kind == "groups":
        kinds = {"rows": scores}
        caption = "Scores of the rows; above 0 they are called positive."
    else:
        kinds = {"held out": scores[np.isfinite(scores)]}
        caption = (
            "Scores of the rows, each by a model that has not seen it: as new rows of the class "
            "would score."
        )
    drawing = pictures.score_histogram(kinds, threshold, inside, outside)
    return {"svg": pictures.picture(drawing, caption), "caption": caption}


def _ends(task: Any, model: Any, scores: Array) -> list[dict[str, Any]]:
    """Return the rows with the highest and the lowest scores, with their reasons."""
    pool = np.flatnonzero(np.isfinite(scores))
    if task.kind == "pu":
        pool = np.flatnonzero(~task.facts["positive"])  # whose place is known
    order = pool[np.argsort(-scores[pool], kind="stable")]
    count = min(ENDS, order.size // 2)
    parts = []
    typical = None
    if task.kind in ("one-class", "transfer"):  # a row is compared with others, not with itself
        half = order[: max(1, order.size // 2)]
        typical = task.X.iloc[half] if hasattr(task.X, "iloc") else task.X[half]
    heads = ("Most typical", "Least typical")
    if task.kind in ("pu", "groups", *LABELLED):
        heads = ("Highest scores", "Lowest scores")
    distances = _distances(model)
    for head, chosen in zip(heads, (order[:count], order[::-1][:count]), strict=True):
        rows = task.X.iloc[chosen] if hasattr(task.X, "iloc") else task.X[chosen]
        others = typical if head == heads[1] else None
        names, values = explain(model, rows, reference=others).largest(REASONS)
        names, values = entry_names(names, task.facts.get("shape")), direction(model) * values
        parts.append(
            {
                "head": head,
                "rows": [
                    {
                        "id": str(task.ids[row]),
                        "score": f"{scores[row]:.3g}",
                        "distance": "" if distances is None else _times(distances[row]),
                        "reasons": reason_texts(
                            rows.iloc[place] if hasattr(rows, "iloc") else None,
                            names[place],
                            values[place],
                        )
                        or ["nothing: as the rows it was learnt from"],
                    }
                    for place, row in enumerate(chosen)
                ],
            }
        )
    return parts


def _distances(model: Any) -> Array | None:
    """Return how far rows are from the class of the others, in distances of the boundary."""
    if not hasattr(model, "left_out_scores_"):
        return None
    ratios: Array | None = model._distance_ratios_at(model.left_out_scores_)
    return ratios


def _times(ratio: float) -> str:
    return "far" if np.isnan(ratio) else f"{ratio:.2f}"


def _view(task: Any, model: Any, scores: Array) -> dict[str, str] | None:
    inner = getattr(model, "estimator_", model)
    if not task.tables:
        X = task.X.reshape(len(task.X), -1)
    else:
        X = np.asarray(inner[0].transform(task.X))
    if X.shape[1] < 2 or len(X) < 3:
        return None
    known = np.isfinite(scores)  # rows of sources are not judged
    X, scores = X[known], scores[known]
    flat = PCA(n_components=2, random_state=0).fit(X)
    caption = (
        "The rows in the two directions in which they differ most, which hold "
        f"{flat.explained_variance_ratio_.sum():.0%} of the differences; the model sees all."
    )
    threshold = np.median(scores) if task.kind == "regress" else 0.0
    drawing = pictures.two_dimensions(flat.transform(X), scores >= threshold, _words(task.kind))
    return {"svg": pictures.picture(drawing, caption, (5.6, 3.4)), "caption": caption}


def _special(task: Any, model: Any) -> dict[str, str] | None:
    """Return what only this kind has to show."""
    estimator = estimator_of(model)
    if task.kind == "groups":
        return _group_shares(task, model)
    if task.kind == "pu":
        low, high = estimator.class_prior_interval_
        text = (
            f"Of the unlabelled rows about {estimator.class_prior_:.0%} belong to the class; the "
            f"range is {low:.0%} to {high:.0%}. It knows how many rows are labelled, not how they "
            f"were chosen. The threshold accepts {estimator.accepted_share_:.0%} of them."
        )
        return {"head": "How many belong to the class", "text": text}
    if task.kind == "transfer" and task.facts["sources"]:
        return _contributions(task, estimator)
    return None


def _group_shares(task: Any, model: Any) -> dict[str, str]:
    groups = task.metadata["groups"]
    probability = np.asarray(model.predict_proba(task.X))[:, 1]
    ids = np.unique(groups[groups >= 0])
    given = np.array([task.y[groups == each][0] for each in ids], dtype=float)
    predicted = np.array([probability[groups == each].mean() for each in ids])
    sizes = np.array([(groups == each).sum() for each in ids])
    error = float(np.average(np.abs(given - predicted), weights=sizes))
    text = (
        f"Each point is one of {ids.size} groups, the larger the more rows it has. Given and "
        f"predicted proportions differ by {error:.3f} on average, on the groups of the fit itself."
    )
    drawing = pictures.shares(given, predicted, sizes)
    return {
        "head": "Given and predicted proportions",
        "text": text,
        "svg": pictures.picture(drawing, text, (4.2, 3.6)),
    }


def _contributions(task: Any, estimator: Any) -> dict[str, str]:
    domain = np.asarray(task.metadata["sample_domain"])[estimator.support_]
    weights = np.abs(np.ravel(estimator.dual_coef_))
    names = {-1: "the target's own rows", **task.facts["sources"]}
    parts = {
        str(name): float(weights[domain == number].sum() / weights.sum())
        for number, name in names.items()
    }
    text = "The proportion of the target's model that rests on the rows of each table."
    drawing = pictures.bars(parts, "proportion of the model")
    return {
        "head": "What each source contributed",
        "text": text,
        "svg": pictures.picture(drawing, text, (5.6, 1.0 + 0.4 * len(parts))),
    }


def _rounds(estimator: Any) -> dict[str, str] | None:
    history = getattr(estimator, "history_", None)
    if not history or len(history["objective"]) < 2:
        return None
    ended = "it had settled" if estimator.converged_ else "the limit was reached"
    caption = (
        f"The objective from round to round, {len(history['objective'])} of them, until {ended}."
    )
    drawing = pictures.rounds(history["objective"])
    return {"svg": pictures.picture(drawing, caption, (5.6, 2.3)), "caption": caption}


def _told_parameters(estimator: Any) -> dict[str, Any]:
    hidden = ("verbose", "warm_start", "cache_size", "max_iter", "shrinking", "source")
    parameters = estimator.get_params(deep=False)
    return {name: value for name, value in parameters.items() if name not in hidden}
