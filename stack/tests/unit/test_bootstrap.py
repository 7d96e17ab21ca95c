"""Finding a Python and uv, and skipping what is done: with fake trees, and programs that are small shell scripts."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from stack.settings import REPOSITORY_ROOT

SCRIPTS = REPOSITORY_ROOT / "scripts"
WANTED = (3, 12)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


find_python = script("find_python")
find_uv = script("find_uv")
stamps = script("stamps")

MakeProgram = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path) -> MakeProgram:
    def make(relative: str, body: str) -> Path:
        path = tmp_path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return make


def python_saying(version: str, implementation: str = "cpython") -> str:
    return f"printf '{implementation}\\n{version}\\n%s\\n' \"$0\""


class TestFindPython:
    def test_the_first_of_the_wanted_version_on_the_path_is_taken(self, program: MakeProgram, tmp_path: Path) -> None:
        program("a/python3", python_saying("3.11.7"))
        wanted = program("b/python3", python_saying("3.12.4"))
        found = find_python.find_python(WANTED, {"PATH": f"{tmp_path}/a:{tmp_path}/b"})
        assert (found.executable, found.version) == (wanted, (3, 12, 4))

    def test_pyenvs_version_is_found_although_its_shim_refuses(self, program: MakeProgram, tmp_path: Path) -> None:
        program("shims/python3.12", "echo 'pyenv: python3.12: command not found' >&2; exit 127")
        program("shims/pyenv", f"echo {tmp_path}/root")
        wanted = program("root/versions/3.12.1/bin/python3.12", python_saying("3.12.1"))
        found = find_python.find_python(WANTED, {"PATH": f"{tmp_path}/shims"})
        assert found.executable == wanted

    def test_pyenvs_default_folder_is_searched_without_pyenv_on_the_path(
        self, program: MakeProgram, tmp_path: Path
    ) -> None:
        default_root = "home/.pyenv"
        wanted = program(f"{default_root}/versions/3.12.9/bin/python3.12", python_saying("3.12.9"))
        found = find_python.find_python(WANTED, {"PATH": "", "HOME": f"{tmp_path}/home"})
        assert found.executable == wanted

    def test_the_newest_patch_of_pyenv_wins_by_number_and_not_by_letters(
        self, program: MakeProgram, tmp_path: Path
    ) -> None:
        for patch in ("3.12.9", "3.12.10", "3.12.2"):
            program(f"root/versions/{patch}/bin/python3.12", python_saying(patch))
        found = find_python.find_python(WANTED, {"PATH": "", "PYENV_ROOT": f"{tmp_path}/root"})
        assert found.version == (3, 12, 10)

    def test_a_python_without_its_modules_is_passed_over(self, program: MakeProgram, tmp_path: Path) -> None:
        program("a/python3.12", "echo \"ModuleNotFoundError: No module named '_ssl'\" >&2; exit 1")
        wanted = program("b/python3.12", python_saying("3.12.4"))
        found = find_python.find_python(WANTED, {"PATH": f"{tmp_path}/a:{tmp_path}/b"})
        assert found.executable == wanted

    def test_another_implementation_is_passed_over(self, program: MakeProgram, tmp_path: Path) -> None:
        program("a/python3", python_saying("3.12.4", implementation="pypy"))
        probed = find_python.probe(tmp_path / "a" / "python3")
        assert probed is None

    def test_a_newer_python_does_not_count(self, program: MakeProgram, tmp_path: Path) -> None:
        program("a/python3", python_saying("3.13.0"))
        candidates = find_python.candidates(WANTED, {"PATH": f"{tmp_path}/a"})
        assert tmp_path / "a" / "python3" in list(candidates)
        assert find_python.probe(tmp_path / "a" / "python3").version[:2] != WANTED

    def test_this_very_python_is_found(self) -> None:
        found = find_python.probe(Path(sys.executable))
        assert found.version == sys.version_info[:3]


class TestFindUv:
    def test_one_on_the_path_is_used(self, program: MakeProgram, tmp_path: Path) -> None:
        wanted = program("bin/uv", "echo uv 0.13.9")
        assert find_uv.find_uv({"PATH": f"{tmp_path}/bin"}, tmp_path / "private") == wanted

    def test_one_that_is_too_old_gives_way_to_the_private_one(self, program: MakeProgram, tmp_path: Path) -> None:
        program("bin/uv", "echo uv 0.1.3")
        private = program("private/packages/bin/uv", "echo 'uv 0.13.9 (abc 2026-01-01)'")
        assert find_uv.find_uv({"PATH": f"{tmp_path}/bin"}, tmp_path / "private") == private

    def test_a_broken_one_does_not_count(self, program: MakeProgram, tmp_path: Path) -> None:
        program("bin/uv", "exit 127")
        assert find_uv.find_uv({"PATH": f"{tmp_path}/bin"}, tmp_path / "private") is None

    # A Python whose `venv` module fails as Debian's does without python3-venv, and whose pip can install.
    NO_ENSUREPIP = """
