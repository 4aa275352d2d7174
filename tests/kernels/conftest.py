"""One workspace for all tests of this directory."""

from __future__ import annotations

import pytest
from kernel_kit import Workspace, make_workspace

from rlmath.kernel.embedded.build import Prelude, ensure_prelude


@pytest.fixture(scope="session")
def prelude() -> Prelude:
    """The package's own, built."""
    return ensure_prelude()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory, prelude: Prelude) -> Workspace:
    """A project whose REPL is `rlmath repl`."""
    return make_workspace(tmp_path_factory.mktemp("workspace"))
