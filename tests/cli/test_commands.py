"""Commands that run to their end, as an operator or a script meets them."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.site import COMMAND

CORPUS = Path(__file__).parent.parent / "corpus"

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]


def sentence(done):
    """Return the one line on standard error."""
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line.removeprefix("vernier: ")


def test_version__needs_no_site(new_site):
    done = new_site.run("--version")
    assert done.stdout.startswith("vernier 0.")
    assert not new_site.data.exists()


def test_command__is_installed_beside_the_interpreter(site):
    done = subprocess.run(
        [Path(sys.executable).with_name("vernier"), "status"], env=site.environ(), capture_output=True, check=True
    )
    assert done.stdout.startswith(b"Uploads: 0 pending")


def test_first_use__of_any_command_makes_everything(new_site):
    done = new_site.run("author", "create", "alice", "--email", "alice@example.org")
    created, link = done.stdout.splitlines()
    assert (done.returncode, created) == (0, "Author alice is created.")
    assert link.startswith("Sign in once, within 24 hours: http://127.0.0.1:8000/sign-in/")
    assert (new_site.data / "secret-key").stat().st_mode & 0o777 == 0o600
    assert (new_site.data / "vernier.db").stat().st_mode & 0o777 == 0o600
    assert not list(new_site.data.glob("vernier.db-*"))


def test_first_use__by_several_at_once(new_site):
    started = [
        subprocess.Popen(
            [*COMMAND, "author", "create", f"author{number}"],
            env=new_site.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(3)
    ]
    assert [process.communicate()[1] for process in started] == [b"", b"", b""]
    assert [process.returncode for process in started] == [0, 0, 0]


def test_setting__bad_value(site):
    done = site.run("status", LEASE_SECONDS="abc")
    assert done.returncode == 2
    assert sentence(done) == "VERNIER_LEASE_SECONDS is 'abc'; valid is a whole number from 5 to 3600."


def test_setting__unknown_name_is_reported_and_the_command_runs(site):
    done = site.run("status", LEASE_SECOND="5")
    assert done.returncode == 0
    assert "did you mean VERNIER_LEASE_SECONDS?" in done.stderr


@pytest.mark.parametrize("command", ["serve", "status"])
def test_data_directory__that_cannot_be_written(new_site, command):
    new_site.data.write_text("a file")
    done = new_site.run(command)
    assert done.returncode == 1
    assert sentence(done) == f"The data directory {new_site.data} cannot be used: there is a file of that name."


MOUNT = ["unshare", "--mount", "--map-root-user", "sh", "-c"]


@pytest.fixture
def run_mounted(site):
    """Run the command with another file system where the data directory is, in a name space of its own."""
    if subprocess.run([*MOUNT, "mount -t tmpfs tmpfs /tmp"], capture_output=True, check=False).returncode:
        pytest.skip("This machine lets nobody mount in a name space of their own.")

    def run(prepare, *arguments):
        script = f'{prepare.format(data=site.data)} && shift && exec "$@"'
        return subprocess.run(
            [*MOUNT, script, "sh", "-", *COMMAND, *arguments],
            env=site.environ(),
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("command", ["serve", "status"])
def test_data_directory__on_a_read_only_file_system(run_mounted, site, command):
    read_only = "mount --bind {data} {data} && mount -o remount,bind,ro {data}"
    done = run_mounted(read_only, command)
    assert done.returncode == 1
    assert sentence(done) == f"The data directory {site.data} cannot be used: its file system is read-only."


def test_data_directory__on_a_full_file_system(run_mounted, site):
    done = run_mounted("mount -t tmpfs -o size=64k tmpfs {data}", "serve")
    assert done.returncode == 1
    assert sentence(done).endswith(f"The file system of {site.data} is full.")


def test_data_directory__below_proc(new_site):
    new_site.data = Path("/proc/1/vernier")
    done = new_site.run("status")
    assert done.returncode == 1
    assert sentence(done).startswith("The data directory /proc/1/vernier cannot be used: ")


def test_database__that_is_none(site):
    (site.data / "vernier.db").write_bytes(b"no database" * 1000)
    done = site.run("status")
    assert done.returncode == 1
    assert sentence(done) == "The database cannot be used: file is not a database."


def test_author__twice(site):
    done = site.run("author", "create", "alice")
    assert done.returncode == 1
    assert "A user with that username already exists." in sentence(done)


def test_token__is_all_that_is_printed(site):
    done = site.run("token", "create", "--author", "alice", "--scope", "create media")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("vernier_")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("author", "scope", "expected"),
    [
        ("bob", "media", "There is no author 'bob'; make one with: vernier author create bob"),
        ("alice", "media fly", "The scope 'media fly' has no meaning here; valid are "),
    ],
)
def test_token__refused(site, author, scope, expected):
    done = site.run("token", "create", "--author", author, "--scope", scope)
    assert done.returncode == 1
    assert sentence(done).startswith(expected)


def test_upload__a_url_per_file_and_a_sentence_per_bad_one(site):
    files = [CORPUS / "orient_1.jpg", CORPUS / "not_svg.svg", CORPUS / "missing.jpg", CORPUS / "png_rgba.png"]
    done = site.run("media", "upload", *map(str, files), "--author", "alice", BASE_URL="https://example.org")
    assert done.returncode == 1
    urls = done.stdout.splitlines()
    assert len(urls) == 2
    assert all(url.startswith("https://example.org/media/") for url in urls)
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [str(files[1]), str(files[2])]


def test_worker__drain_runs_all_work_and_ends(site):
    site.run(
        "media", "upload", str(CORPUS / "orient_1.jpg"), str(CORPUS / "jpeg_header_only.jpg"), "--author", "alice"
    )
    before = json.loads(site.run("status", "--json").stdout)
    assert before["versions"]["pending"] == 2
    assert before["jobs"] == {"queued": 2, "running": 0}
    assert before["oldest_pending_seconds"] >= 0
    assert site.run("worker", "--drain").returncode == 0
    after = json.loads(site.run("status", "--json").stdout)
    assert after["versions"] == {"pending": 0, "processing": 0, "ready": 1, "failed": 1, "superseded": 0}
    assert after["jobs"] == {"queued": 0, "running": 0}
    assert after["oldest_pending_seconds"] is None
    assert after["failures"][0]["code"]
    assert f": {after['failures'][0]['code']}: " in site.run("status").stdout


def test_worker__alone_keeps_house_and_ends_on_sigterm(site):
    worker = subprocess.Popen([*COMMAND, "worker"], env=site.environ(), stderr=subprocess.PIPE, text=True)
    while not (list(site.data.glob("run/*.heartbeat")) and (site.data / "housekeeping.lock").exists()):
        assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(10) == 0
    assert "Traceback" not in worker.communicate()[1]


def test_manage__is_djangos(site):
    assert "migrate" in site.run("manage", "--help").stdout
    done = site.run("manage", "nonsense")
    assert done.returncode == 1
    assert "Unknown command" in done.stderr


def test_usage__is_explained(new_site):
    for arguments in ([], ["serve", "--bind", "8000"], ["serve", "--workers", "0"], ["author", "create"]):
        done = new_site.run(*arguments)
        assert done.returncode == 2
        assert "usage: vernier" in done.stderr


def test_migrate__backs_the_database_up_first(site):
    site.run("manage", "migrate", "django_ox", "0007")
    assert site.run("status").returncode == 0
    (backup,) = (site.data / "backups").iterdir()
    assert backup.name.endswith("-vernier.db")
    assert site.run("status").returncode == 0
    assert len(list((site.data / "backups").iterdir())) == 1


def test_migrate__refuses_a_database_of_a_newer_version(site):
    code = (
        "from django.db.migrations.recorder import MigrationRecorder as R;"
        "from django.db import connection; R(connection).record_applied('media', '9999_future')"
    )
    site.run("manage", "shell", "-c", code)
    done = site.run("status")
    assert done.returncode == 1
    assert sentence(done).startswith("The database was made by a newer version of Vernier")


def test_import_and_export__a_folder_goes_in_and_comes_out(site, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "walk.md").write_text("---\ntitle: A walk\n---\nText")
    (folder / "bad.md").write_text("---\ntitle: [\n---\n")
    dry = site.run("import", str(folder), "--author", "alice", "--dry-run")
    assert "1 would be imported, 0 here already, 1 refused." in dry.stdout
    done = site.run("import", str(folder), "--author", "alice")
    assert (done.returncode, "bad.md: Its front matter is no YAML" in done.stderr) == (1, True)
    exported = site.run("export", str(tmp_path / "out"))
    assert (exported.returncode, exported.stdout.startswith("1 posts and 0 images")) == (0, True)
    assert "title: A walk" in next((tmp_path / "out" / "posts").rglob("walk.md")).read_text()


def test_import__refused_profile_is_counted(site, tmp_path):
    (tmp_path / "authors.yaml").write_text("nonsense")
    done = site.run("import", str(tmp_path), "--author", "alice")
    assert (done.returncode, "0 here already, 1 refused." in done.stdout) == (1, True)


def test_import__folder_that_is_not_there(site, tmp_path):
    done = site.run("import", str(tmp_path / "none"), "--author", "alice")
    assert (done.returncode, "is no folder" in done.stderr) == (1, True)
