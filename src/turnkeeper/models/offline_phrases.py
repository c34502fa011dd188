"""The phrases of the offline assistant, in the order in which they are tried, and what each of them becomes."""

import re
from collections.abc import Callable

from turnkeeper.models import offline_calls as do
from turnkeeper.models.offline_calls import Call

THING = r"`[^`]+`|\"[^\"]+\"|'[^']+'|\S+"
SHOW = r"(?:show|read|view|open|cat|print|display|see|look at|give)(?: me)?"
IN = rf"(?:\s+(?:in|inside|under|of|within|from)\s+(?P<path>{THING}|the \S+ (?:folder|directory)|this \w+|the \w+))?"
ARE = r"(?:\s+(?:are|is) there|\s+do (?:i|we) have|\s+exist)?"


def phrase(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


RUNNING = (
    (phrase(r"(?:run|execute)\b(?: (?:the )?(?:shell )?command)?\s*:?\s*(?:`(?P<command>[^`]+)`)"), do.run),
    (phrase(r"(?:run|execute)\b(?: (?:the )?(?:shell )?command)?\s*:?\s*(?:\"(?P<command>[^\"]+)\")"), do.run),
    (phrase(r"(?:run|execute)\b(?: (?:the )?(?:shell )?command)?\s*:?\s+(?P<words>[^`]+)"), do.run),
    (phrase(r"\$\s*(?P<command>.+)|`(?P<words>[^`]+)`"), do.run),
    (
        phrase(
            r"(?P<command>pwd|whoami|hostname|uname(?: -\w+)*|uptime|date|echo .+|wc .+|ls -.+|grep -.+|find \..* -.+)"
        ),
        do.run,
    ),
    (
        phrase(r"git status|status|what(?:'s| is| has|'s been| has been| have i| did i)? changed?(?: here)?"),
        do.git_status,
    ),
    (
        phrase(rf"{SHOW} (?:the |my )?(?:changes|git status|changed files)|(?:which|what) files (?:have )?changed"),
        do.git_status,
    ),
    (phrase(rf"(?:{SHOW} )?(?:the )?(?:git )?diff"), do.git_diff),
    (
        phrase(r"(?:which|what)(?: git)? branch(?: is this| am i on| are we on)?|current branch|git branch"),
        do.git_branch,
    ),
    (
        phrase(rf"(?:{SHOW} )?(?:the )?(?:last |latest |recent )?(?P<n>\d+ ?)?(?:git )?(?:commits|log|history)"),
        do.git_log,
    ),
    (phrase(r"(?P<command>git (?:log|diff|show|branch|remote|blame|stash list|tag)\b.*)"), do.run),
    (
        phrase(
            r"where am i|(?:what(?:'s| is)|which is)? ?(?:the |my )?"
            r"(?:current|working|current working) (?:directory|folder)"
        ),
        do.where_am_i,
    ),
)

COUNTING = (
    (
        phrase(
            r"(?:count|how many)\s+(?:the )?(?:number of )?(?P<unit>lines|words|characters|chars|bytes)"
            rf"(?:\s+(?:are|is)(?: there)?)?\s+(?:in|of|does|has)\s+(?:the )?(?:file )?(?P<what>{THING})"
            r"(?:\s+(?:have|has|contain))?"
        ),
        do.count_in_file,
    ),
    (
        phrase(
            r"(?:count|how many)\s+(?:all )?(?:the )?(?:number of )?"
            rf"(?:(?P<kind>\S+)\s+)?files{ARE}(?:\s+(?:are|is))?{IN}(?:\s+(?:contain|have|has))?(?: here)?"
        ),
        do.count_files,
    ),
    (
        phrase(
            r"(?:count|how many)(?:\s+the)?(?:"
            r"\s+(?:times|occurrences|matches|uses|mentions|lines with))(?:\s+(?:of|does|do|is))?"
            rf"\s+(?:the )?(?:word |text )?(?P<what>{THING})(?:\s+(?:appear|occur|used|mentioned|there)s?)?{ARE}{IN}"
        ),
        do.count_word,
    ),
    (
        phrase(
            r"(?:count|how many)\s+(?:all )?(?:the )?(?P<what>`[^`]+`|\"[^\"]+\"|(?-i:[A-Z]{3,}s?))"
            rf"(?:\s+comments?)?{ARE}{IN}"
        ),
        do.count_word,
    ),
)

FINDING = (
    (
        phrase(
            r"(?:find|list|locate|get|give me|show(?: me)?|search for|look for|which|what|(?:are|is) there(?: any| a)?)"
            rf"\s+(?:all )?(?:of )?(?:the )?(?P<what>\S+)\s+files?{ARE}{IN}(?: here)?"
        ),
        do.find_files,
    ),
    (
        phrase(
            r"(?:find|list|locate|show(?: me)?|search for|look for|where (?:is|are))"
            r"\s+(?:all )?(?:the |a |any )?(?P<kind>files?)"
            r"\s+(?:named|called|matching|like|with the name|with(?: the)? extension|ending "
            rf"(?:in|with))\s+(?P<what>{THING}){IN}"
        ),
        do.find_files,
    ),
    (phrase(rf"(?:find|list|locate|show(?: me)?)\s+(?:all )?(?:the )?(?P<what>\S*\*\S*){IN}"), do.find_files),
    (
        phrase(
            r"(?:find|locate|where is|where's|is there)"
            r"\s+(?:the |a )?(?:file )?(?P<what>`[^`]+\.\w+`|\S+\.\w+)(?: file)?"
        ),
        do.find_files,
    ),
    (phrase(r"find\s+(?:all )?(?:the )?(?P<kind>file)\s+(?P<what>\S+)"), do.find_files),
    (
        phrase(
            r"(?:which|what|find|list)\s+(?:all )?(?:the )?files?"
            r"\s+(?:that )?(?:contain|mention|use|import|include|have|with)(?:s|ing)?"
            rf"\s+(?:the )?(?:word |text |string )?(?P<what>{THING}){IN}"
        ),
        do.files_with,
    ),
    (
        phrase(
            rf"(?:where|in which files?|which files?)(?: is| are|'s)\s+(?P<what>{THING})\s+"
            rf"(?:used|called|defined|declared|mentioned|imported|implemented){IN}"
        ),
        do.search,
    ),
    (
        phrase(
            r"find\s+(?:all )?(?:the )?"
            r"(?:usages?|uses?|occurrences|mentions|references|callers|calls|definition)\s+(?:of|to)"
            rf"\s+(?P<what>{THING}){IN}"
        ),
        do.search,
    ),
    (phrase(rf"find\s+(?:all )?(?:the )?(?P<what>(?-i:[A-Z]{{3,}}))(?-i:s)?(?:\s+comments?)?{IN}"), do.search),
    (
        phrase(rf"find\s+(?:the )?(?:function|class|method|variable|word|text|string)\s+(?P<what>{THING}){IN}"),
        do.search,
    ),
    (phrase(rf"find\s+(?P<what>`[^`]+`|\"[^\"]+\"|'[^']+'){IN}"), do.search),
    (phrase(rf"(?:search|grep|look)\s+(?:through |in )?(?:the )?(?P<path>\S+)\s+for\s+(?P<what>{THING})"), do.search),
    (phrase(rf"(?:search|grep|look)\s+(?:for\s+)?(?:the )?(?:word |text |string )?(?P<what>{THING}){IN}"), do.search),
    (phrase(r"(?:search|grep|look)\s+for\s+(?P<what>.+)"), do.search),
    (phrase(rf"(?:where is|where's|find)\s+(?P<what>\S+){IN}"), do.search_name),
)

READING = (
    (phrase(rf"(?:{SHOW}|what are) (?:the )?first (?P<to>\d+) lines? (?:of|in|from) (?P<what>.+)"), do.show),
    (phrase(rf"(?:{SHOW}|what are) (?:the )?last (?P<n>\d+) lines? (?:of|in|from) (?P<what>.+)"), do.show_last),
    (
        phrase(rf"(?:{SHOW}|what are) lines? (?P<from>\d+)(?:-| to | through )(?P<to>\d+) (?:of|in|from) (?P<what>.+)"),
        do.show,
    ),
    (phrase(rf"(?:{SHOW}|what is) line (?P<from>\d+) (?:of|in|from) (?P<what>.+)"), do.show_line),
    (phrase(rf"{SHOW} (?:the )?(?:contents? |text )(?:of )(?P<what>.+)"), do.list_directory),
    (
        phrase(
            rf"(?:list|{SHOW})(?:\s+"
            r"(?:all|of|the|every|everything|files?|contents?|and|directories|folders|directory|folder|"
            r"project|structure|tree|layout|listing))+(?:\s+(?:here|there))?(?:"
            r"\s+(?:in|of|inside|under|from)\s+(?P<what>.+))?"
        ),
        do.list_directory,
    ),
    (phrase(rf"{SHOW} (?P<what>.+)"), do.show),
    (phrase(r"(?:list|ls|dir)(?:\s+(?P<what>[^-\s]\S*|the \S+ (?:folder|directory)))?"), do.list_directory),
    (
        phrase(
            r"(?:what|which)(?:'s| is| are)?(?:\s+(?:all|the|files?|contents?|is|are|do (?:i|we) have|there))*"
            r"(?:\s+(?:in|inside|of|here)(?:\s+(?P<what>.+))?)"
        ),
        do.list_directory,
    ),
    (phrase(r"(?:what|which) files (?:are there|do (?:i|we) have|exist)"), do.list_directory),
    (
        phrase(
            r"(?:what (?:does|is)|how does|explain|describe|summari[sz]e|review|tell me about|about)\s+(?P<what>.+?)"
            r"(?:\s+(?:do|work|about|contain|for|say))?"
        ),
        do.explain,
    ),
)

PHRASES: tuple[tuple[re.Pattern[str], Callable[[dict[str, str]], Call | None]], ...] = (
    *RUNNING,
    *COUNTING,
    *FINDING,
    *READING,
)
