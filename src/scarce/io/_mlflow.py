"""Models in the registry of mlflow."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any


def log_model(model: Any, name: str, **options: Any) -> Any:
    """Keep a fitted model with mlflow, in its safe format.

    The same as `mlflow.sklearn.log_model` with the types of this library trusted, so that
    `mlflow.sklearn.load_model` and `mlflow.pyfunc.load_model` take the model without a list of
    them. Needs mlflow and skops.

    Parameters
    ----------
    model : estimator
        A model of this library, or a pipeline or search with one.
    name : str
        Its name among the artifacts of the run.
    **options : dict
        For `mlflow.sklearn.log_model`. Without ``pip_requirements`` these are the installed
        versions of this library and of scikit-learn.

    Returns
    -------
    mlflow.models.model.ModelInfo
        With ``model_uri``, by which the model is loaded.
    """
    try:
        mlflow = import_module("mlflow.sklearn")
    except ImportError as error:
        raise ImportError("log_model needs mlflow: python -m pip install mlflow") from error
    from scarce._model_files import TRUSTED_TYPES

    trusted = [*TRUSTED_TYPES, *options.pop("skops_trusted_types", ())]
    needed = [f"{each}=={version(each)}" for each in ("scarce", "scikit-learn", "skops")]
    options.setdefault("pip_requirements", needed)
    options.setdefault("serialization_format", "skops")
    return mlflow.log_model(model, name=name, skops_trusted_types=trusted, **options)
