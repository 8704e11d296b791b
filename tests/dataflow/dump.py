"""Prints what TensorFlow's own analyses say about each function of the given files: a line of JSON for each, in the form of
`hvdlint debug dataflow`. What they refuse is told on standard error, as `# FILE:LINE NAME: ERROR`."""

import ast
import json
import sys

import gast
from tensorflow.python.autograph.pyct import anno, cfg, naming, qual_names, transformer
from tensorflow.python.autograph.pyct.static_analysis import (
    activity,
    annos,
    liveness,
    reaching_definitions,
    reaching_fndefs,
)

KINDS = """FunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For While If With Raise Try Assert Import ImportFrom
    Global Nonlocal Expr Pass Break Continue""".split()


def visit_successors_in_the_order_of_the_text():
    """TensorFlow keeps them in sets, whose order is that of addresses, and visits them in that order; which functions reach
    their own definition depends on it. In the order of the text two runs say the same."""
    add, freeze = cfg.GraphBuilder._add_new_node, cfg.Node.freeze

    def add_numbered(self, ast_node):
        node = add(self, ast_node)
        node.number = len(self.node_index)
        return node

    def freeze_sorted(self):
        successors = sorted(self.next, key=lambda node: node.number)
        freeze(self)
        self.next = tuple(successors)

    cfg.GraphBuilder._add_new_node, cfg.Node.freeze = add_numbered, freeze_sorted


def analysed(function, source, path):
    """The function's tree with TensorFlow's annotations, and its control flow graph."""
    info = transformer.EntityInfo(function.name, source, path, (), {})
    context = transformer.Context(info, naming.Namer({}), None)
    tree = gast.ast_to_gast(function)
    graphs = cfg.build(tree)
    tree = activity.resolve(qual_names.resolve(tree), context, None)
    for analysis in reaching_fndefs, reaching_definitions, liveness:
        tree = analysis.resolve(tree, context, graphs)
    return tree, graphs[tree]


def texts(names):
    return sorted(map(str, names))


def described(statement):
    row = {"line": statement.lineno, "kind": type(statement).__name__}
    scope = anno.getanno(statement, annos.NodeAnno.BODY_SCOPE, None) or anno.getanno(statement, anno.Static.SCOPE, None)
    if scope is not None:
        row.update(read=texts(scope.read), modified=texts(scope.modified), bound=texts(scope.bound))
    for key, annotation in (
        ("live_in", anno.Static.LIVE_VARS_IN),
        ("live_out", anno.Static.LIVE_VARS_OUT),
        ("defined_in", anno.Static.DEFINED_VARS_IN),
    ):
        names = anno.getanno(statement, annotation, None)
        if names is not None:
            row[key] = texts(names)
    return row


def dump(function, source, path):
    tree, graph = analysed(function, source, path)
    line = lambda node: getattr(node.ast_node, "lineno", 0)
    edges = {(line(node), line(successor)) for node in graph.index.values() for successor in node.next}
    statements = [described(node) for node in gast.walk(tree) if type(node).__name__ in KINDS]
    found = {"file": path, "function": function.name, "line": function.lineno, "statements": statements}
    return {**found, "cfg": sorted(edges)}


def main(paths):
    visit_successors_in_the_order_of_the_text()
    for path in paths:
        with open(path, "rb") as file:
            source = file.read()
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError) as error:
            print(f"# {path}: {error}", file=sys.stderr)
            continue
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                try:
                    print(json.dumps(dump(function, source, path)))
                except (AssertionError, KeyError, ValueError) as error:
                    print(f"# {path}:{function.lineno} {function.name}: {error!r}", file=sys.stderr)


main(sys.argv[1:])
