"""The in-process harness as verifiers finds it, by the id `rlmath-direct`, for any taskset of one turn."""

from rlmath.envs.decomp import DirectHarness

__all__ = ["DirectHarness"]
