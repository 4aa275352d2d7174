"""Re-export only: a second way to score would be a second thing to keep right."""

from rlmath.envs.decomp import DecompositionTaskset, DirectHarness, load_environment

__all__ = ["DecompositionTaskset", "DirectHarness", "load_environment"]
