"""What a reviewer would have to remember: layers, purity, sizes, leftovers. A test, not a habit."""

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bench import structure

ROOT = Path(__file__).parent.parent
PACKAGES = ("proxy", "indexes", "config", "golden", "bench")
SOURCES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

LINES_MAX = 300
FUNCTION_MAX = 50
FUNCTION_P90 = 22
POSITIONAL_MAX = 4
ONE_WORD_SHARE_MAX = 0.15
PARTICIPLE_SHARE_MAX = 0.01

# Imports point downwards: a module may import from its own room and from lower ones.
RANKS = {
    "indexes.text": 0,
    "indexes.storage": 0,
    "indexes.types": 0,
    "indexes.chunks": 0,
    "indexes.outbox": 0,
    "indexes.progress": 0,
    "indexes.schema": 0,
    "indexes.watch": 0,
    "indexes.fuse": 1,
    "indexes.grants": 1,
    "indexes.query_words": 1,
    "indexes.document_writes": 2,
    "indexes.sources": 2,
    "indexes.embedding": 3,
    "indexes.read_snapshot": 4,
    "indexes.store": 5,
    "indexes.vector_index": 5,
    "indexes.keywords": 6,
    "indexes.records": 6,
    "indexes.vector_query": 6,
    "indexes.search": 7,
    "indexes.sync": 7,
    "indexes.push": 8,
    "proxy.domain": 10,
    "proxy.gate": 11,
    "proxy.wire": 11,
    "proxy.guards": 12,
    "proxy.settings": 13,
    "proxy.http": 14,
    "proxy.ledger": 14,
    "proxy.observe": 14,
    "proxy.upstream": 14,
    "golden": 14,
    "proxy.limits": 15,
    "proxy.auth": 16,
    "proxy.pipeline": 17,
    "proxy.app": 19,
    "proxy.commands": 20,
    "bench": 21,
}

