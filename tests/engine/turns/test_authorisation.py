"""Unauthorised: fresh credentials for all who were refused, or a person who signs in."""

import math

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, finishes, told
from turnkeeper.engine.submitting import cancel
from turnkeeper.engine.waiting import why
from turnkeeper.models.catalog import embedded
from turnkeeper.models.model import Model, Trouble
from turnkeeper.models.registry import ConfiguredModels, Surroundings
from turnkeeper.models.scripted import Fail, Say, ScriptedModel, ScriptedModels, Turn, turn
from turnkeeper.models.wires import open_wires
from turnkeeper.protocol import events as e
from turnkeeper.protocol.config import Config, ModelEntry, ProviderConfig
from turnkeeper.protocol.runs import Cause, Outcome, RunOptions
from turnkeeper.protocol.wire_overview import WaitKind
from turnkeeper.testing.scene import scene

DENIED = turn(Fail(Trouble.AUTH, "invalid token", status=401, title="Unauthorized"))


class Shared(ScriptedModels):
    """Voices whose credentials are really fetched, by the registry's own rules."""

    def __init__(self, model: Model, registry: ConfiguredModels) -> None:
        super().__init__(model)
        self.registry = registry

    async def refresh(self, provider: str, *, since: float) -> bool:
        return await self.registry.refresh(provider, since=since)


async def test_fresh_credentials_are_fetched_once_and_the_question_asked_again() -> None:
    with fail_after(600):
        async with scene(DENIED, turn(Say("hello")), knobs=PATIENT) as stage:
            stage.models.refresh_helps = True
            run = await stage.run("go", await stage.session("named"))
            endings = await told(stage.store, e.RunComplete)
    assert (run.outcome, run.text, stage.models.refreshed) == (Outcome.COMPLETED, "hello", ["scripted"])
    assert [ending.run_id for ending in endings] == [run.id]


async def test_what_is_refused_with_fresh_credentials_is_not_asked_a_third_time() -> None:
    with fail_after(600):
        async with scene(*[DENIED] * 5, knobs=PATIENT) as stage:
            stage.models.refresh_helps = True
            session = await stage.session("named")
            run = await stage.run("go", session)
            messages = await stage.messages(session)
    assert (run.outcome, len(stage.model.questions)) == (Outcome.FAILED, 2)
    assert run.failure is not None
    assert (run.failure.cause, run.failure.retryable) == (Cause.AUTH, False)
    assert run.failure.message == "invalid token. Sign in to the provider again, or set another key."
    assert finishes(messages) == ["error Unauthorized"]


async def test_many_runs_that_are_refused_at_once_share_one_refresh_and_end_once_each() -> None:
    fetched, go = 0, anyio.Event()

    async def refresh(id: str) -> ProviderConfig:
        nonlocal fetched
        fetched += 1
        await go.wait()
        return ProviderConfig(id=id, models=(ModelEntry(id="m"),))

    class Locked(ScriptedModel):
        """Refuses whoever asks before the credentials are fresh."""

        def _next(self, question: object) -> Turn:
            return turn(Say("hello")) if go.is_set() else DENIED

    # What reads certificates in a thread is opened before the clock matters.
    async with open_wires() as wires:
        with fail_after(600):
            async with scene(large=Locked(), knobs=PATIENT) as stage:
                around = Surroundings(catalog=embedded(), wires=wires, environment={}, refresh=refresh)
                shared = Shared(stage.model, ConfiguredModels(Config(), around))
                object.__setattr__(stage.workspace.means, "models", shared)
                sessions = [await stage.session(f"number {number}") for number in range(20)]
                runs = [await stage.submit("go", session) for session in sessions]
                await anyio.wait_all_tasks_blocked()
                # Whoever went to fetch them is cancelled; the others must not suffer for it.
                await cancel(stage.workspace, sessions[0])
                await anyio.wait_all_tasks_blocked()
                go.set()
                ended = [await stage.workspace.ended(run_id) for run_id in runs]
                endings = await told(stage.store, e.RunComplete)
    assert [run.outcome for run in ended] == [Outcome.CANCELLED, *[Outcome.COMPLETED] * 19]
    assert fetched == 2, "once for him who was cancelled on the way, once for all others"
    assert sorted(ending.run_id for ending in endings) == sorted(runs)


async def test_who_is_refused_with_old_credentials_after_they_were_renewed_does_not_renew_them_again() -> None:
    fetched = 0

    async def refresh(id: str) -> ProviderConfig:
        nonlocal fetched
        fetched += 1
        return ProviderConfig(id=id)

    async with open_wires() as wires:
        with fail_after(600):
            models = ConfiguredModels(
                Config(), Surroundings(catalog=embedded(), wires=wires, environment={}, refresh=refresh)
            )
            chosen = anyio.current_time()
            await anyio.sleep(1)
            answers = [await models.refresh("p", since=chosen), await models.refresh("p", since=chosen)]
            await anyio.sleep(1)
            answers.append(await models.refresh("p", since=anyio.current_time()))
    assert (answers, fetched) == ([True, True, True], 2)


