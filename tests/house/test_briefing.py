"""What a model is told before the conversation: the facts as they are now, and the same text as long as they are."""

import os
import subprocess
from pathlib import Path

import anyio
import pytest

from tests.settings.scene import Scene
from turnkeeper.house.briefing import Briefing


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    (made.project / ".git").rmdir()
    return made


async def prompt(briefing: Briefing, scene: Scene, kind: str = "coder", model: str = "m") -> str:
    (text,) = await briefing.system(kind, model=model, provider="p", workdir=scene.project)
    return text


async def test_a_context_file_that_changes_is_told_with_the_next_question_and_nothing_else_changes_the_text(
    scene: Scene,
) -> None:
    (scene.project / "AGENTS.md").write_text("Use tabs.")
    briefing = Briefing(scene.load())
    first = await prompt(briefing, scene)
    assert "Use tabs." in first
    (scene.project / "unrelated.py").write_text("x")
    assert await prompt(briefing, scene, model="another") == first
    assert await prompt(Briefing(scene.load()), scene) == first, "whoever builds it"
    (scene.project / "AGENTS.md").write_text("Use spaces, please.")
    changed = await prompt(briefing, scene)
    assert changed == first.replace("Use tabs.", "Use spaces, please.")
    (scene.project / "crush.md").write_text("And be brief.")
    assert "And be brief." in await prompt(briefing, scene)
    (scene.project / "AGENTS.md").unlink()
    assert "Use spaces" not in await prompt(briefing, scene)


async def test_another_branch_is_told_with_the_next_question(scene: Scene) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *author, *words], cwd=scene.project, env=scene.env, check=True, capture_output=True)

    git("init", "--initial-branch", "trunk")
    git("commit", "--allow-empty", "--message", "begin")
    briefing = Briefing(scene.load())
    assert "trunk" in await prompt(briefing, scene)
    git("checkout", "-b", "elsewhere")
    assert "elsewhere" in await prompt(briefing, scene)


async def test_titles_and_summaries_have_prompts_of_their_own_without_the_facts(scene: Scene) -> None:
    (scene.project / "AGENTS.md").write_text("Use tabs.")
    briefing = Briefing(scene.load())
    texts = [await prompt(briefing, scene, kind) for kind in ("coder", "task", "title", "summary")]
    assert len(set(texts)) == len(texts)
    assert ["Use tabs." in text for text in texts] == [True, False, False, False]


async def test_what_a_link_leads_to_elsewhere_is_told_to_no_model(scene: Scene) -> None:
    """A project that was cloned can hold any link; instructions are read without asking anybody."""
    (scene.project.parent / "elsewhere.md").write_text("PRIVATE-ONE")
    (scene.project / ".env").write_text("PRIVATE-TWO")
    (scene.project / "docs").mkdir()
    (scene.project / "docs" / "rules.md").write_text("Be kind.")
    os.mkfifo(scene.project / "pipe")
    (scene.project / "AGENTS.md").symlink_to("../elsewhere.md")
    (scene.project / "CLAUDE.md").symlink_to(".env")
    (scene.project / "GEMINI.md").symlink_to("pipe")
    (scene.project / "CRUSH.md").symlink_to("docs/rules.md")
    with anyio.fail_after(5):
        text = await prompt(Briefing(scene.load()), scene)
    assert "PRIVATE" not in text
    assert "Be kind." in text


async def test_a_part_of_a_repository_is_told_the_instructions_of_the_whole(scene: Scene) -> None:
    (scene.project / ".git").mkdir()
    (scene.project / "AGENTS.md").write_text("Use tabs.")
    part = scene.project / "part"
    part.mkdir()
    (part / "AGENTS.md").symlink_to("../AGENTS.md")
    (text,) = await Briefing(scene.load()).system("coder", model="m", provider="p", workdir=part)
    assert "Use tabs." in text