case "$2" in
  venv) echo 'The virtual environment was not created successfully because ensurepip is not available.'; exit 1;;
  pip) while [ $# -gt 1 ]; do [ "$1" = --target ] && target=$2; shift; done
       mkdir -p "$target/bin"; printf '#!/bin/sh\\necho uv 0.13.9\\n' > "$target/bin/uv"; chmod +x "$target/bin/uv";;
esac
"""

    def test_without_ensurepip_the_installed_pip_fills_a_folder(self, program: MakeProgram, tmp_path: Path) -> None:
        python = program("bin/python3", self.NO_ENSUREPIP)
        installed = find_uv.install_uv(tmp_path / "lock", tmp_path / "private", iter([python]), lambda: False)
        assert installed == tmp_path / "private" / "packages" / "bin" / "uv"

    def test_without_pip_the_systems_package_is_asked_for_once_and_then_all_is_tried_again(
        self, program: MakeProgram, tmp_path: Path
    ) -> None:
        python = program("bin/python3", f'[ -e "{tmp_path}/packaged" ] || exit 1\n{self.NO_ENSUREPIP}')
        asked: list[int] = []

        def install_package() -> bool:
            asked.append(1)
            (tmp_path / "packaged").touch()
            return True

        installed = find_uv.install_uv(tmp_path / "lock", tmp_path / "private", iter([python]), install_package)
        assert installed.exists()
        assert len(asked) == 1

    def test_when_nothing_works_the_message_lists_what_was_tried(self, program: MakeProgram, tmp_path: Path) -> None:
        python = program("bin/python3", "echo no module named pip; exit 1")
        with pytest.raises(find_uv.UvMissingError, match="no module named pip"):
            find_uv.install_uv(tmp_path / "lock", tmp_path / "private", iter([python]), lambda: False)


class TestStamps:
    def test_the_fingerprint_follows_content_and_names_and_nothing_else(self, tmp_path: Path) -> None:
        (tmp_path / "src").mkdir()
        file = tmp_path / "src" / "a.ts"
        file.write_text("1")
        before = stamps.fingerprint([tmp_path / "src"])
        os.utime(file, (1, 1))
        assert stamps.fingerprint([tmp_path / "src"]) == before
        file.write_text("2")
        changed = stamps.fingerprint([tmp_path / "src"])
        assert changed != before
        file.rename(tmp_path / "src" / "b.ts")
        assert stamps.fingerprint([tmp_path / "src"]) != changed

    def test_ignored_folders_do_not_count(self, tmp_path: Path) -> None:
        (tmp_path / "node_modules").mkdir()
        before = stamps.fingerprint([tmp_path], ignored=frozenset({"node_modules"}))
        (tmp_path / "node_modules" / "x.js").write_text("new")
        assert stamps.fingerprint([tmp_path], ignored=frozenset({"node_modules"})) == before

    def test_a_step_that_was_broken_off_is_not_taken_for_done(self, tmp_path: Path) -> None:
        stamp = stamps.Stamp(tmp_path / "made" / ".stamp", "content")
        assert not stamp.is_current()
        stamp.remember()
        assert stamp.is_current()
        stamp.forget()
        assert not stamp.is_current()
        assert not stamps.Stamp(tmp_path / "made" / ".stamp", "other").is_current()


class TestCommandLine:
    def test_a_wrong_goal_is_explained(self) -> None:
        done = subprocess.run(
            ["sh", str(SCRIPTS / "bootstrap.sh"), "everything"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "uv|python|lint|start|test" in done.stderr

    def test_without_any_python_the_message_says_what_to_install(self, tmp_path: Path) -> None:
        # The script's own list ends with absolute paths; this copy has none of them.
        text = (SCRIPTS / "bootstrap.sh").read_text().replace("/usr/bin/python3 /usr/local/bin/python3", "")
        (tmp_path / "bootstrap.sh").write_text(text)
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "dirname").symlink_to("/usr/bin/dirname")
        done = subprocess.run(
            ["/bin/sh", str(tmp_path / "bootstrap.sh"), "start"],
            env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "Install Python 3 first" in done.stderr
