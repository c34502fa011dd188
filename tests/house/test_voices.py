"""A workspace's voices as its settings describe them: asked over a real socket, with keys that are worked out."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import fail_after

from tests.settings.scene import Scene
from turnkeeper.house.voices import page_in
from turnkeeper.models.offline import HONESTY
from turnkeeper.models.scripted import CallTool, Say, Think
from turnkeeper.testing.fake_provider import KEY, FakeProvider, fake_provider
from turnkeeper.testing.front import Client
from turnkeeper.testing.house import house


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@asynccontextmanager
async def opened(scene: Scene, provider: str, more: str = "") -> AsyncGenerator[tuple[Client, FakeProvider]]:
    """A workspace whose model is at a fake; `provider` is what its settings say beside where it is."""
    with fail_after(30):
        async with fake_provider() as fake, house() as door:
            settings(scene, fake, provider, more)
            yield await door.client(scene.project, env=scene.env), fake


def settings(scene: Scene, fake: FakeProvider, provider: str, more: str = "") -> None:
    scene.write(
        "user",
        "turnkeeper.toml",
        f"""
        providers.quiet = {{ type = "offline" }}
        models.large = {{ provider = "mine", model = "m" }}
        models.small = {{ provider = "quiet", model = "offline" }}
        [providers.mine]
        base_url = "{fake.base_url("chat")}"
        models = [{{ id = "m" }}]
        {provider}
        {more}
        """,
    )


async def ended(client: Client, run_id: str) -> dict[str, str]:
    async with client.events() as events:
        await client.prompt(await client.session("Named"), "hello", run_id)
        return await events.next("run_complete", run_id=run_id)


async def test_where_nobody_is_configured_the_offline_assistant_uses_the_real_tools_and_says_who_it_is_once(
    scene: Scene,
) -> None:
    (scene.project / "a.py").write_text("# TODO one\n\n# TODO two\n")
    with fail_after(30):
        async with house() as door:
            client = await door.client(scene.project, env=scene.env, yolo=True)
            session = await client.session("Named")
            texts: list[str] = []
            async with client.events() as events:
                for number, asked in enumerate(("show a.py", "count TODOs", "how many python files are there?")):
                    await client.prompt(session, asked, f"r{number}", options={"large_model": "offline"})
                    texts.append((await events.next("run_complete", run_id=f"r{number}"))["text"])
    assert texts == [
        f"This is a.py:\n\n```\n# TODO one\n\n# TODO two\n```\n\n{HONESTY}",
        "There are 2 lines with 'TODO' in this directory and below.",
        "There is 1 *.py file in this directory and below, not counting hidden ones.",
    ]


async def test_a_providers_own_words_stand_before_the_prompt_once(scene: Scene) -> None:
    async with opened(scene, f'api_key = "{KEY}"\nsystem_prompt_prefix = "Be kind to cats."') as (client, fake):
        fake.answer(Say("hi"))
        assert not (await ended(client, "r")).get("error")
        (asked,) = fake.asked
        said = asked.body["messages"][0]["content"]
        assert said.startswith("Be kind to cats.")
        assert said.count("Be kind to cats.") == 1


async def test_a_session_that_was_recorded_is_played_again_without_its_provider_and_holds_no_key(
    scene: Scene,
) -> None:
    tape, key = scene.root / "talk.json", "an-unusual-key"
    with fail_after(30):
        for variable in ("TURNKEEPER_RECORD", "TURNKEEPER_REPLAY"):
            async with fake_provider() as fake, house(environment={variable: str(tape)}) as door:
                settings(scene, fake, f'api_key = "{key if variable.endswith("REPLAY") else KEY}"')
                fake.answer(CallTool("c", "ls", "{}"))
                fake.answer(Say("one"))
                fake.answer(Say("two"))
                client = await door.client(scene.project, env=scene.env)
                texts = [(await ended(client, run_id))["text"] for run_id in (f"{variable}-1", f"{variable}-2")]
                assert texts == ["one", "two"]
                assert len(fake.asked) == (3 if variable.endswith("RECORD") else 0)
    assert KEY not in tape.read_text()
    assert tape.stat().st_mode & 0o077 == 0


async def test_a_key_that_cannot_be_worked_out_spoils_nobody_elses(scene: Scene) -> None:
    broken = """
        [providers.vault]
        base_url = "http://127.0.0.1:9/v1"
        api_key = "$(exit 3)"
        models = [{ id = "v" }]
        """
    async with opened(scene, f'api_key = "{KEY}"', broken) as (client, fake):
        fake.answer(Say("hi"))
        assert (await ended(client, "r"))["text"] == "hi"


async def test_who_is_refused_runs_the_users_own_command_for_fresh_credentials_and_asks_again(scene: Scene) -> None:
    key, runs = scene.root / "key", scene.root / "runs"
    key.write_text("stale-key")
    command = f"echo fetched >> {runs}; echo {KEY} > {key}"
    async with opened(scene, f'api_key = "$(cat {key})"\naws_auth_refresh = "{command}"') as (client, fake):
        fake.answer(Say("hi"))
        assert (await ended(client, "r"))["text"] == "hi"
        assert [asked.headers["authorization"] for asked in fake.asked] == ["Bearer stale-key", f"Bearer {KEY}"]
        assert runs.read_text() == "fetched\n"


async def test_the_page_that_a_command_for_fresh_credentials_names_is_shown_while_it_waits(scene: Scene) -> None:
    key, go_on, page = scene.root / "key", scene.root / "go-on", "https://device.sso.example.org/?user_code=ABCD"
    key.write_text("stale-key")
    os.mkfifo(go_on)
    command = f"echo 'Open {page}' >&2; cat {go_on}; echo {KEY} > {key}"
    async with (
        opened(scene, f'api_key = "$(cat {key})"\naws_auth_refresh = "{command}"') as (client, fake),
        client.events(detail="detail") as seen,
    ):
        fake.answer(Say("hi"))
        session = await client.session()
        await client.prompt(session, "go", "r")
        with fail_after(20):
            while page not in (await seen.next("run_waiting"))["message"]:
                pass
        await anyio.Path(go_on).write_text("")
        assert (await seen.next("run_complete", run_id="r"))["text"] == "hi"


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("Open https://a.example/?code=1\nor https://b.example\n", "https://a.example/?code=1"),
        ('{"url": "https://a.example/x"}', "https://a.example/x"),
        ("http://a.example is none\n", ""),
        ("https://a.example/not-yet-who", ""),
        ("", ""),
    ],
)
def test_a_page_is_the_first_safe_address_that_was_said_to_its_end(said: str, page: str) -> None:
    assert page_in(said) == page


async def test_a_command_for_fresh_credentials_that_fails_leaves_the_providers_word(scene: Scene) -> None:
    async with opened(scene, 'api_key = "stale-key-0"\naws_auth_refresh = "exit 1"') as (client, _):
        ending = await ended(client, "r")
        assert "Sign in to the provider again" in ending["error"]
        assert "stale-key-0" not in ending["error"]


async def test_a_person_signs_in_while_a_run_waits_and_it_goes_on(scene: Scene) -> None:
    async with (
        opened(scene, 'oauth = { access_token = "a-login-that-ended" }') as (client, fake),
        client.events() as seen,
    ):
        fake.answer(Say("hi"))
        await client.prompt(await client.session("Named"), "hello", "r")
        asked = await seen.next("agent_event", provider_id="mine")
        assert asked["type"] == "re_authenticate"
        said = {"scope": 0, "provider_id": "mine", "kind": "string", "api_key": KEY}
        assert (await client.http.post(client.path("/config/provider-key"), said)).status == 200
        assert (await seen.next("run_complete", run_id="r"))["text"] == "hi"
        # Who signed in before anybody waited is heard by nobody later: the next refusal is waited for again.
        other = said | {"api_key": "another-that-ended"}
        assert (await client.http.post(client.path("/config/provider-key"), other)).status == 200
        session = await client.session("Named")
        await client.prompt(session, "again", "r2")
        await seen.next("agent_event", provider_id="mine")
        await client.cancel(session)
        assert (await seen.next("run_complete", run_id="r2"))["cancelled"]


async def test_another_model_of_another_dialect_goes_on_with_what_was_said(scene: Scene) -> None:
    (scene.project / "a.py").write_text("x = 1\n")
    with fail_after(30):
        async with fake_provider() as fake, house() as door:
            claude = f"""
                [providers.claude]
                type = "anthropic"
                base_url = "{fake.base_url("anthropic")}"
                api_key = "{KEY}"
                models = [{{ id = "c", default_max_tokens = 1000 }}]
                """
            settings(scene, fake, f'api_key = "{KEY}"', claude)
            client = await door.client(scene.project, env=scene.env)
            session = await client.session("Named")
            async with client.events() as events:
                fake.answer(
                    Think("pondering deeply"), Say("I look."), CallTool("call-1", "view", {"file_path": "a.py"})
                )
                fake.answer(Say("It is one."))
                await client.prompt(session, "what is x?", "r1")
                await events.next("run_complete", run_id="r1")
                chosen = {"scope": 0, "model_type": "large", "model": {"provider": "claude", "model": "c"}}
                assert (await client.http.post(client.path("/config/model"), chosen)).status == 200
                fake.answer(Say("Still one."))
                await client.prompt(session, "and now?", "r2")
                assert (await events.next("run_complete", run_id="r2"))["text"] == "Still one."
    assert [asked.dialect for asked in fake.asked] == ["chat", "chat", "anthropic"]
    assert fake.violations == []
    told = json.dumps(fake.asked[-1].body["messages"])
    places = [told.index(text) for text in ("what is x?", "I look.", "tool_use", "x = 1", "It is one.", "and now?")]
    assert places == sorted(places)
    assert "pondering" not in told, "nobody else's thinking is shown"
