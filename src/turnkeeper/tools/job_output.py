"""Tool `job_output`: what a background command has said so far, and whether it has ended."""

from typing import Annotated

import anyio
from msgspec import Meta

from turnkeeper.tools.bash import NO_OUTPUT, remarks
from turnkeeper.tools.job import Job
from turnkeeper.tools.jobs import JobMissing, JobTable
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.tool import Answer, Hands, Tool

WAIT_SECONDS_MAX = 600


class JobOutputParameters(Parameters, frozen=True):
    shell_id: Annotated[str, Meta(description="The id of the background job.")]
    wait: Annotated[bool, Meta(description="Wait until the job has ended, ten minutes at most.")]
    since: Annotated[
        int, Meta(description="Only what came after this position; each answer names the next one (default: all).")
    ] = -1


def job_output_tool(jobs: JobTable, *, wait_seconds_max: float = WAIT_SECONDS_MAX) -> Tool:
    async def act(asked: JobOutputParameters, hands: Hands) -> Answer:
        job = found(jobs, asked.shell_id, hands)
        if asked.wait:
            with anyio.move_on_after(wait_seconds_max):
                await job.process.ended.wait()
        job.end_told = job.done
        return _answer(job, asked.since)

    return Made("job_output", JobOutputParameters, act)


def found(jobs: JobTable, job_id: str, hands: Hands) -> Job:
    if not job_id:
        raise Refusal("shell_id is missing")
    try:
        return jobs.get(hands.session_id, job_id)
    except JobMissing as missing:
        known = ", ".join(view.id for view in jobs.list(hands.session_id)) or "none"
        raise Refusal(f"{missing}; known: {known}") from missing


def _answer(job: Job, since: int) -> Answer:
    if since >= 0:
        text, position = job.output.since(since)
    else:
        text, position = job.output.text(), job.output.total_bytes
    view = job.view()
    status = {"left": "completed, but what it started still runs"}.get(view.state, view.state)
    lines = [f"Status: {status}", "", text.rstrip("\n") or NO_OUTPUT, *(remarks(job) if job.exited else [])]
    if position or since >= 0:
        lines.append(f"Next position: {position}")
    metadata = {
        "shell_id": job.id,
        "command": job.line.command,
        "description": job.line.description,
        "done": job.done,
        "working_directory": str(job.line.workdir),
        "position": position,
    }
    return Answer("\n".join(lines), metadata=noted(metadata))
