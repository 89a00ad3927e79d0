"""What a fitted model's answers are made of."""

from scarce._names import publish
from scarce.inspection._baseline import support_vectors as support_vectors
from scarce.inspection._columns import column_numbers as column_numbers
from scarce.inspection._explain import Explanation, explain
from scarce.inspection._layers import Layers as Layers
from scarce.inspection._layers import dense as dense
from scarce.inspection._layers import layers_of as layers_of
from scarce.inspection._trees import KernelAndTrees as KernelAndTrees
from scarce.inspection._trees import kernel_and_trees as kernel_and_trees

# Imported `as` themselves: for the other packages of the library, no part of what is public.
__all__ = ["Explanation", "explain"]

publish("inspection", globals())
