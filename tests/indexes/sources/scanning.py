"""A folder written and looked through: the documents found, and the faults told."""

from pathlib import Path

from indexes.sources.folder import DocumentFolder
from indexes.sources.types import Finding, SourceFault
from indexes.types import Document

PUBLIC = "allowed_groups: [public]\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def scan(root: Path, **more: object) -> list[Finding]:
    return list(DocumentFolder("docs", root, **more).scan())  # type: ignore[arg-type]


def documents(findings: list[Finding]) -> dict[str, Document]:
    return {finding.id: finding for finding in findings if isinstance(finding, Document)}


def faults(findings: list[Finding]) -> list[str]:
    said = [f if isinstance(f, SourceFault) else f.fault for f in findings if not isinstance(f, Document)]
    return [str(fault) for fault in said if fault]


def only_fault(root: Path, **more: object) -> str:
    found = scan(root, **more)
    assert documents(found) == {}
    (fault,) = faults(found)
    return fault
