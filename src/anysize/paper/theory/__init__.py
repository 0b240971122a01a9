"""The paper's theory as functions: the bound of Theorem 1 and checks of its assumptions and consequences on graphs.

- ``bounds``: the bound of Theorem 1, and the sizes and gaps at which it holds.
- ``gaps``: measured differences of densities, which Theorem 1 bounds.
- ``bias``: estimators with a multiplicative bias (Proposition 2).
- ``homomorphisms``: injective homomorphism densities.
- ``intervals``: jackknife intervals for densities.
- ``invariance``: environment invariance of a representation, and its effect on errors (Proposition 1).
- ``graphon_check``: whether graphs could be samples of graphons.
- ``posterior``: the exact posterior of the Erdős–Rényi task.
- ``summary``: the content of ``anysize paper theory``.
"""
