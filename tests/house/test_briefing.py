"""What a model is told before the conversation: the facts as they are now, and the same text as long as they are."""

import subprocess
from pathlib import Path

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
