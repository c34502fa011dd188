"""Commands belong to a session of a workspace, and end with it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from anyio import fail_after

from tests.tools.scene import use
from tests.tools.shell_scene import SECONDS, Watching, alive, environment
from turnkeeper.protocol.ids import SessionId
from turnkeeper.tools.bash import Waits, bash_tool
from turnkeeper.tools.job import CommandLine, Job
from turnkeeper.tools.jobs import JobMissing, JobsFull, JobTable

A, B = SessionId("a"), SessionId("b")


def line(tmp_path: Path, command: str) -> CommandLine:
    return CommandLine(command, ("/bin/sh", "-c", command), tmp_path, environment())


async def begun(jobs: JobTable, session: SessionId, tmp_path: Path) -> tuple[Job, Sequence[int]]:
    """A background command that has said who it is."""
    job = jobs.start(session, line(tmp_path, "echo $$; exec sleep 600"))
    job.in_background = True
    await job.more(0)
    return job, [int(job.output.text())]


async def test_leaving_one_workspace_ends_its_jobs_and_no_others(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with JobTable() as mine:
            async with JobTable() as theirs:
                _, kept = await begun(mine, A, tmp_path)
                _, gone = await begun(theirs, A, tmp_path)
            assert (alive(list(kept)), alive(list(gone))) == (kept, [])


async def test_a_session_sees_and_ends_its_own_jobs_alone(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with JobTable() as jobs:
            mine, my_pids = await begun(jobs, A, tmp_path)
            theirs, their_pids = await begun(jobs, B, tmp_path)
            assert [view.id for view in jobs.list(A)] == [mine.id]
            assert [view.id for view in jobs.list(None)] == [mine.id, theirs.id]
            with pytest.raises(JobMissing):
                jobs.get(A, theirs.id)
            await jobs.end_session(A)
            assert (alive(list(my_pids)), alive(list(their_pids))) == ([], their_pids)
            assert [view.id for view in jobs.list(None)] == [theirs.id]


async def test_finished_jobs_take_no_room_from_running_ones(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with JobTable(running_max=1) as jobs:
            done = jobs.start(A, line(tmp_path, "echo over"))
            done.in_background = True
            await done.process.ended.wait()
            await begun(jobs, A, tmp_path)
            with pytest.raises(JobsFull):
                jobs.start(B, line(tmp_path, "echo no"))
            assert [view.state for view in jobs.list(A)] == ["completed", "running"]


async def test_output_can_be_read_again_and_from_where_one_stopped(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with JobTable() as jobs:
            job = jobs.start(A, line(tmp_path, "echo one; echo two >&2"))
            await job.process.ended.wait()
            assert job.output.text() == job.output.text() == "one\ntwo\n"
            assert job.output.since(4) == ("two\n", 8)
            assert job.output.since(8) == ("", 8)


async def test_the_end_of_a_job_is_told_once_with_the_next_command(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with JobTable() as jobs:
            hands = Watching(tmp_path, data_dir=tmp_path / "data", env=environment())
            tool = bash_tool(jobs, waits=Waits(settle_seconds=0))
            waiting = "until [ -e go ]; do sleep 0.01; done; exit 3"
            await use(tool, hands, command=waiting, description="wait", run_in_background=True)
            (job,) = [jobs.get(hands.session_id, view.id) for view in jobs.list(hands.session_id)]
            (tmp_path / "go").touch()
            await job.process.ended.wait()
            first = await use(tool, hands, command="echo next", description="go on")
            second = await use(tool, hands, command="echo last", description="go on")
    assert f"Background job {job.id} ({waiting}) has ended with exit code 3" in first.content
    assert "Background job" not in second.content
