"""Which files want a look of their own, by their names: those that hold keys, and those that have something run later.

What allows all files allows none of these that it does not name.
"""

import re
from fnmatch import translate

NAMES = """
    .env .env.* *.env .envrc
    *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk
    id_rsa* id_dsa* id_ecdsa* id_ed25519*
    .netrc _netrc .pgpass .npmrc .pypirc .htpasswd .git-credentials
    credentials credentials.json secrets.json secrets.toml secrets.yaml secrets.yml service-account*.json
    *.tfstate *.tfvars
"""
EXAMPLES = "*.example *.sample *.template *.dist *.defaults *.pub"
PLACES = """
    */.ssh/* */.aws/* */.azure/* */.gnupg/* */.kube/config */.docker/config.json */.config/gcloud/*
"""
STEERING = """
    */.git */.git/* */.turnkeeper/* */.crush/* */.husky/* */.githooks/* */.vscode/* */.idea/*
    */.envrc */crush.json */.crush.json */crushrc */.crushrc */turnkeeper.toml */.turnkeeper.toml
"""
"""Hooks and settings: who writes them has something run when nobody is asked any more."""
HARMLESS_PLACES = "*/.ssh/known_hosts* */.ssh/config"


def _any_of(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split())))


_NAME, _EXAMPLE, _PLACE, _HARMLESS, _STEERING = map(_any_of, (NAMES, EXAMPLES, PLACES, HARMLESS_PLACES, STEERING))


def is_steering(path: str) -> bool:
    return bool(_STEERING.match(_folded(path)))


def _folded(path: str) -> str:
    return "/" + path.replace("\\", "/").casefold().lstrip("/")


def is_secret(path: str) -> bool:
    folded = _folded(path)
    name = folded.rpartition("/")[2]
    if _EXAMPLE.match(name) or _HARMLESS.match(folded):
        return False
    return bool(_NAME.match(name) or _PLACE.match(folded))
