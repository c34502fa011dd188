"""What one is told before one begins: where one is, what models are told of it, who is here, what is not right."""

from textual.content import Content

from tests.tui.dialogs.house import at_home
from turnkeeper.client.view import View
from turnkeeper.protocol.wire_clients import ClientView
from turnkeeper.protocol.wire_config import ConfigNotice, ConfigState, ConfigWaiting
from turnkeeper.protocol.wire_overview import ProjectNotes
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.settings import SettingsDialog
from turnkeeper.tui.side.around import Facts
from turnkeeper.tui.side.landing import about, here_too, listed, notes

# A repository as git leaves it, as far as asking for its branch needs.
REPOSITORY = {
    ".git/HEAD": "ref: refs/heads/mend-it\n",
    ".git/config": "[core]\n\trepositoryformatversion = 0\n",
    ".git/objects/info/alternates": "",
    ".git/refs/heads/.keep": "",
}


def told(facts: Facts, *people: str, has_sessions: bool = True) -> list[str]:
    return notes(facts, people, has_sessions).plain.splitlines()


def test_the_branch_stands_beside_the_place() -> None:
    shown: Content = about(Facts(project=ProjectNotes(branch="mend-it")), "/srv/game")
    assert "/srv/game  on mend-it" in shown.plain
    assert " on " not in about(Facts(), "/srv/game").plain


def test_what_models_are_told_is_named_and_then_nobody_is_asked_to_write_it() -> None:
    rules = ("AGENTS.md", "docs/rules.md")
    assert told(Facts(project=ProjectNotes(rules=rules), needs_init=True)) == [
        "Models are told what stands in AGENTS.md, docs/rules.md."
    ]
    assert told(Facts(needs_init=True)) == [
        "Nobody has described this project yet; /init looks at it and writes AGENTS.md."
    ]


def test_who_is_here_is_named_and_oneself_is_not() -> None:
    people = {id: ClientView(client_id=id, name=id.title()) for id in ("ann", "bob", "me")}
    assert here_too(View(clients=people), "me") == ["Ann", "Bob"]
    assert told(Facts(), "Ann", "Bob") == ["Here too: Ann, Bob"]
    assert listed([str(number) for number in range(9)]) == "0, 1, 2, 3 and 5 more"


def test_what_is_not_in_force_is_told_once_with_where_to_look() -> None:
    waiting = (ConfigWaiting("/home/ann/crush.json", "d", ("hooks",)),)
    aside = ConfigNotice("hooks is set aside until you trust this file", "/home/ann/crush.json")
    waits = "/home/ann/crush.json waits to be trusted, and is not in force. /settings shows it."
    assert told(Facts(settings=ConfigState(waiting=waiting, notices=(aside,)))) == [waits]
    assert told(Facts(settings=ConfigState(waiting=waiting, notices=(aside, ConfigNotice("odd"))))) == [
        waits,
        "Something is wrong with the settings. /settings tells what.",
    ]


async def test_a_cloned_project_is_trusted_from_the_terminal_and_the_landing_says_what_it_tells_models() -> None:
    files = {"crush.json": '{"env": {"GREETING": "hi"}}', "AGENTS.md": "Be kind.\n", **REPOSITORY}
    async with at_home(files=files) as at:
        await at.shows("on mend-it", "Models are told what stands in AGENTS.md", "crush.json waits to be trusted")
        await at.type("/settings\n")
        await at.until(lambda: isinstance(at.app.screen, SettingsDialog))
        await at.shows("waits to be trusted:", "(env.GREETING)")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, ConfirmDialog))
        await at.shows("came with the project", "env.GREETING", '{"env": {"GREETING": "hi"}}')
        await at.press("n")
        await at.until(lambda: isinstance(at.app.screen, SettingsDialog))
        assert len((await at.workspace.config.state()).waiting) == 1
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, ConfirmDialog))
        await at.press("y")
        await at.until(lambda: "waits to be trusted" not in at.screen_text())
        assert (await at.workspace.config.state()).waiting == ()
