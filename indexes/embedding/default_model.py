"""The default model's folder: built once, by one process at a time, and again where it is broken."""

import shutil
import tempfile
from pathlib import Path

from indexes.embedding.model import DEFAULT_NAME, ModelError, locate_default_model, verify_model
from indexes.progress import Progress, ignore_progress
from indexes.storage.file_lock import hold_lock_blocking

WAITING = "waiting for another process that builds the model"
WORK_PREFIX = ".building-"


def ensure_default_model(progress: Progress = ignore_progress) -> Path:
    """The default model's folder, built first if missing or broken (91 MB to load, then seconds). Blocking.

    Processes that ask at once build once. ModelError where it cannot be had: no network, no `model` extra, …
    """
    target = locate_default_model()
    if is_usable(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock_blocking(target.with_suffix(".lock"), lambda: progress(WAITING, 0.0)):
            if not is_usable(target):
                _build_default_model(target, progress)
    except OSError as fault:
        raise ModelError(
            f"{target}: {fault.strerror or fault}; FIADOR_MODEL_DIR names another place"
        ) from fault
    return target


def is_usable(folder: Path) -> bool:
    try:
        verify_model(folder)
    except ModelError:
        return False
    return True


def _build_default_model(target: Path, progress: Progress) -> None:
    try:
        from indexes.embedding.e5 import build  # its packages are an extra: not needed to run the model
    except ImportError as fault:
        raise ModelError(
            f"building {DEFAULT_NAME} needs {fault.name}: install fiador[model], or name a folder of your own"
        ) from fault
    for leftover in target.parent.glob(f"{WORK_PREFIX}*"):  # of a build that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=WORK_PREFIX, dir=target.parent) as work:
        folder = build.build_model_folder(Path(work), progress)
        verify_model(folder)
        shutil.rmtree(target, ignore_errors=True)  # a broken one
        folder.rename(target)
