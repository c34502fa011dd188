"""Which files hold keys and passwords, by their names: somebody is asked before any of them is read or written."""

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
HARMLESS_PLACES = "*/.ssh/known_hosts* */.ssh/config"


def _any_of(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split())))


_NAME, _EXAMPLE, _PLACE, _HARMLESS = map(_any_of, (NAMES, EXAMPLES, PLACES, HARMLESS_PLACES))


def is_secret(path: str) -> bool:
    folded = "/" + path.replace("\\", "/").casefold().lstrip("/")
    name = folded.rpartition("/")[2]
    if _EXAMPLE.match(name) or _HARMLESS.match(folded):
        return False
    return bool(_NAME.match(name) or _PLACE.match(folded))
