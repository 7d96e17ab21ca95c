"""Where control groups are, by what the kernel says of mounts and places, and what is written there."""

from pathlib import Path

from executor.runtime.base import CommandLimits
from executor.runtime.control_groups import CommandGroup, ControlGroups, Mount, below, hierarchies, own_groups

LIMITS = CommandLimits(memory_bytes=1 << 30, cpus=1.5, pids=64, file_bytes=1, wall_seconds=1)

HYBRID = """\
30 24 0:26 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 /docker/abc /sys/fs/cgroup/memory rw,relatime shared:5 master:1 - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""


class TestFinding:
    def test_each_controller_is_found_at_its_mount(self) -> None:
        mounts = hierarchies(HYBRID)
        assert mounts["cpu"] == Mount(Path("/sys/fs/cgroup/cpu"), "/")
        assert mounts["memory"] == Mount(Path("/sys/fs/cgroup/memory"), "/docker/abc")
        assert mounts[""].point == Path("/sys/fs/cgroup/unified")

    def test_a_place_is_known_for_each_controller_and_for_v2(self) -> None:
        own = own_groups("8:pids:/\n4:cpu,cpuacct:/a/b\n1:name=systemd:/\n0::/user.slice/x:y.scope\n")
        assert (own["pids"], own["cpu"], own["cpuacct"], own[""]) == ("/", "/a/b", "/a/b", "/user.slice/x:y.scope")

    def test_a_place_is_relative_to_the_part_that_is_mounted(self, tmp_path: Path) -> None:
        (tmp_path / "inner").mkdir()
        assert below(Mount(tmp_path, "/docker/abc"), "/docker/abc/inner") == tmp_path / "inner"
        assert below(Mount(tmp_path, "/docker/abc"), "/docker/abc") == tmp_path
        assert below(Mount(tmp_path, "/"), "/inner") == tmp_path / "inner"

    def test_a_place_outside_of_what_is_mounted_is_none(self, tmp_path: Path) -> None:
        assert below(Mount(tmp_path, "/docker/abc"), "/docker/abcdef") is None
        assert below(Mount(tmp_path, "/"), "/not/there") is None


class TestLimits:
    """Into plain folders, so that what is written can be read; the kernel's answers are tested with real commands."""

    def test_v2_gets_one_folder_with_all_limits(self, tmp_path: Path) -> None:
        group = ControlGroups(dict.fromkeys(("memory", "pids", "cpu"), (2, tmp_path))).create(LIMITS)
        (folder,) = group.folders
        assert group.entrances() == (folder / "cgroup.procs",)
        written = {file.name: file.read_text() for file in folder.iterdir()}
        assert written == {
            "memory.max": str(1 << 30),
            "memory.swap.max": "0",
            "pids.max": "66",  # and the two of bubblewrap
            "cpu.max": "150000 100000",
        }

    def test_v1_gets_a_folder_in_each_hierarchy(self, tmp_path: Path) -> None:
        bases = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
        for base in bases.values():
            base.mkdir()
        group = ControlGroups({name: (1, base) for name, base in bases.items()}).create(LIMITS)
        assert [folder.parent.name for folder in group.folders] == ["memory", "pids", "cpu"]
        memory, pids, cpu = group.folders
        assert (memory / "memory.limit_in_bytes").read_text() == str(1 << 30)
        assert (pids / "pids.max").read_text() == "66"
        assert (cpu / "cpu.cfs_quota_us").read_text() == "150000"

    def test_a_kill_for_memory_is_seen_in_both_versions(self, tmp_path: Path) -> None:
        for name in ("memory.events", "memory.oom_control"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / name).write_text("low 0\noom_kill_disable 0\noom_kill 0\n")
            assert not CommandGroup((folder,), folder).was_out_of_memory()
            (folder / name).write_text("low 0\noom_kill_disable 0\noom_kill 2\n")
            assert CommandGroup((folder,), folder).was_out_of_memory()

    def test_leftovers_of_executors_that_are_no_more_are_removed(self, tmp_path: Path) -> None:
        gone = tmp_path / "analyst-executor-4194999-1"
        own = tmp_path / "analyst-executor-1-1"
        other = tmp_path / "another"
        for folder in (gone, own, other):
            folder.mkdir()
        ControlGroups({"pids": (1, tmp_path)}).remove_leftovers()
        assert not gone.exists()
        assert own.exists()
        assert other.exists()