@pytest.mark.parametrize(("takes_seconds", "seen"), [(0.5, False), (20, True)])
async def test_everybody_sees_that_fresh_credentials_take_a_while(takes_seconds: float, seen: bool) -> None:
    async def refresh(provider: str, *, since: float) -> bool:
        await anyio.sleep(takes_seconds)
        return True

    with fail_after(600):
        async with scene(DENIED, turn(Say("hello")), knobs=PATIENT) as stage:
            stage.models.refresh = refresh
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await anyio.sleep(min(10, takes_seconds / 2))
            waits = (await why(stage.workspace, session)).waits
            run = await stage.workspace.ended(run_id)
            waiting = await told(stage.store, e.RunWaiting)
    said = "scripted refused the credentials: fetching fresh ones."
    assert waiting == ([e.RunWaiting(run_id, e.Delay.REFRESH, 300.0, said, "scripted")] if seen else [])
    assert [wait.kind for wait in waits] == [WaitKind.REFRESH if seen else WaitKind.MODEL]
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "hello")


async def test_where_to_sign_in_is_told_to_everybody_as_soon_as_it_is_known() -> None:
    fetched = anyio.Event()

    async def refresh(provider: str, *, since: float) -> bool:
        await fetched.wait()
        return True

    page = "https://device.sso.example.org/?user_code=ABCD"
    with fail_after(600):
        async with scene(DENIED, turn(Say("hello")), knobs=PATIENT) as stage:
            stage.models.refresh = refresh
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await anyio.sleep(5)
            stage.models.show_page(page)
            await anyio.sleep(5)
            waits = (await why(stage.workspace, session)).waits
            fetched.set()
            run = await stage.workspace.ended(run_id)
            waiting = [wait.message for wait in await told(stage.store, e.RunWaiting)]
    said = "scripted refused the credentials: fetching fresh ones."
    assert waiting == [said, f"{said} Sign in at {page}"]
    assert page in str(waits)
    assert run.text == "hello"


async def test_credentials_that_never_come_are_not_waited_for_longer_than_agreed() -> None:
    async def refresh(provider: str, *, since: float) -> bool:
        await anyio.sleep_forever()
        raise AssertionError

    with fail_after(600):
        async with scene(DENIED, knobs=PATIENT) as stage:
            stage.models.refresh = refresh
            run = await stage.run("go", await stage.session("named"))
    assert run.failure is not None
    assert (run.outcome, run.failure.cause) == (Outcome.FAILED, Cause.AUTH)


async def test_a_run_waits_for_a_person_to_sign_in_and_everybody_sees_it() -> None:
    with fail_after(600):
        async with scene(DENIED, turn(Say("hello")), knobs=PATIENT) as stage:
            stage.models.people_sign_in = True
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await anyio.sleep(30)
            (waiting,) = await told(stage.store, e.RunWaiting)
            stage.models.sign_in()
            run = await stage.workspace.ended(run_id)
    said = "scripted no longer accepts the login: sign in again."
    assert waiting == e.RunWaiting(run_id, e.Delay.SIGN_IN, 300.0, said, "scripted")
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "hello")


async def test_somebody_who_signed_in_just_before_is_not_waited_for() -> None:
    with fail_after(10):
        async with scene(DENIED, turn(Say("hello")), knobs=PATIENT) as stage:
            stage.models.people_sign_in = True

            async def refresh(provider: str, *, since: float) -> bool:
                stage.models.sign_in()
                return False

            stage.models.refresh = refresh
            run = await stage.run("go", await stage.session("named"))
    assert run.text == "hello"


async def test_nobody_is_waited_for_longer_than_agreed() -> None:
    with fail_after(600):
        async with scene(DENIED, knobs=PATIENT) as stage:
            stage.models.people_sign_in = True
            began = anyio.current_time()
            run = await stage.run("go", await stage.session("named"))
            waited = anyio.current_time() - began
    assert waited == 300
    assert run.failure is not None
    assert run.failure.cause is Cause.AUTH
    assert run.failure.message.startswith("Nobody signed in to scripted within 300 seconds. Sign in")


async def test_the_wait_ends_at_once_when_the_run_is_cancelled() -> None:
    with fail_after(600):
        async with scene(DENIED, turn(Say("next")), knobs=PATIENT) as stage:
            stage.models.people_sign_in = True
            session = await stage.session("named")
            run_id = await stage.submit("go", session)
            await anyio.sleep(30)
            began = anyio.current_time()
            stopped = await cancel(stage.workspace, session)
            waited = anyio.current_time() - began
            busy = stage.workspace.is_busy(session)
            after = await stage.run("and now?", session)
    assert waited < 0.1
    assert ([(run.id, run.outcome) for run in stopped], busy) == ([(run_id, Outcome.CANCELLED)], False)
    assert after.text == "next"


async def test_the_wait_for_credentials_ends_at_once_when_the_run_is_cancelled() -> None:
    with fail_after(600):
        async with scene(DENIED, knobs=PATIENT) as stage:

            async def refresh(provider: str, *, since: float) -> bool:
                await anyio.sleep(math.inf)
                return True

            stage.models.refresh = refresh
            session = await stage.session("named")
            await stage.submit("go", session)
            await anyio.sleep(30)
            began = anyio.current_time()
            stopped = await cancel(stage.workspace, session)
            waited = anyio.current_time() - began
    assert (waited < 0.1, [run.outcome for run in stopped]) == (True, [Outcome.CANCELLED])


async def test_where_nobody_is_there_to_sign_in_the_run_fails_at_once() -> None:
    with fail_after(600):
        async with scene(DENIED, knobs=PATIENT) as stage:
            stage.models.people_sign_in = True
            began = anyio.current_time()
            run = await stage.run("go", await stage.session("named"), options=RunOptions(interactive=False))
            waited = anyio.current_time() - began
    assert (run.outcome, waited) == (Outcome.FAILED, 0)
