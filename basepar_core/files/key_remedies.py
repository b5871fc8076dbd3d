"""What to write instead of keys that come of habits from elsewhere."""

from collections.abc import Collection, Mapping

from .remedies import written
from .yaml_nodes import Fields, Items, Node, Text


def damping_of_spring(key: str, entries: Mapping[str, Node], path: str) -> str:
    """The remedy for a spring with a damping; nothing for other keys."""
    section, _, name = path.partition(".")
    if section != "springs" or key != "damping":
        return ""
    damping = written(entries[key])
    if "joint" in entries:
        inner = f"{{{written(entries['joint'])}: {{viscous: {damping}}}}}"
        return f"; at a joint it is friction: write `friction: {inner}` beside `springs`"
    ends = [f"{one}: {written(entries[one])}" for one in ("connects", "at") if one in entries]
    inner = f"{{{name}_damper: {{{', '.join([*ends, f'damping: {damping}'])}}}}}"
    return f"; dampers stand beside `springs`: write `dampers: {inner}`, without this line"


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
