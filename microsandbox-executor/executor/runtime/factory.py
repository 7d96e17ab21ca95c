"""Picks the runtime by booting it: what a machine has is no evidence, what runs there is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import structlog

from executor.runtime.base import RuntimeUnavailableError, SandboxRuntime
from executor.runtime.bubblewrap import BubblewrapRuntime

logger = structlog.get_logger(__name__)

RuntimeName = Literal["bubblewrap"]

# The strongest isolation first: `auto` takes the first that boots.
_CANDIDATES: Mapping[RuntimeName, Callable[[Path, Path], SandboxRuntime]] = {
    "bubblewrap": BubblewrapRuntime,
}


async def choose_runtime(wanted: RuntimeName | Literal["auto"], guest_dir: Path, scratch_dir: Path) -> SandboxRuntime:
    """Boot the wanted runtime, or with `auto` the strongest that boots here.

    Raises `RuntimeUnavailableError` with what each one that was tried said.
    """
    refusals = []
    for name in _CANDIDATES if wanted == "auto" else (wanted,):
        runtime = _CANDIDATES[name](guest_dir, scratch_dir)
        try:
            await runtime.probe()
        except RuntimeUnavailableError as error:
            logger.warning("runtime_unavailable", runtime=name, reason=str(error))
            refusals.append(str(error))
        else:
            return runtime
    raise RuntimeUnavailableError(f"SANDBOX_RUNTIME={wanted}: no sandbox boots here: {'; '.join(refusals)}")
