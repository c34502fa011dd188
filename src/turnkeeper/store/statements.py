"""The SQL of this room, by name.

A statement begins with `-- name: …` and a sentence that says what it is for; the files are in `sql/`.
"""

from pathlib import Path

SQL = Path(__file__).parent / "sql"
HEADING = "-- name: "


def load(name: str) -> dict[str, str]:
    """The statements of one file."""
    text = (SQL / f"{name}.sql").read_text("utf-8")
    return dict(_statement(block) for block in text.split(HEADING)[1:])


def _statement(block: str) -> tuple[str, str]:
    name, *lines = block.strip().splitlines()
    return name.strip(), "\n".join(line for line in lines if not line.startswith("--"))


def migrations() -> list[str]:
    """Each takes the schema from the version before its number to its number; the first is number 1."""
    return [path.read_text("utf-8") for path in sorted(SQL.glob("migrate_*.sql"))]
