"""What is installed from a wheel is what stands in the checkout, which an editable install does not show."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    # Elsewhere: what an earlier build has left in the checkout would be packed too.
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(out), str(source)], check=True)
    with zipfile.ZipFile(next(out.glob("*.whl"))) as archive:
        yield archive


def test_wheel__has_every_file_of_the_package_and_no_other(wheel):
    files = (path for path in (ROOT / "src").glob("vernier/**/*") if path.is_file() and path.suffix != ".pyc")
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == {str(path.relative_to(ROOT / "src")) for path in files}


def test_wheel__has_the_licence_and_the_command(wheel):
    of_package = {name.split(".dist-info/")[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert wheel.read(of_package["licenses/LICENSE"]) == (ROOT / "LICENSE").read_bytes()
    assert "vernier = vernier.cli.main:main" in wheel.read(of_package["entry_points.txt"]).decode()
