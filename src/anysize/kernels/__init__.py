"""Graph kernels with explicit features, and a support vector machine on them.

`WLKernel` and `GraphletKernel` are scikit-learn transformers from graphs to sparse features whose inner products are
the kernel. `KernelClassifier` is the SVM of the paper's kernel rows; C and iterations are selected by validation.
"""

from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.svm import KernelClassifier
from anysize.kernels.wl import WLKernel

__all__ = ["GraphletKernel", "KernelClassifier", "WLKernel", "gram"]
