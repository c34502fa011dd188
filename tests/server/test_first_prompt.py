"""One prompt, walked from POST to run_complete, as two clients see it."""

from anyio import fail_after

from turnkeeper.models.scripted import Say, turn
from turnkeeper.testing.front import front


async def test_two_clients_of_one_directory_see_the_same_run_end() -> None:
    with fail_after(10):
        async with front(turn(Say("hello"))) as house:
            one, other = await house.client("/here"), await house.client("/here")
            assert one.workspace == other.workspace
            async with one.events() as seen, other.events() as watched:
                session = await one.session()
                assert (await one.prompt(session, "hi", "r1")).status == 202
                ending = await seen.next("run_complete")
                assert ending == await watched.next("run_complete")
    assert ending == {"session_id": session, "run_id": "r1", "message_id": ending["message_id"], "text": "hello"}
