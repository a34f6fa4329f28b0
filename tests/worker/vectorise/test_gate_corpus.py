import ast

import pytest
from corpus_branches import BRANCHES
from corpus_plain import PLAIN
from corpus_refused import REFUSED

from p2p.worker.reward_source.gate import violations

CORPUS = {**PLAIN, **BRANCHES, **{name: case[0] for name, case in REFUSED.items()}}


@pytest.mark.parametrize("name", CORPUS)
def test_what_models_write_passes_and_with_a_bad_line_anywhere_that_line_alone_is_told(name):
    source = CORPUS[name]
    assert violations(source) == ()
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.Return | ast.AugAssign):
            row = node.lineno - 1
            indent = lines[row][: node.col_offset]
            if indent.strip():
                continue
            bad = [*lines[:row], f"{indent}import os", *lines[row:]]
            assert [one.line for one in violations("\n".join(bad))] == [row + 1]
