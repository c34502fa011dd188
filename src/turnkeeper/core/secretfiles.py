"""Which files hold keys and passwords, by their names: someone is asked before any of them is read or written."""

import re
from fnmatch import fnmatchcase

from turnkeeper.core.commandline import scan

NAMES = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "service-account*.json",
)
EXAMPLES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults", "*.pub")
PLACES = ("*/.ssh/*", "*/.aws/*", "*/.gnupg/*", "*/.kube/config", "*/.docker/config.json", "*/.config/gcloud/*")
HARMLESS_PLACES = ("*/.ssh/known_hosts*", "*/.ssh/config")


def is_secret(path: str) -> bool:
    folded = "/" + path.replace("\\", "/").casefold().lstrip("/")
    name = folded.rpartition("/")[2]
    if fits_any(name, EXAMPLES) or fits_any(folded, HARMLESS_PLACES):
        return False
    return fits_any(name, NAMES) or fits_any(folded, PLACES)


def names_secret(command: str) -> bool:
    """Whether any word of a command line names such a file, also as the value of an option (`--file=.env`)."""
    words = (word for words in scan(command).commands for word in words)
    return any(is_secret(piece) for word in words for piece in re.split(r"[=:@,]", word) if piece)


def fits_any(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