PURE = (
    "proxy/gate",
    "proxy/guards",
    "proxy/wire",
    "indexes/text",
    "indexes/chunks.py",
    "indexes/fuse.py",
    "indexes/grants.py",
)
IMPURE = {
    "asyncio", "aiosqlite", "datetime.now", "httpx", "io", "logging", "os", "pathlib", "random", "shutil",
    "socket", "sqlite3", "starlette", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
LEFTOVERS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError|#.*\bfor now\b")


@cache
def parse_tree(path: Path) -> ast.Module:
    """Parsed without garbage collection: what it finalizes may parse too (a warning's traceback does), and
    CPython 3.11 counts the depth of both trees as one and gives up.
    """
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"), str(path))
    finally:
        gc.enable()


def make_module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def iterate_imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def find_layer(module: str) -> str:
    return max((r for r in RANKS if module == r or module.startswith(r + ".")), key=len, default="")


def iterate_functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (n for n in ast.walk(module) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def count_code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of code of a function, its docstring not counted."""
    start = node.body[0]
    doc = isinstance(start, ast.Expr) and isinstance(start.value, ast.Constant)
    skipped = (start.end_lineno or 0) - start.lineno + 1 if doc else 0
    return (node.end_lineno or 0) - node.lineno + 1 - skipped


def show_path(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=show_path)
def test_a_module_says_in_its_first_line_what_it_is_for(path: Path) -> None:
    doc = ast.get_docstring(parse_tree(path))
    assert doc, f"{show_path(path)} has no docstring"


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=show_path)
def test_a_file_is_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LINES_MAX


@pytest.mark.parametrize("path", SOURCES, ids=show_path)
def test_imports_point_downwards(path: Path) -> None:
    mine = find_layer(make_module_name(path))
    for other in map(find_layer, iterate_imports(parse_tree(path))):
        if mine and other and other != mine:
            assert RANKS[other] < RANKS[mine], f"{show_path(path)} imports {other}"


@pytest.mark.parametrize("path", [p for p in SOURCES if show_path(p).startswith("indexes")], ids=show_path)
def test_evidence_knows_nothing_of_the_proxy(path: Path) -> None:
    assert not [
        m for m in iterate_imports(parse_tree(path)) if m.split(".")[0] in ("proxy", "golden", "bench")
    ]


def test_every_module_has_a_room() -> None:
    roofs = ("proxy", "indexes", "config")
    assert not [
        show_path(path)
        for path in SOURCES
        if make_module_name(path) not in roofs and not find_layer(make_module_name(path))
    ]


def test_nothing_lies_loose_in_the_proxy() -> None:
    assert [path.name for path in sorted((ROOT / "proxy").glob("*.py"))] == ["__init__.py"]


@pytest.mark.parametrize("path", [p for p in SOURCES if show_path(p).startswith(PURE)], ids=show_path)
def test_the_core_is_pure(path: Path) -> None:
    module = parse_tree(path)
    assert not [m for m in iterate_imports(module) if m in IMPURE or m.split(".")[0] in IMPURE]
    assert not [n for n in ast.walk(module) if isinstance(n, ast.AsyncFunctionDef | ast.Await)]
    calls = {n.func.id for n in ast.walk(module) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not calls & {"print", "open", "input"}


@pytest.mark.parametrize("path", SOURCES, ids=show_path)
def test_functions_are_short_and_take_few_arguments(path: Path) -> None:
    for node in iterate_functions(parse_tree(path)):
        assert count_code_lines(node) <= FUNCTION_MAX, f"{node.name}: {count_code_lines(node)} lines"
        positional = [a for a in node.args.posonlyargs + node.args.args if a.arg not in ("self", "cls")]
        asked = len(positional) - (len(node.args.defaults) if node.name == "__init__" else 0)
        assert asked <= POSITIONAL_MAX + (node.name == "__init__"), (
            f"{node.name}: {asked} positional parameters"
        )


def test_nine_functions_of_ten_fit_on_a_glance() -> None:
    sizes = sorted(count_code_lines(node) for path in SOURCES for node in iterate_functions(parse_tree(path)))
    assert sizes[int(len(sizes) * 0.9)] <= FUNCTION_P90


@pytest.mark.parametrize("path", [p for p in SOURCES + TESTS if p != Path(__file__)], ids=show_path)
def test_nothing_is_left_for_later(path: Path) -> None:
    assert not LEFTOVERS.findall(path.read_text("utf-8"))


@pytest.mark.parametrize("path", TESTS, ids=show_path)
def test_fakes_not_mocks(path: Path) -> None:
    assert not [m for m in iterate_imports(parse_tree(path)) if "mock" in m.lower()]


STRUCTURE = structure.measure_tree(ROOT)


def test_a_class_name_stands_once() -> None:
    assert STRUCTURE.double_classes == ()


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert STRUCTURE.import_circles == ()


def test_functions_are_named_by_a_verb_with_its_object() -> None:
    assert STRUCTURE.one_word_share <= ONE_WORD_SHARE_MAX
    assert STRUCTURE.participle_share <= PARTICIPLE_SHARE_MAX


def test_the_figures_of_the_structure_see_what_they_are_for(tmp_path: Path) -> None:
    (tmp_path / "proxy").mkdir()
    (tmp_path / "proxy" / "a.py").write_text("import proxy.b\nclass Row: ...\ndef told(): ...\n", "utf-8")
    (tmp_path / "proxy" / "b.py").write_text(
        "from proxy import a\nclass _Row: ...\ndef read_rows(): ...\n", "utf-8"
    )
    figures = structure.measure_tree(tmp_path)
    assert figures.double_classes == ("Row",)
    assert figures.import_circles == (("proxy.a", "proxy.b"),)
    assert (figures.one_word_share, figures.participle_share, figures.loose_files) == (0.5, 0.5, 2)


def test_only_app_opens_services() -> None:
    openers = {
        "SqliteLedger",
        "SqliteDecisionLog",
        "Store",
        "KeywordIndex",
        "KeyStore",
        "OnnxEmbedder",
        "OpenAIUpstream",
    }
    classes = {n.name for path in SOURCES for n in ast.walk(parse_tree(path)) if isinstance(n, ast.ClassDef)}
    assert openers <= classes, "a list of names that are none checks nothing"
    for path in SOURCES:
        if make_module_name(path).split(".")[0] == "proxy" and find_layer(make_module_name(path)) not in (
            "proxy.app",
            "proxy.commands",
        ):
            made = {
                n.func.id
                for n in ast.walk(parse_tree(path))
                if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
            }
            assert not made & openers, f"{show_path(path)} constructs {made & openers}"
