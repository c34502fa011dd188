"""A detached command outlives its workspace, and nothing else."""

from pathlib import Path

import anyio
import pytest
from anyio import fail_after

from tests.tools.scene import use
from tests.tools.shell_scene import SECONDS, Watching, alive, environment
from turnkeeper.protocol.ids import SessionId
from turnkeeper.tools.bash import Waits, bash_tool
from turnkeeper.tools.job import CommandLine, Job
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.jobs_detached import DetachedFull, DetachedJobs

A = SessionId("a")


async def begun(jobs: JobTable, tmp_path: Path, *, detached: bool = True) -> tuple[Job, list[int]]:
    """A background command that has said who it is."""
    command = "echo $$; exec sleep 600"
    job = jobs.start(A, CommandLine(command, ("/bin/sh", "-c", command), tmp_path, environment(), detached=detached))
    job.in_background = True
    await job.more(0)
    return job, [int(job.output.text())]


async def test_it_outlives_its_workspace_and_is_found_and_stopped_when_that_is_opened_again(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with anyio.create_task_group() as server:
            detached = DetachedJobs(server)
            async with JobTable(detached=detached, home="/here") as first:
                job, kept = await begun(first, tmp_path)
                _, gone = await begun(first, tmp_path, detached=False)
            assert (alive(kept), alive(gone)) == (kept, [])
            async with JobTable(detached=detached, home="/elsewhere") as other:
                assert other.list(None) == []
            async with JobTable(detached=detached, home="/here") as again:
                assert again.list(A) == [job.view()]
                assert again.get(A, job.id).output.text().split() == [str(pid) for pid in kept]
                newer, _ = await begun(again, tmp_path, detached=False)
                assert newer.id != job.id, "an id names one job"
                await again.end_session(A)
                assert alive(kept) == []
            assert detached.of("/here") == []


async def test_the_end_of_the_server_is_its_end_too(tmp_path: Path) -> None:
    going: list[int] = []
    with fail_after(SECONDS):
        async with anyio.create_task_group() as server:
            async with JobTable(detached=DetachedJobs(server), home="/here") as jobs:
                _, going = await begun(jobs, tmp_path)
            assert alive(going) == going
            server.cancel_scope.cancel()
        assert alive(going) == []


async def test_only_so_many_run_in_a_server_and_those_that_ended_take_no_room(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with anyio.create_task_group() as server:
            detached = DetachedJobs(server, running_max=1)
            async with JobTable(detached=detached, home="/here") as here, JobTable(detached=detached) as elsewhere:
                job, _ = await begun(here, tmp_path)
                with pytest.raises(DetachedFull):
                    await begun(elsewhere, tmp_path)
                await here.kill(job)
                await begun(elsewhere, tmp_path)
            server.cancel_scope.cancel()


async def test_a_person_is_told_and_an_allowance_of_the_command_alone_is_none_of_its_outliving(tmp_path: Path) -> None:
    with fail_after(SECONDS):
        async with anyio.create_task_group() as server:
            async with JobTable(detached=DetachedJobs(server), home="/here") as jobs:
                hands = Watching(tmp_path, data_dir=tmp_path / "data", env=environment())
                tool = bash_tool(jobs, waits=Waits(settle_seconds=0))
                answer = await use(tool, hands, command="sleep 600", description="wait", detach=True)
                (job,) = jobs.list(hands.session_id)
                await use(tool, hands, command="ls", description="look", detach=True)
                await use(tool, hands, command="ls", description="look")
            waiting, looking, attached = hands.asked
            assert waiting.description == "wait (goes on when the workspace is closed)"
            assert waiting.subjects == ("sleep 600", "nohup sleep 600")
            assert isinstance(looking.params, dict)
            assert (looking.safe, looking.params["detach"]) == (False, True)
            assert attached.safe
            assert attached.params == {key: value for key, value in looking.params.items() if key != "detach"}
            assert job.detached
            assert f"background job {job.id}, and goes on when the workspace is closed" in answer.content
            server.cancel_scope.cancel()


async def test_where_nothing_can_be_kept_a_command_that_is_to_outlive_is_refused_and_not_run(tmp_path: Path) -> None:
    async with JobTable() as jobs:
        hands = Watching(tmp_path, data_dir=tmp_path / "data", env=environment())
        answer = await use(bash_tool(jobs), hands, command="touch made", description="", detach=True)
    assert (answer.is_error, answer.content) == (True, "no command can outlive its workspace here")
    assert not (tmp_path / "made").exists()
