"""Letters as they can be kept: strangers send halves of letters, which no file and no wire takes."""

from typing import Any, cast


def whole(text: str) -> str:
    """The text with halves that belong together joined, and a mark in place of each that is alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="replace")
    return text


def whole_within(value: Any) -> Any:
    """The same data with every text in it whole."""
    match value:
        case str():
            return whole(value)
        case dict():
            return {whole_within(key): whole_within(one) for key, one in cast(dict[Any, Any], value).items()}
        case list() | tuple():
            return [whole_within(one) for one in cast(list[Any], value)]
        case _:
            return value


def ends_in_half(text: str) -> bool:
    """Whether it ends with the first half of a letter, whose second may follow."""
    return "\ud800" <= text[-1:] <= "\udbff"
