"""Tool `job_kill`: stop a background command and everything it started."""

from typing import Annotated

from msgspec import Meta

from turnkeeper.tools.job_output import found
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.making import Made, Parameters, noted
from turnkeeper.tools.tool import Answer, Hands, Tool


class JobKillParameters(Parameters, frozen=True):
    shell_id: Annotated[str, Meta(description="The id of the background job.")]


def job_kill_tool(jobs: JobTable) -> Tool:
    async def act(asked: JobKillParameters, hands: Hands) -> Answer:
        job = found(jobs, asked.shell_id, hands)
        await hands.begin(job.id)
        ended_before = job.done
        stopped = await jobs.kill(job)
        job.end_told = job.done
        metadata = {"shell_id": job.id, "command": job.line.command, "description": job.line.description}
        if ended_before:
            return Answer(f"Background job {job.id} had ended already.", metadata=noted(metadata))
        if not job.done or job.process.stuck:
            stuck = ", ".join(map(str, job.process.stuck)) or "its processes do not end"
            return Answer(f"Background job {job.id} could not be stopped: {stuck}", is_error=True)
        named = f": {', '.join(map(str, stopped))}" if stopped else ""
        return Answer(f"Background job {job.id} was stopped{named}.", metadata=noted(metadata))

    return Made("job_kill", JobKillParameters, act)
