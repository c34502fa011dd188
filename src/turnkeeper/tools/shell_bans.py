"""Commands that a model may not run at all, whoever would agree to it."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from turnkeeper.tools.shell_words import Word, as_run, names

NETWORK = """
aria2c axel chrome curl curlie firefox http-prompt httpie links lynx nc safari scp ssh telnet w3m wget xh
"""
AUTHORITY = "doas su sudo"
PACKAGES = """
apk apt apt-cache apt-get dnf dpkg emerge home-manager makepkg opkg pacman paru pkg pkg_add pkg_delete portage rpm
yay yum zypper
"""
SYSTEM = "alias at batch chkconfig crontab fdisk mkfs mount parted service systemctl umount"
ADDRESSES = "firewall-cmd ifconfig ip iptables netstat pfctl route ufw"


class Form(msgspec.Struct, frozen=True):
    """A command that is banned in one form only: with these words first, and these flags if any."""

    command: str
    words: tuple[str, ...]
    flags: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.command, *self.words, *self.flags))


FORMS = (
    Form("brew", ("install",)),
    Form("cargo", ("install",)),
    Form("gem", ("install",)),
    Form("go", ("install",)),
    Form("go", ("test",), ("-exec",)),
    Form("npm", ("install",), ("--global",)),
    Form("npm", ("install",), ("-g",)),
    Form("npm", ("i",), ("--global",)),
    Form("npm", ("i",), ("-g",)),
    Form("pip", ("install",), ("--user",)),
    Form("pip3", ("install",), ("--user",)),
    Form("pnpm", ("add",), ("--global",)),
    Form("pnpm", ("add",), ("-g",)),
    Form("yarn", ("global", "add")),
)


class Bans(msgspec.Struct, frozen=True):
    """What is banned: whole commands, and forms of others."""

    commands: frozenset[str] = names(f"{NETWORK} {AUTHORITY} {PACKAGES} {SYSTEM} {ADDRESSES}")
    forms: tuple[Form, ...] = FORMS

    def without(self, *commands: str) -> "Bans":
        """These bans, less the commands a person wants allowed."""
        return Bans(self.commands - set(commands), tuple(form for form in self.forms if form.command not in commands))

    def adding(self, *commands: str) -> "Bans":
        """These bans, and these commands."""
        return Bans(self.commands | set(commands), self.forms)

    def banned(self, words: Sequence[Word], assigned: Mapping[str, str]) -> str:
        """Which ban forbids the command, or nothing."""
        texts = as_run(words, assigned)
        name = texts[0].rpartition("/")[2].lower().removesuffix(".exe") if texts else ""
        if name in self.commands or name.partition(".")[0] in self.commands & {"mkfs"}:
            return name
        if re.search(r"[*?\[]", name) and not words[0].literal:
            return next((one for one in sorted(self.commands) if fnmatchcase(one, name)), "")
        return next((str(form) for form in self.forms if form.command == name and _has_form(texts[1:], form)), "")


STANDARD = Bans()


def _has_form(texts: Sequence[str], form: Form) -> bool:
    plain = [text for text in texts if not text.startswith("-")]
    given = {flag for text in texts if text.startswith("-") for flag in _flags(text)}
    return tuple(plain[: len(form.words)]) == form.words and given.issuperset(form.flags)


def _flags(text: str) -> set[str]:
    """`-ab` is also `-a` and `-b`; `--flag=value` is `--flag`."""
    name = text.partition("=")[0]
    return {name} if name.startswith("--") else {name, *(f"-{letter}" for letter in name[1:])}
