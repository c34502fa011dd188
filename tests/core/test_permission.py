"""A call is judged by the rules as they stand, narrowly where they allow and widely where they forbid."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnkeeper.core.granting import grant_for
from turnkeeper.core.permission import Judgement, Level, Rules, judge, rules_for
from turnkeeper.core.ruletext import explain, parse_rule, parse_rules, rule_text
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.requests import Grant, Rule, Verdict
from turnkeeper.protocol.runs import RunOptions

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
WORKDIR = "/home/ada/app"
PARENT, CHILD, OTHER = SessionId("p"), SessionId("p$$c"), SessionId("o")


def allow(*texts: str) -> tuple[Rule, ...]:
    return parse_rules(texts, ALLOW)


def deny(*texts: str) -> tuple[Rule, ...]:
    return parse_rules(texts, DENY)


def ask(*texts: str) -> tuple[Rule, ...]:
    return parse_rules(texts, ASK)


def ruled(
    rules: Rules, tool: str, *subjects: str, action: str = "", safe: bool = False, approved: bool = False
) -> Verdict:
    return judge(
        rules, tool=tool, action=action, subjects=subjects, workdir=WORKDIR, safe=safe, approved=approved
    ).verdict


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (Rules(), ASK),
        (Rules(config=allow("bash")), ALLOW),
        (Rules(config=allow("bash:execute")), ALLOW),
        (Rules(config=allow("bash:read")), ASK),
        (Rules(config=allow("edit", "view")), ASK),
        (Rules(config=allow("*")), ALLOW),
        (Rules(config=allow("bash(git status)")), ALLOW),
        (Rules(config=allow("Bash(git:*)")), ALLOW),
        (Rules(config=allow("bash(git *)")), ALLOW),
        (Rules(config=allow("bash(git)")), ASK),
        (Rules(config=(*allow("bash"), *ask("bash(git:*)"))), ASK),
        (Rules(config=(*ask("bash"), *allow("bash(git:*)"))), ALLOW),
        (Rules(config=(*deny("bash"), *allow("bash(git:*)"))), DENY),
        (Rules(config=allow("bash"), default=deny("bash")), ALLOW),
        (Rules(config=deny("bash"), default=allow("bash")), DENY),
        (Rules(session=allow("bash(git:*)"), config=ask("bash")), ALLOW),
        (Rules(session=deny("bash"), workspace=allow("bash"), always=allow("bash")), DENY),
        (Rules(run=allow("bash"), config=deny("bash")), ALLOW),
        (Rules(run=deny("bash(git:*)"), session=allow("bash")), DENY),
    ],
)
def test_the_highest_level_with_a_matching_rule_decides_and_in_it_a_deny_or_else_the_last(
    rules: Rules, verdict: Verdict
) -> None:
    assert ruled(rules, "bash", "git status", action="execute") is verdict


def test_a_judgement_says_what_it_rests_on() -> None:
    rule = parse_rule("bash(rm:*)", DENY)
    assert judge(
        Rules(config=(rule,)), tool="bash", action="execute", subjects=["ls", "rm -rf x"], workdir=WORKDIR
    ) == Judgement(DENY, "rm -rf x", rule, Level.CONFIG)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        (["git status", "git log"], ALLOW),
        (["git status", "npm test"], ASK),
        (["npm test", "git status"], ASK),
        (["git status", "npm test", "git push"], DENY),
        (["git push", "git status"], DENY),
    ],
)
def test_one_denied_part_denies_a_compound_command_and_one_open_part_is_asked_about(
    parts: list[str], verdict: Verdict
) -> None:
    rules = Rules(config=(*allow("bash(git:*)"), *deny("bash(git push:*)")))
    assert ruled(rules, "bash", *parts) is verdict


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf x",
        "git status && rm x",
        "git status\nrm x",
        "git status & rm x",
        "git status | sh",
        "git log > .bashrc",
        "git log $(rm x)",
        'git log "$(rm x)"',
        "git log `rm x`",
        "git log <(rm x)",
        "git 'log",
        'git "log',
        "git log \\",
        "gitx status",
        "./git status",
        "X=1 git status",
        "env git status",
        "$'git' status",
        "git status # then",
        "",
    ],
)
def test_an_allowance_of_a_command_covers_nothing_but_that_one_plain_command(command: str) -> None:
    assert ruled(Rules(config=allow("bash(git:*)")), "bash", command) is ASK


@pytest.mark.parametrize(
    "command", ["git", "git status", "git commit -m 'a; b && c\n$(d)'", 'git log "a|b"', "git \\\n status", "git $DIR"]
)
def test_quotes_do_not_keep_a_plain_command_from_being_allowed(command: str) -> None:
    assert ruled(Rules(config=allow("bash(git:*)")), "bash", command) is ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "ls; rm x",
        "ls && rm x",
        "ls\nrm x",
        "(rm x)",
        "{ rm x; }",
        "if true; then rm x; fi",
        "X=1 Y=2 rm x",
        "env -u HOME rm x",
        "sudo -u root timeout 5 /usr/bin/rm x",
        "ls | xargs -n 1 rm",
        "find . -name '*.o' -exec rm {} ;",
        "sh -c 'cd a; rm x'",
        "bash -lc 'rm x'",
        "sh -c \"bash -c 'rm x'\"",
        'eval "rm x"',
        'echo "$(rm x)"',
        'echo "a `rm x`"',
        'echo "$(echo "$(rm x)")"',
        "echo `rm x`",
        "'rm' x",
        "r\\m x",
        "echo " + '"$(ls)"' * 70,
    ],
)
def test_a_prohibition_of_a_command_finds_it_wherever_it_hides(command: str) -> None:
    rules = Rules(config=(*allow("bash"), *deny("bash(rm:*)")))
    assert ruled(rules, "bash", command) is DENY


@pytest.mark.parametrize("command", ["echo rm", "git rm x", "ls rm", "git commit -m 'rm x'", "echo '$(rm x)'"])
def test_a_prohibition_of_a_command_leaves_its_name_elsewhere_alone(command: str) -> None:
    rules = Rules(config=(*allow("bash"), *deny("bash(rm:*)")))
    assert ruled(rules, "bash", command) is ALLOW


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git push origin", DENY),
        ("git -C /x push", DENY),
        ("git --no-pager push", DENY),
        ("git -c a=b -C /x push --force", DENY),
        ("git pull", ALLOW),
        ("git log push", ALLOW),
    ],
)
def test_options_before_a_subcommand_do_not_hide_it(command: str, verdict: Verdict) -> None:
    assert ruled(Rules(config=(*allow("bash"), *deny("bash(git push)"))), "bash", command) is verdict


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git ...", ASK),
        ("git pu...", ASK),
        ("git -C . ...", ASK),
        ("git ... origin", ASK),
        ("git remote ...", ASK),
        ("git ... x", ASK),
        ("ls; nohup git ...", ASK),
        ("git log ...", ALLOW),
        ("git pull...", ALLOW),
        ("git --git-dir=... log", ALLOW),
        ("git log ... push", ALLOW),
        ("git push ...", DENY),
    ],
)
def test_what_is_not_spelled_out_of_a_command_may_be_what_is_denied(command: str, verdict: Verdict) -> None:
    rules = Rules(config=(*allow("bash"), *deny("bash(git push:*)", "bash(git remote add x:*)", "bash(git remote a*)")))
    assert ruled(rules, "bash", command) is verdict


@pytest.mark.parametrize("command", ["sh -c 'git status'", "bash -c 'git status'", "eval 'git status'"])
def test_a_command_that_runs_an_allowed_one_is_not_allowed_by_it(command: str) -> None:
    assert ruled(Rules(config=allow("bash(git:*)")), "bash", command) is ASK
    assert ruled(Rules(config=allow(f"bash({command})")), "bash", command) is ALLOW


def test_a_line_that_is_not_plain_can_be_allowed_word_for_word_only() -> None:
    rules = Rules(config=allow("bash(make && make test)"))
    assert ruled(rules, "bash", "make && make test") is ALLOW
    assert ruled(rules, "bash", "make && make test2") is ASK


@pytest.mark.parametrize(
    ("pattern", "path", "verdict"),
    [
        ("src/**", "/home/ada/app/src/a.py", ALLOW),
        ("src/**", "/home/ada/app/src/deep/er/a.py", ALLOW),
        ("src/**", "src/a.py", ALLOW),
        ("src/**", "/home/ada/app/src", ASK),
        ("src/**", "/home/ada/app/src/../etc/a.py", ASK),
        ("src/**", "/home/ada/app/srcs/a.py", ASK),
        ("src/**", "/home/eve/app/src/a.py", ASK),
        ("./src/", "/home/ada/app/src/a.py", ALLOW),
        ("src/*", "/home/ada/app/src/deep/a.py", ASK),
        ("src/*.py", "/home/ada/app/src/a.py", ALLOW),
        ("src/**/*.py", "/home/ada/app/src/a.py", ALLOW),
        ("src/**/*.py", "/home/ada/app/src/b/c/a.py", ALLOW),
        ("src/**/*.py", "/home/ada/app/src/b/c/a.txt", ASK),
        ("**/test_?.py", "/home/ada/app/x/test_a.py", ALLOW),
        ("a.py", "/home/ada/app/a.py", ALLOW),
        ("a.py", "/home/ada/app/deep/a.py", ASK),
        ("A.py", "/home/ada/app/a.py", ASK),
        ("**", "/home/ada/app/any/thing", ALLOW),
        ("**", "/etc/passwd", ASK),
        ("../lib/**", "/home/ada/lib/x", ALLOW),
        ("/etc/**", "/etc/hosts", ALLOW),
        ("//etc/**", "/etc/hosts", ALLOW),
        ("src/[ab].py", "/home/ada/app/src/b.py", ALLOW),
    ],
)
def test_an_allowance_of_a_path_is_read_from_the_workspace_and_narrowly(
    pattern: str, path: str, verdict: Verdict
) -> None:
    assert ruled(Rules(config=allow(f"edit({pattern})")), "edit", path, action="write") is verdict


@pytest.mark.parametrize(
    ("pattern", "path", "verdict"),
    [
        ("vault", "/home/ada/app/vault/deep/a", DENY),
        ("vault", "/home/ada/app/src/vault", DENY),
        ("vault", "/elsewhere/VAULT/a", DENY),
        ("*.lock", "/home/ada/app/deep/uv.lock", DENY),
        ("src/gen", "/home/ada/app/src/gen/a.py", DENY),
        ("src/gen", "/home/ada/app/src/x/../gen/a.py", DENY),
        ("src/gen", "/home/ada/app/src/generic.py", ALLOW),
        ("src/gen", "/home/ada/app/other/src/gen/a.py", ALLOW),
    ],
)
def test_a_prohibition_of_a_path_is_read_widely_and_holds_for_every_way_of_editing(
    pattern: str, path: str, verdict: Verdict
) -> None:
    rules = Rules(config=(*allow("edit", "write", "multiedit"), *deny(f"edit({pattern})")))
    assert {ruled(rules, tool, path, action="write") for tool in ("edit", "write", "multiedit")} == {verdict}


def test_a_windows_path_is_read_like_any_other() -> None:
    rules = Rules(config=allow("edit(src/**)"))
    assert (
        judge(rules, tool="edit", action="write", subjects=["C:\\app\\src\\a.py"], workdir="C:\\app").verdict is ALLOW
    )


def test_a_workspace_whose_name_looks_like_a_pattern_is_only_itself() -> None:
    rules = Rules(config=allow("edit(a.py)"))

    def verdict(path: str) -> Verdict:
        return judge(rules, tool="edit", action="write", subjects=[path], workdir="/home/[ab]/*").verdict

    assert verdict("/home/[ab]/*/a.py") is ALLOW
    assert verdict("/home/a/x/a.py") is ASK


@pytest.mark.parametrize(
    ("pattern", "address", "verdict"),
    [
        ("domain:example.com", "https://example.com/a?b#c", ALLOW),
        ("domain:example.com", "https://EXAMPLE.com./a", ALLOW),
        ("domain:example.com", "https://evil.com/example.com", ASK),
        ("domain:example.com", "https://example.com.evil.com/", ASK),
        ("domain:example.com", "https://sub.example.com/", ASK),
        ("domain:example.com", "https://example.com@evil.com/", ASK),
        ("domain:example.com", "https://evil.com\\@example.com/", ASK),
        ("domain:example.com", "https://evil.com#@example.com/", ASK),
        ("*.example.com", "https://a.b.example.com/", ALLOW),
        ("example.com/docs/**", "http://example.com/docs/a/b", ALLOW),
        ("example.com/docs/**", "http://example.com/other", ASK),
        ("example.com/docs/**", "http://example.com/docs/../other", ASK),
        ("example.com/docs/**", "http://example.com/docs/%2e%2e/other", ASK),
        ("https://example.com/docs/", "https://example.com/docs/a", ALLOW),
        ("https://example.com/**", "http://example.com/a", ASK),
        ("domain:localhost:8080", "http://localhost:8080/", ALLOW),
        ("domain:localhost:8080", "http://localhost:9090/", ASK),
        ("domain:example.com", "https://[broken/", ASK),
    ],
)
def test_an_allowance_of_an_address_is_about_its_host_and_not_about_what_looks_like_it(
    pattern: str, address: str, verdict: Verdict
) -> None:
    assert ruled(Rules(config=allow(f"fetch({pattern})")), "fetch", address, action="fetch") is verdict


def test_a_prohibition_of_a_host_holds_for_its_subdomains() -> None:
    rules = Rules(config=(*allow("fetch"), *deny("fetch(domain:example.com)")))
    assert ruled(rules, "fetch", "https://a.example.com/") is DENY
    assert ruled(rules, "fetch", "https://user@example.com/../x") is DENY
    assert ruled(rules, "fetch", "https://myexample.com/") is ALLOW


def test_a_harmless_call_needs_nobody_unless_a_rule_or_a_secret_stands_against_it() -> None:
    assert ruled(Rules(), "view", "src/a.py", safe=True) is ALLOW
    assert ruled(Rules(config=ask("view")), "view", "src/a.py", safe=True) is ASK
    assert ruled(Rules(), "bash", "git diff", safe=True) is ALLOW
    assert ruled(Rules(), "bash", "git diff .env", safe=True) is ASK
    assert ruled(Rules(), "bash", "grep --file=config/prod.env x", safe=True) is ASK


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        (".env", ASK),
        ("deep/.ENV.local", ASK),
        (".env.example", ALLOW),
        ("server.pem", ASK),
        ("/home/ada/.ssh/id_ed25519", ASK),
        ("/home/ada/.ssh/id_ed25519.pub", ALLOW),
        ("/home/ada/.ssh/other", ASK),
        ("/home/ada/.ssh/config", ALLOW),
        ("/home/ada/.aws/credentials", ASK),
        (".npmrc", ASK),
        ("environment.py", ALLOW),
        ("keys.md", ALLOW),
    ],
)
def test_reading_a_file_with_secrets_is_asked_about(path: str, verdict: Verdict) -> None:
    assert ruled(Rules(), "view", path, action="read", safe=True) is verdict


def test_a_grant_covers_no_secret_it_does_not_name_while_settings_do() -> None:
    assert ruled(Rules(session=allow("view")), "view", ".env") is ASK
    assert ruled(Rules(always=allow("edit(**)")), "edit", ".env") is ASK
    assert ruled(Rules(always=allow("bash(cat:*)")), "bash", "cat .env") is ASK
    assert ruled(Rules(session=allow("view(.env)")), "view", ".env") is ALLOW
    assert ruled(Rules(session=allow("bash(cat .env)")), "bash", "cat .env") is ALLOW
    assert ruled(Rules(config=allow("view")), "view", ".env") is ALLOW
    assert ruled(Rules(run=allow("view")), "view", ".env") is ALLOW


def test_a_grant_covers_no_hook_and_no_setting_it_does_not_name() -> None:
    for path in (".git/hooks/pre-commit", ".git/config", "sub/.vscode/tasks.json", "turnkeeper.toml", "crush.json"):
        assert ruled(Rules(session=allow("edit(**)")), "edit", path, action="write") is ASK, path
        assert ruled(Rules(session=allow("edit")), "edit", path, action="write") is ASK, path
        assert ruled(Rules(session=allow(f"edit({path})")), "edit", path, action="write") is ALLOW, path
        assert ruled(Rules(config=allow("edit(**)")), "edit", path, action="write") is ALLOW, path
    assert ruled(Rules(session=allow("view(**)")), "view", ".git/config") is ALLOW


@pytest.mark.parametrize("level", ["session", "workspace", "always"])
def test_a_grant_does_not_lift_what_the_settings_forbid(level: str) -> None:
    granted = allow("edit(src/**)")
    rules = Rules(
        session=granted if level == "session" else (),
        workspace=granted if level == "workspace" else (),
        always=granted if level == "always" else (),
        config=deny("edit(src/gen/**)"),
    )
    assert ruled(rules, "edit", "src/a.py") is ALLOW
    assert ruled(rules, "edit", "src/gen/a.py") is DENY


def test_where_nobody_is_to_be_asked_everything_goes_but_what_is_denied() -> None:
    rules = Rules(config=(*ask("bash(git:*)"), *deny("bash(rm:*)")))
    assert ruled(rules, "bash", "git push", approved=True) is ALLOW
    assert ruled(rules, "view", ".env", approved=True) is ALLOW
    assert ruled(rules, "bash", "git push", "rm x", approved=True) is DENY


def test_children_share_what_their_parents_were_granted_and_strangers_do_not() -> None:
    grants = [
        Grant("1", parse_rule("bash(make:*)"), "session", PARENT),
        Grant("2", parse_rule("edit(a.py)"), "workspace", OTHER),
        Grant("3", parse_rule("fetch(domain:example.com)"), "always", OTHER),
        Grant("4", parse_rule("write"), "session", OTHER),
    ]
    options = RunOptions(allow=("view",), deny=("download",))
    config = parse_rules(["ls"], ASK)
    assert rules_for(options, config=config, grants=grants, lineage=[CHILD, PARENT]) == Rules(
        run=(*allow("view"), *deny("download")),
        session=allow("bash(make:*)"),
        workspace=allow("edit(a.py)"),
        always=allow("fetch(domain:example.com)"),
        config=config,
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("bash", Rule(ALLOW, "bash")),
        ("bash:execute", Rule(ALLOW, "bash", "execute")),
        (" edit:write(src/**) ", Rule(ALLOW, "edit", "write", "src/**")),
        ("bash(git commit:*)", Rule(ALLOW, "bash", "", "git commit:*")),
        ("bash(echo (a))", Rule(ALLOW, "bash", "", "echo (a)")),
        ("bash(*)", Rule(ALLOW, "bash")),
        ("bash(:*)", Rule(ALLOW, "bash")),
        ("*", Rule(ALLOW)),
        ("Bash(npm run test:*)", Rule(ALLOW, "bash", "", "npm run test:*")),
        ("Read(~/x)", Rule(ALLOW, "view", "", "~/x")),
        ("WebFetch(domain:example.com)", Rule(ALLOW, "fetch", "", "domain:example.com")),
        ("mcp__github__search", Rule(ALLOW, "mcp_github_search")),
        ("mcp__github", Rule(ALLOW, "mcp_github_*")),
        ("mcp_github_search", Rule(ALLOW, "mcp_github_search")),
    ],
)
def test_a_rule_is_read_as_people_write_it(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule
    assert parse_rule(rule_text(rule)) == rule


@pytest.mark.parametrize("text", ["", " ", "bash(", "bash)", "bash()", "(git)", "a b", "bash:", "bash(git) x"])
def test_what_is_no_rule_is_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(BadRequest, match="not a permission rule"):
        parse_rule(text)


@pytest.mark.parametrize(
    ("tool", "subject", "told", "explained"),
    [
        ("bash", "git commit -m 'a b'", ["bash(git commit:*)"], "run “git commit” with any arguments"),
        ("bash", "git -C /x push", ["bash(git -C /x push)"], "run “git -C /x push”, exactly so"),
        ("bash", "git", ["bash(git)"], "run “git”, exactly so"),
        ("bash", "npm run test -- -v", ["bash(npm run test:*)"], "run “npm run test” with any arguments"),
        ("bash", "npm run", ["bash(npm run)"], "run “npm run”, exactly so"),
        ("bash", "python -m pytest -q", ["bash(python -m pytest:*)"], "run “python -m pytest” with any arguments"),
        ("bash", "python -c 'x'", ["bash(python -c x)"], "run “python -c x”, exactly so"),
        ("bash", "python a.py 1", ["bash(python a.py:*)"], "run “python a.py” with any arguments"),
        ("bash", "uv run python -c x", ["bash(uv run python -c x)"], "run “uv run python -c x”, exactly so"),
        ("bash", "uv run pytest -q", ["bash(uv run pytest:*)"], "run “uv run pytest” with any arguments"),
        ("bash", "pytest -q", ["bash(pytest:*)"], "run “pytest” with any arguments"),
        ("bash", "rm -rf build", ["bash(rm -rf build)"], "run “rm -rf build”, exactly so"),
        ("bash", "sudo ls", ["bash(sudo ls)"], "run “sudo ls”, exactly so"),
        ("bash", "sh -c 'ls -l'", ["bash(sh -c 'ls -l')"], "run “sh -c ls -l”, exactly so"),
        ("edit", "/home/ada/app/src/a.py", ["edit(src/a.py)"], "edit src/a.py"),
        ("edit", "/etc/hosts", ["edit(/etc/hosts)"], "edit /etc/hosts"),
        ("fetch", "https://example.com/a", ["fetch(domain:example.com)"], "fetch anything at example.com"),
        ("mcp_github_search", "anything", ["mcp_github_search"], "every use of mcp_github_search"),
    ],
)
def test_what_is_granted_is_the_shape_of_the_call_and_can_be_explained(
    tool: str, subject: str, told: list[str], explained: str
) -> None:
    rules = grant_for(tool=tool, action="", subjects=[subject], workdir=WORKDIR)
    assert [rule_text(rule) for rule in rules] == told
    assert explain(rules[0]) == f"Allow: {explained}"
    assert ruled(Rules(session=rules), tool, subject) is ALLOW


def test_a_file_can_be_granted_with_those_beside_it() -> None:
    def grant(path: str) -> tuple[Rule, ...]:
        return grant_for(tool="edit", action="write", subjects=[path], workdir=WORKDIR, whole_directory=True)

    rules = grant("src/[x]/a.py")
    assert [explain(rule) for rule in rules] == ["Allow: edit any file directly in src/[[]x]"]
    assert ruled(Rules(session=rules), "edit", "src/[x]/b.py", action="write") is ALLOW
    assert ruled(Rules(session=rules), "edit", "src/x/b.py", action="write") is ASK
    assert ruled(Rules(session=rules), "edit", "src/[x]/deep/b.py", action="write") is ASK
    assert ruled(Rules(session=grant("a.py")), "edit", "b.py", action="write") is ALLOW
    assert ruled(Rules(session=grant("a.py")), "edit", "src/b.py", action="write") is ASK
    assert [rule_text(rule) for rule in grant("a.py")] == ["edit:write(./*)"]


@pytest.mark.parametrize("command", ["ls | sh", "make > log", "echo $(ls)", "a; b", "'open", ""])
def test_a_line_of_no_plain_shape_can_be_allowed_once_only(command: str) -> None:
    assert grant_for(tool="bash", action="execute", subjects=["ls", command], workdir=WORKDIR) == ()


COMMANDS = [
    *("git status", "git status -s", "git commit -m x", "git push", "git", "git -C x status", "github status"),
    *("npm run test", "npm run build", "npm install", "npm test", "python -m pytest", "python -m http.server"),
    *("python a.py", "python b.py", "python -c 1", "rm a", "rm b", "rm a b", "pytest -q", "cat x", "sudo cat x"),
    *("echo '*'", "echo a", "rm '*'", "rm -- a", "git status; rm a", "git status $(rm a)", "X=1 git status"),
]


@pytest.mark.parametrize("granted", COMMANDS)
def test_a_grant_for_one_shape_of_command_allows_no_other(granted: str) -> None:
    def shape(command: str) -> tuple[Rule, ...]:
        return grant_for(tool="bash", action="execute", subjects=[command], workdir=WORKDIR)

    rules = Rules(session=shape(granted))
    allowed = [other for other in COMMANDS if ruled(rules, "bash", other, action="execute") is ALLOW]
    assert allowed == [other for other in COMMANDS if shape(granted) == shape(other) != ()]


TEXTS = ["*", "bash", "edit", "bash(git:*)", "bash(git push:*)", "bash(rm)", "edit(src/**)", "edit(src/a.py)", "fetch"]
RULES = st.lists(st.builds(parse_rule, st.sampled_from(TEXTS), st.sampled_from(Verdict)), max_size=4).map(tuple)
LEVELS = ["run", "session", "workspace", "always", "config", "default"]
CALLS = st.sampled_from(
    [("bash", "git status"), ("bash", "git push"), ("bash", "git log; rm x"), ("edit", "src/a.py"), ("edit", "b.py")]
)


@settings(max_examples=300)
@given(st.fixed_dictionaries(dict.fromkeys(LEVELS, RULES)), CALLS, st.sampled_from(LEVELS), RULES, st.booleans())
def test_no_rule_added_at_the_level_of_a_deny_or_below_turns_it_into_an_allowance(
    by_level: dict[str, tuple[Rule, ...]], call: tuple[str, str], level: str, added: tuple[Rule, ...], before: bool
) -> None:
    tool, subject = call
    judged = judge(Rules(**by_level), tool=tool, action="", subjects=[subject], workdir=WORKDIR)
    if (
        judged.verdict is not DENY
        or judged.level is None
        or LEVELS.index(level) < LEVELS.index(judged.level.name.lower())
    ):
        return
    old = by_level[level]
    more = Rules(**(by_level | {level: (*added, *old) if before else (*old, *added)}))
    assert ruled(more, tool, subject) is DENY
