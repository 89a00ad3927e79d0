"""What a fitted model's answers are made of."""

from scarce._names import publish
from scarce.inspection._explain import Explanation, explain

__all__ = ["Explanation", "explain"]

publish("inspection", globals())
