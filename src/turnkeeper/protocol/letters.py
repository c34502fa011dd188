"""Letters as they can be kept: strangers send halves of letters, which no file and no wire takes."""


def whole(text: str) -> str:
    """The text with halves that belong together joined, and a mark in place of each that is alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="replace")
    return text


def ends_in_half(text: str) -> bool:
    """Whether it ends with the first half of a letter, whose second may follow."""
    return "\ud800" <= text[-1:] <= "\udbff"
