"""Lists in parentheses, and expressions that a comma inside their parentheses has parted."""

from collections.abc import Sequence


def whole(parts: Sequence[str]) -> str | None:
    """What commas have parted, in one line of a file, as it was most likely meant.

    A list where it stands in parentheses, else an expression in quotes; None where its
    parentheses do not match.
    """
    text = ", ".join(part.strip() for part in parts)
    return listed(text) or (f'"{text}"' if text.count("(") == text.count(")") else None)


def listed(text: str) -> str:
    """`(1, f(x, y))` as a list, `[1, "f(x, y)"]`; nothing where the text is no such list."""
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        return ""
    parts, depth = [""], 0
    for character in text[1:-1]:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return ""
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth or len(parts) == 1:
        return ""
    inner = [
        listed(part) or (f'"{part.strip()}"' if "," in part else part.strip()) for part in parts
    ]
    return f"[{', '.join(inner)}]"


def remedy(meant: str) -> str:
    """What is wrong with it, before what to write."""
    if meant.startswith("["):
        return "lists are in brackets"
    return "a comma inside parentheses needs quotes"
