"""The decomposition environment as verifiers finds it, by the id `rlmath-decomp`.

`__all__` is verifiers' plugin contract: its one taskset and its one harness are what the id stands for, and
`load_environment` is v0's entry point. The harness being here makes it the default: an evaluation that names none gives
the policy no shell.
"""

from rlmath_decomp.taskset import DecompositionTaskset, DirectHarness, load_environment

__all__ = ["DecompositionTaskset", "DirectHarness", "load_environment"]
