"""scikit-learn's base classes, imported when something asks for what they offer.

Importing scikit-learn takes longer than anything else in loading a model and predicting with it, and neither needs it.
Estimators inherit from the classes here. What these lack, such as `get_params`, the HTML picture or metadata routing,
is taken from a subclass of the estimator and of scikit-learn's classes, which is made on first use.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "TransformerMixin"]

if find_spec("sklearn") is None:
    raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
else:

    class BaseEstimator:
        """`sklearn.base.BaseEstimator`."""

        def __getattr__(self, name):
            if name.endswith("_") and not name.startswith("_"):  # what `fit` sets: NotFittedError before
                from sklearn.utils.validation import check_is_fitted

                check_is_fitted(self)
            complete = _complete(type(self))
            if name.startswith("__") or not hasattr(complete, name):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            attribute = getattr_static(complete, name)
            return attribute.__get__(self, complete) if hasattr(attribute, "__get__") else attribute

        def get_params(self, deep=True):
            """The parameters; with those of nested estimators, as ``name__parameter``, if ``deep``."""
            return _complete(type(self)).get_params(self, deep)

        def set_params(self, **values):
            """Set parameters, ``name__parameter=...`` for those of nested estimators."""
            return _complete(type(self)).set_params(self, **values)

        def __repr__(self):
            return repr(_completed(self))

        def __sklearn_tags__(self):
            return _completed(self).__sklearn_tags__()

    class ClassifierMixin:
        """`sklearn.base.ClassifierMixin`."""

    class RegressorMixin:
        """`sklearn.base.RegressorMixin`."""

    class TransformerMixin:
        """`sklearn.base.TransformerMixin`."""


@cache
def _complete(estimator: Any) -> Any:
    """A subclass of scikit-learn's classes, which come first, and of the estimator."""
    import sklearn.base

    names = [base.__name__ for base in estimator.__mro__ if base.__module__ == __name__]
    bases = [getattr(sklearn.base, name) for name in names]
    return type(estimator.__name__, (*bases, estimator), {"__module__": estimator.__module__})


def _completed(estimator: Any) -> Any:
    """An instance of the complete class with the same attributes."""
    estimator_class: Any = type(estimator)
    complete = _complete(estimator_class)
    instance = complete.__new__(complete)
    vars(instance).update(vars(estimator))
    return instance
