"""An installed wheel works outside the repository: data, commands and the whole demo."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ELSEWHERE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""Whoever runs the tests may have the repository on the path: then nothing here would come from the wheel."""


@pytest.fixture(name="installed", scope="module")
def _install_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment that holds the wheel; dependencies are borrowed from the one that runs the tests."""
    home = tmp_path_factory.mktemp("wheel")
    run_command(
        sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", home, ROOT
    )
    venv.create(home / "env", with_pip=True, symlinks=True)
    python = home / "env" / "bin" / "python"
    packages = run_command(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(packages, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    wheel = next(home.glob("fiador-*.whl"))
    run_command(python, "-m", "pip", "install", "-q", "--no-deps", wheel)
    return home / "env" / "bin" / "fiador"


def run_command(*command: object, cwd: Path | None = None, **env: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=ELSEWHERE | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_packages_come_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    python = installed.with_name("python")
    where = run_command(
        python, "-c", "import proxy, config; print(proxy.__file__, config.__file__)", cwd=tmp_path
    )
    assert where.count(str(installed.parent.parent)) == 2


def test_the_demo_holds_from_another_folder(installed: Path, tmp_path: Path) -> None:
    told = run_command(installed, "demo", cwd=tmp_path, FIADOR_DEMO_DIR=str(tmp_path / "demo"))
    assert "Every check held" in told


def test_a_new_deployment_checks_syncs_and_answers(installed: Path, tmp_path: Path) -> None:
    run_command(installed, "init", "here", cwd=tmp_path)
    here = tmp_path / "here"
    assert "The configuration is good" in run_command(installed, "check", cwd=here)
    assert "1 added" in run_command(installed, "sync", cwd=here)
    told = run_command(installed, "ask", "When is the front desk open?", "--explain", cwd=here)
    assert "between 9:00 and 17:30" in told
    assert "answered" in told
