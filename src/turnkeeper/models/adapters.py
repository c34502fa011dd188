"""Which dialect answers for a voice. The dialects themselves are light; their libraries come with a question."""

import httpx2

from turnkeeper.models.anthropic import Anthropic
from turnkeeper.models.connection import Voice
from turnkeeper.models.google import Google
from turnkeeper.models.model import Model
from turnkeeper.models.offline import OfflineModel
from turnkeeper.models.openai_chat import OpenAIChat
from turnkeeper.models.openai_responses import OpenAIResponses
from turnkeeper.models.quirks import Dialect, Quirks
from turnkeeper.models.scripted import ScriptedModel


def adapter(voice: Voice, quirks: Quirks, http: httpx2.AsyncClient) -> Model:
    match quirks.dialect:
        case Dialect.CHAT:
            return OpenAIChat(voice, quirks, http)
        case Dialect.RESPONSES:
            return OpenAIResponses(voice, quirks, http)
        case Dialect.ANTHROPIC:
            return Anthropic(voice, quirks, http)
        case Dialect.GOOGLE:
            return Google(voice, quirks, http)
        case Dialect.OFFLINE:
            return OfflineModel()
        case Dialect.SCRIPTED:
            return ScriptedModel(info=voice.info)
