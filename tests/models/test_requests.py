"""What goes over the wire: how hard to think, what to cache, what to show again, each as its provider wants it."""

import json
from typing import Any

import httpx2
import msgspec
import pytest

from tests.models.scenes import INFO, LIST, adapter, answer, ask, call, message, result, thought, user
from turnkeeper.models.connection import Connection, Voice, merged
from turnkeeper.models.model import ModelInfo, ModelTrouble, Question, ToolSpec
from turnkeeper.models.quirks import quirks_of
from turnkeeper.protocol.config import SelectedModel
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import Binary, ImageUrl, Role, ShellCommand, Text, ToolCall

pytestmark = pytest.mark.anyio

KEY = "sk-0123456789"
LIMITED = SelectedModel(max_tokens=9_000)


class Wire:
    """Owns the requests that were sent; answers none of them."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(403, json={"error": {"message": "no more"}})


async def sent(
    connection: Connection,
    question: Question | None = None,
    *,
    info: ModelInfo = INFO,
    choice: SelectedModel | None = None,
) -> httpx2.Request:
    """The request that asking this question would send."""
    quirks, wire = quirks_of(connection), Wire()
    assert quirks is not None
    voice = Voice(connection, info, choice or SelectedModel())
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(wire)) as http:
        with pytest.raises(ModelTrouble, match="no more"):
            await answer(adapter(quirks.dialect, voice, quirks, http), question)
    return wire.requests[0]


def at(type: str, provider: str = "fake", **fields: Any) -> Connection:
    return Connection(provider=provider, type=type, api_key=KEY, **fields)


async def body(connection: Connection, question: Question | None = None, **given: Any) -> dict[str, Any]:
    return json.loads((await sent(connection, question, **given)).content)


@pytest.mark.parametrize(
    ("connection", "choice", "expected"),
    [
        (
            at("openai-compat", base_url="http://h/v1"),
            SelectedModel(reasoning_effort="high"),
            {"reasoning_effort": "high"},
        ),
        (
            at("openai-compat", base_url="http://h/v1"),
            SelectedModel(reasoning_effort="odd"),
            {"reasoning_effort": "low"},
        ),
        (at("openrouter"), SelectedModel(), {"reasoning": {"enabled": True, "effort": "low"}}),
        (at("openai-compat", "zai"), SelectedModel(think=True), {"thinking": {"type": "enabled"}, "tool_stream": True}),
        (at("openai-compat", "alibaba"), SelectedModel(think=True), {"enable_thinking": True}),
        (at("openai-compat", "baseten"), SelectedModel(), {"chat_template_args": {"enable_thinking": True}}),
        (at("openai-compat", "ionet"), SelectedModel(), {"reasoning": {"effort": "none"}}),
        (at("openai"), SelectedModel(), {"reasoning": {"summary": "auto", "effort": "low"}, "store": False}),
        (at("openai"), SelectedModel(), {"include": ["reasoning.encrypted_content"]}),
        (at("anthropic"), SelectedModel(), {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
    ],
)
async def test_a_model_is_told_to_think_in_its_provider_s_words(
    connection: Connection, choice: SelectedModel, expected: dict[str, Any]
) -> None:
    asked = await body(connection, choice=choice)
    assert {name: asked.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("id", "levels", "expected"),
    [
        ("gemini-2.5-pro", (), {"include_thoughts": True, "thinking_budget": 2000}),
        ("gemini-4-argon", ("low", "high"), {"include_thoughts": True, "thinking_level": "LOW"}),
    ],
)
async def test_gemini_thinks_by_budget_or_by_level(id: str, levels: tuple[str, ...], expected: dict[str, Any]) -> None:
    info = msgspec.structs.replace(INFO, id=id, reasoning_levels=levels)
    asked = await body(at("google"), info=info)
    assert asked["generationConfig"]["thinkingConfig"] == expected


async def test_claude_thinks_by_budget_where_it_knows_no_efforts_and_then_takes_no_temperature() -> None:
    info = msgspec.structs.replace(INFO, reasoning_levels=())
    choice = SelectedModel(think=True, temperature=0.3, max_tokens=9_000)
    request = await sent(at("anthropic"), info=info, choice=choice)
    asked = json.loads(request.content)
    assert asked["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert "temperature" not in asked
    assert request.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"


async def test_a_model_that_cannot_reason_is_not_told_to() -> None:
    info = msgspec.structs.replace(INFO, can_reason=False)
    chat = await body(at("openai-compat", base_url="http://h/v1"), info=info, choice=SelectedModel(think=True))
    assert not {"reasoning_effort", "reasoning", "thinking"} & set(chat)


def marks(value: Any) -> list[str]:
    """The texts and names that carry a cache mark, in their order."""
    match value:
        case {"cache_control": {"type": "ephemeral"}, **rest}:
            return [str(rest.get("text") or rest.get("name") or rest.get("content") or rest.get("function"))]
        case {**pairs}:
            return [found for inner in pairs.values() for found in marks(inner)]
        case [*items]:
            return [found for inner in items for found in marks(inner)]
        case _:
            return []


async def test_claude_is_told_what_stays_the_same() -> None:
    talk = ask(user("one"), message(Role.ASSISTANT, Text("two")), user("three"))
    asked = await body(at("anthropic"), talk)
    assert sorted(marks(asked)) == ["You are brief.", "ls", "three", "two"]
    quiet = at("anthropic", environment={"CRUSH_DISABLE_ANTHROPIC_CACHE": "1"})
    assert marks(await body(quiet, talk)) == []


async def test_vercel_marks_the_same_in_its_own_form() -> None:
    talk = ask(user("one"), message(Role.ASSISTANT, Text("two")), user("three"))
    asked = await body(at("vercel"), talk)
    assert len(marks(asked)) == 4
    assert marks(asked["messages"]) == ["You are brief.", "two", "three"]


async def test_thinking_is_shown_again_only_to_the_model_that_did_it() -> None:
    mine = message(Role.ASSISTANT, thought("hm", "sealed"), thought("", provider_data='{"redacted": "xx"}'), call("c"))
    theirs = message(Role.ASSISTANT, thought("hm", "sealed"), Text("so"), model="another")
    asked = await body(at("anthropic"), ask(user("a"), mine, message(Role.TOOL, result("c")), theirs, user("b")))
    kinds = [[block["type"] for block in one["content"]] for one in asked["messages"]]
    assert kinds == [["text"], ["thinking", "redacted_thinking", "tool_use"], ["tool_result"], ["text"], ["text"]]


async def test_openai_s_sealed_thinking_goes_back_in_front_of_its_call() -> None:
    kept = json.dumps({"id": "rs_1", "encrypted_content": "sealed", "summary": ["hm"]})
    talk = ask(
        user("a"),
        message(Role.ASSISTANT, thought("hm", provider_data=kept), call("c")),
        message(Role.TOOL, result("c")),
    )
    asked = await body(at("openai"), talk)
    assert [item.get("type", item.get("role")) for item in asked["input"]] == [
        "user",
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert asked["input"][1] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "sealed",
    }


async def test_gemini_s_signature_stays_with_its_call_and_a_stranger_s_call_gets_the_agreed_one() -> None:
    own = call("c", provider_data='{"thought_signature": "c2VhbGVk"}')
    answered = message(Role.TOOL, result("c"))
    mine = await body(at("google"), ask(user("a"), message(Role.ASSISTANT, own), answered))
    assert mine["contents"][1]["parts"][0]["thoughtSignature"] == "c2VhbGVk"
    theirs = await body(at("google"), ask(user("a"), message(Role.ASSISTANT, own, model="another"), answered))
    assert theirs["contents"][1]["parts"][0]["thoughtSignature"] not in ("", "c2VhbGVk")


@pytest.mark.parametrize(("provider", "field"), [("deepseek", "reasoning_content"), ("moonshot", "reasoning_content")])
async def test_who_wants_its_reasoning_back_as_text_gets_it(provider: str, field: str) -> None:
    spoken = message(Role.ASSISTANT, thought("hm"), call("c"), provider=provider)
    asked = await body(at("openai-compat", provider), ask(user("a"), spoken, message(Role.TOOL, result("c"))))
    assert asked["messages"][2][field] == "hm"


async def test_openrouter_gets_its_reasoning_details_back_as_they_were() -> None:
    details = [{"type": "reasoning.text", "text": "hm", "signature": "s", "index": 0}]
    spoken = message(Role.ASSISTANT, thought("hm", provider_data=json.dumps(details)), call("c"))
    asked = await body(at("openrouter"), ask(user("a"), spoken, message(Role.TOOL, result("c"))))
    assert asked["messages"][2]["reasoning_details"] == details


@pytest.mark.parametrize("type", ["anthropic", "openai"])
async def test_a_picture_stays_in_its_tool_result_where_that_is_possible(type: str) -> None:
    info = msgspec.structs.replace(INFO, media_in_tool_results=True)
    seen = message(Role.TOOL, result("c", "a picture", data="aGk=", mime_type="image/png"))
    asked = await body(at(type), ask(user("a"), message(Role.ASSISTANT, call("c")), seen), info=info)
    inside = asked["input"][-1]["output"] if type == "openai" else asked["messages"][-1]["content"][0]["content"]
    assert [part["type"] for part in inside] in (["input_text", "input_image"], ["text", "image"])
    assert "aGk=" in json.dumps(inside)


async def test_a_model_without_eyes_is_told_what_it_cannot_see() -> None:
    blind = msgspec.structs.replace(INFO, supports_images=False)
    picture = message(Role.USER, Text("look"), Binary("a.png", "image/png", b"hi"), ImageUrl("https://h/a.png"))
    shown = message(Role.TOOL, result("c", "", data="aGk=", mime_type="image/png"))
    talk = ask(picture, message(Role.ASSISTANT, call("c")), shown)
    asked = await body(at("openai-compat", base_url="http://h/v1"), talk, info=blind)
    assert asked["messages"][1]["content"] == "look\n\n[a.png was attached, but this model cannot see it.]"
    assert asked["messages"][3]["content"] == "(no output)\n[It held image/png, which this model cannot see.]"


async def test_files_and_commands_of_the_user_are_told_as_text() -> None:
    said = message(
        Role.USER,
        Text("  see  "),
        Binary("a.txt", "text/plain", b"hi"),
        ShellCommand("ls", "\x1b[31ma.py\x1b[0m\n", 0),
    )
    asked = await body(at("openai-compat", base_url="http://h/v1"), ask(said))
    assert asked["messages"][1]["content"] == ("see\n\n<file path='a.txt'>\nhi\n</file>\n\n$ ls\na.py\n(exit code 0)")


@pytest.mark.parametrize(
    ("written", "sent_on"),
    [
        ("", "{}"),
        ('{"path": "a"}', '{"path": "a"}'),
        ('{"path": "unfin', '{"unreadable_input": "{\\"path\\": \\"unfin"}'),
        ("[1]", '{"unreadable_input": "[1]"}'),
    ],
)
async def test_what_a_model_wrote_badly_is_shown_to_it_in_valid_json(written: str, sent_on: str) -> None:
    talk = ask(user("a"), message(Role.ASSISTANT, call("c", written)), message(Role.TOOL, result("c")))
    asked = await body(at("openai-compat", base_url="http://h/v1"), talk)
    assert asked["messages"][2]["tool_calls"][0]["function"]["arguments"] == sent_on


async def test_a_foreign_id_is_made_to_fit_and_its_answer_still_matches() -> None:
    talk = ask(
        user("a"), message(Role.ASSISTANT, call("toolu_01/odd id")), message(Role.TOOL, result("toolu_01/odd id"))
    )
    for connection, characters in (
        (at("openai-compat", "mistral"), 9),
        (at("openai-compat", base_url="http://h/v1"), 40),
    ):
        messages = (await body(connection, talk))["messages"]
        made, answered = messages[2]["tool_calls"][0]["id"], messages[3]["tool_call_id"]
        assert made == answered
        assert made.isalnum()
        assert len(made) == characters


async def test_a_tool_with_an_odd_name_is_offered_under_a_plain_one() -> None:
    odd = ToolSpec("mcp_my server_do.it", "does it", LIST.parameters)
    talk = ask(
        user("a"),
        message(Role.ASSISTANT, ToolCall(ToolCallId("c"), odd.name, "{}")),
        message(Role.TOOL, result("c")),
        tools=(odd,),
    )
    asked = await body(at("openai-compat", base_url="http://h/v1"), talk)
    offered = asked["tools"][0]["function"]["name"]
    assert offered.startswith("mcp_my_server_do_it_")
    assert asked["messages"][2]["tool_calls"][0]["function"]["name"] == offered


@pytest.mark.parametrize(
    ("connection", "url", "header", "value"),
    [
        (at("openai"), "https://api.openai.com/v1/responses", "authorization", f"Bearer {KEY}"),
        (
            at("openai-compat", "groq"),
            "https://api.groq.com/openai/v1/chat/completions",
            "authorization",
            f"Bearer {KEY}",
        ),
        (at("openrouter"), "https://openrouter.ai/api/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (
            at("openai-compat", "mistral"),
            "https://api.mistral.ai/v1/chat/completions",
            "authorization",
            f"Bearer {KEY}",
        ),
        (at("openai-compat", "xai"), "https://api.x.ai/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (
            at("openai-compat", "deepseek"),
            "https://api.deepseek.com/chat/completions",
            "authorization",
            f"Bearer {KEY}",
        ),
        (at("lmstudio"), "http://127.0.0.1:1234/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (at("llamacpp"), "http://127.0.0.1:8080/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (at("vllm"), "http://127.0.0.1:8000/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (
            at("openai-compat", "mine", base_url="https://mine.example/v1", headers={"x-team": "blue"}),
            "https://mine.example/v1/chat/completions",
            "x-team",
            "blue",
        ),
        (
            at("azure", base_url="https://me.openai.azure.com/"),
            "https://me.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
            "api-key",
            KEY,
        ),
        (at("anthropic", base_url="https://other.example/v1"), "https://other.example/v1/messages", "x-api-key", KEY),
        (
            Connection("mine", "anthropic", "https://other.example", "Bearer abcdefgh"),
            "https://other.example/v1/messages",
            "authorization",
            "Bearer abcdefgh",
        ),
        (
            at("bedrock", environment={"AWS_REGION": "eu-north-1"}),
            "https://bedrock-runtime.eu-north-1.amazonaws.com/model/fake-model/invoke-with-response-stream",
            "authorization",
            f"Bearer {KEY}",
        ),
        (
            at("vertex-anthropic", environment={"VERTEXAI_PROJECT": "p", "VERTEXAI_LOCATION": "europe-west1"}),
            (
                "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/anthropic"
                "/models/fake-model:streamRawPredict"
            ),
            "authorization",
            f"Bearer {KEY}",
        ),
        (
            at("google", base_url="https://proxy.example/v1beta"),
            "https://proxy.example/v1beta/models/fake-model:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            KEY,
        ),
        (
            at("google-vertex"),
            (
                "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/fake-model"
                ":streamGenerateContent?alt=sse"
            ),
            "x-goog-api-key",
            KEY,
        ),
    ],
)
async def test_each_provider_is_asked_at_its_place_with_its_key(
    connection: Connection, url: str, header: str, value: str
) -> None:
    request = await sent(connection)
    assert (str(request.url), request.headers.get(header)) == (url, value)


AWS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_SESSION_TOKEN": "passing"}


async def test_bedrock_without_a_key_is_asked_with_a_request_signed_by_aws_credentials() -> None:
    request = await sent(Connection("mine", "bedrock-europe", environment=AWS))
    assert request.url.host == "bedrock-runtime.eu-west-1.amazonaws.com"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert request.headers["x-amz-security-token"] == "passing"


@pytest.mark.parametrize(
    ("provider", "limit", "usage_asked"),
    [
        ("mistral", "max_tokens", False),
        ("groq", "max_completion_tokens", True),
        ("xai", "max_completion_tokens", True),
        ("deepseek", "max_tokens", True),
        ("mine", "max_tokens", True),
    ],
)
async def test_each_provider_is_told_its_limit_and_asked_for_its_counts_in_its_own_words(
    provider: str, limit: str, usage_asked: bool
) -> None:
    asked = await body(at("openai-compat", provider, base_url="https://h/v1"), choice=LIMITED)
    assert {name: asked[name] for name in asked if name.startswith("max_")} == {limit: 9_000}
    assert ("stream_options" in asked) is usage_asked


async def test_mistral_is_shown_ids_of_nine_plain_letters_that_still_match() -> None:
    talk = ask(
        user("look"),
        message(Role.ASSISTANT, call("call_0123456789-é")),
        message(Role.TOOL, result("call_0123456789-é")),
    )
    asked = (await body(at("openai-compat", "mistral"), talk))["messages"]
    (made,) = asked[2]["tool_calls"]
    assert len(made["id"]) == 9
    assert made["id"].isalnum()
    assert asked[3]["tool_call_id"] == made["id"]


async def test_a_server_without_a_key_is_sent_none() -> None:
    request = await sent(Connection("mine", "ollama"))
    assert str(request.url) == "http://127.0.0.1:11434/v1/chat/completions"
    assert "authorization" not in request.headers


@pytest.mark.parametrize("connection", [at("openai-compat"), at("azure"), at("vertex-anthropic")])
async def test_a_provider_that_lacks_its_place_says_so(connection: Connection) -> None:
    quirks = quirks_of(connection)
    assert quirks is not None
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(Wire())) as http:
        with pytest.raises(ModelTrouble) as caught:
            await answer(adapter(quirks.dialect, Voice(connection, INFO), quirks, http))
    assert caught.value.title == "Not Configured"


async def test_what_the_user_adds_to_a_request_wins_over_everything() -> None:
    connection = at("openai-compat", base_url="http://h/v1", extra_body={"top_k": 1, "reasoning_effort": "max"})
    asked = await body(connection, choice=SelectedModel(provider_options={"top_k": 2}))
    assert (asked["top_k"], asked["reasoning_effort"]) == (2, "max")


def test_options_are_merged_to_their_depth() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}}, {"d": {"e": 5}}) == {
        "a": {"b": 4, "c": 2},
        "d": {"e": 5},
    }


def test_a_connection_never_prints_its_key() -> None:
    connection = Connection("mine", "anthropic", api_key="Bearer very-secret", headers={"x-token": "other-secret"})
    assert "secret" not in repr(connection) + repr(Voice(connection, INFO))
    assert connection.scrub("Bearer very-secret, very-secret, other-secret") == "***, ***, ***"
