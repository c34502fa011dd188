"""The mark of tests that need a program nobody here wrote."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "external: needs a server nobody here wrote, which npm fetches; skipped without a network, but not in CI",
    )
