"""What to write instead of keys that come of habits from elsewhere."""

from collections.abc import Collection, Mapping

from .yaml_nodes import Fields, Items, Node, Text


def directions(key: str, entries: Mapping[str, Node], known: Collection[str]) -> str:
    """The remedy for directions that stand beside their objectives; nothing for other keys."""
    if key not in ("direction", "directions") or "objectives" not in known:
        return ""
    given, goals = entries[key], entries.get("objectives")
    if isinstance(goals, Fields):
        return "; each objective has its direction: take this line out"
    words, names = _texts(given), _texts(goals)
    if not names or len(words) != len(names):
        return (
            "; each objective has its direction there, as in `objectives: {torque_rms: minimize}`"
        )
    pairs = ", ".join(f"{name}: {word}" for name, word in zip(names, words, strict=True))
    return (
        f"; each objective has its direction: write `objectives: {{{pairs}}}`, without this line"
    )


def _texts(node: Node | None) -> list[str]:
    """Of a text, or of a list or mapping of texts."""
    if isinstance(node, Fields):
        items = list(node.entries.values())
    else:
        items = list(node.items) if isinstance(node, Items) else [node] if node else []
    return [one.value for one in items if isinstance(one, Text)]
