"""What becomes part of its caller: one caller, and nothing that numba is known to lose."""

import ast
from collections import Counter
from pathlib import Path

import basepar_core.compiled

FILES = sorted(Path(basepar_core.compiled.__path__[0]).rglob("*.py"))


def called(tree):
    """Names of functions that are called below a node."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls
    ]


def is_inlined(node):
    names = [one.id for one in node.decorator_list if isinstance(one, ast.Name)]
    return "inlined" in names


def test_inlined_kernels_have_one_caller_and_no_masks():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in FILES]
    calls = Counter(name for tree in trees for name in called(tree))
    functions = [one for tree in trees for one in tree.body if isinstance(one, ast.FunctionDef)]
    inlined = [one for one in functions if is_inlined(one)]
    assert len(inlined) > 40
    assert {one.name: calls[one.name] for one in inlined if calls[one.name] != 1} == {}
    assert [one.name for one in inlined if "where" in called(one)] == []
