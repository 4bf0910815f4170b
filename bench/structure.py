"""How the code reads, in figures: names, double classes, circles of imports, the depth of one request.

`python -m bench structure` measures the tree it runs in; `--root DIR` reads another one by the same rules,
and runs nothing of it. `tests/test_tidy.py` holds the goals.
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("proxy", "indexes", "config", "golden", "bench")
SHARED_FILES = 4
"""In so many files a function's name says nothing of its place any more."""
IRREGULAR_PARTICIPLES = frozenset({
    "said", "told", "made", "held", "heard", "seen", "shown", "known", "given", "left", "found", "written",
    "spoken", "taken", "kept", "begun", "gone", "done", "sent", "spent", "built", "bought", "brought",
    "caught", "chosen", "drawn", "driven", "felt", "fed", "fought", "grown", "hidden", "laid", "led",
    "lent", "lost", "meant", "met", "paid", "sold", "sought", "stood", "swept", "thought", "thrown",
    "torn", "understood", "undone", "unseen", "unheard", "worn", "wound", "broken", "bound", "borne",
    "beaten", "bitten", "blown",
})  # fmt: skip
NO_PARTICIPLES = frozenset({
    "feed", "need", "seed", "embed", "exceed", "proceed", "speed", "shed", "bed", "red", "bring", "ring",
    "string", "thing", "heading", "meaning", "setting", "settings", "timing", "timings", "spelling",
    "during", "wing", "king", "sing", "swing", "cling",
})  # fmt: skip
"""Verbs and nouns that only end like participles."""


@dataclass(frozen=True, slots=True)
class StructureFigures:
    """The figures of one tree. Shares are of the functions defined, dunder methods and tests left out."""

    functions: int
    one_word_share: float
    participle_share: float
    shared_names: tuple[str, ...]
    """Function names that stand in `SHARED_FILES` files or more."""
    double_classes: tuple[str, ...]
    """Class names that stand more than once; an underscore in front makes no other name."""
    import_circles: tuple[tuple[str, ...], ...]
    loose_files: int
    """Python files directly in `proxy/`."""


def run(arguments: list[str]) -> int:
    """Prints the table; the depth of a request is measured for the running tree alone."""
    parser = argparse.ArgumentParser(prog="python -m bench structure", description=__doc__)
    parser.add_argument("--root", type=Path, help="another checkout, read as text")
    options = parser.parse_args(arguments)
    figures = measure_tree(options.root or Path(__file__).parent.parent)
    print_figures(figures)
    if options.root is None:
        from bench.request_depth import measure_depth

        frames = measure_depth()
        files = {frame.partition(":")[0] for frame in frames}
        print(f"| own frames from route to gate | {len(frames)} in {len(files)} files |\n")
        print("\n".join(f"{number:2} {frame}" for number, frame in enumerate(frames, 1)))
    return 0


def print_figures(figures: StructureFigures) -> None:
    """The table, as bench/README.md holds it."""
    print("| figure | value |\n| --- | --- |")
    print(f"| functions | {figures.functions} |")
    print(f"| names shared by {SHARED_FILES} or more files | {len(figures.shared_names)} |")
    print(f"| one-word function names | {figures.one_word_share:.1%} |")
    print(f"| participles | {figures.participle_share:.1%} |")
    print(f"| classes defined twice | {len(figures.double_classes)} |")
    print(f"| import circles | {len(figures.import_circles)} |")
    print(f"| files directly in proxy/ | {figures.loose_files} |")


def measure_tree(root: Path) -> StructureFigures:
    """Reads every module of the product below `root`."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in list_modules(root)}
    names: Counter[str] = Counter()
    places: dict[str, set[Path]] = defaultdict(set)
    classes: Counter[str] = Counter()
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name.strip("_")] += 1
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_dunder(node.name):
                names[node.name] += 1
                places[node.name].add(path)
    total = names.total()
    return StructureFigures(
        functions=total,
        one_word_share=sum(count for name, count in names.items() if is_one_word(name)) / total,
        participle_share=sum(count for name, count in names.items() if is_participle(name)) / total,
        shared_names=tuple(sorted(name for name, paths in places.items() if len(paths) >= SHARED_FILES)),
        double_classes=tuple(sorted(name for name, count in classes.items() if count > 1)),
        import_circles=find_circles({name_module(root, path): tree for path, tree in trees.items()}),
        loose_files=len(list((root / "proxy").glob("*.py"))),
    )


def list_modules(root: Path) -> list[Path]:
    """Every Python file of the product, tests left out."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def name_module(root: Path, path: Path) -> str:
    """The dotted name under which a file is imported."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_dunder(name: str) -> bool:
    """Whether Python itself calls it."""
    return name.startswith("__") and name.endswith("__")


def is_one_word(name: str) -> bool:
    """Whether a name has no object beside its verb."""
    return "_" not in name.strip("_")


def is_participle(name: str) -> bool:
    """Whether a name begins with a participle: it says what became of something, not what is done."""
    word = name.strip("_").partition("_")[0]
    if word in NO_PARTICIPLES:
        return False
    return word in IRREGULAR_PARTICIPLES or (len(word) > 3 and word.endswith(("ed", "ing")))


def list_imports(module: str, tree: ast.Module, modules: frozenset[str]) -> Iterator[str]:
    """The modules that a module imports, wherever in it: of a package's names, the module that bears it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            package = f"{module}.x" if any(name.startswith(f"{module}.") for name in modules) else module
            above = package.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield from [name for name in (inner, source) if name in modules][:1]


def find_circles(trees: dict[str, ast.Module]) -> tuple[tuple[str, ...], ...]:
    """Sets of modules that reach each other by imports: strongly connected components (Tarjan, 1972)."""
    known = frozenset(trees)
    edges = {name: set(list_imports(name, tree, known)) - {name} for name, tree in trees.items()}
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles: list[tuple[str, ...]] = []

    def visit_module(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for target in edges[name]:
            if target not in order:
                visit_module(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in stack:
                lowest[name] = min(lowest[name], order[target])
        if lowest[name] == order[name]:
            at = stack.index(name)
            circle = tuple(sorted(stack[at:]))
            del stack[at:]
            if len(circle) > 1:
                circles.append(circle)

    for name in edges:
        if name not in order:
            visit_module(name)
    return tuple(circles)
