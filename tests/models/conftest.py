"""The mark of tests that need a program nobody here wrote."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "external: needs Node and a server nobody here wrote; skipped without them")
