"""A folder written and looked through: the documents found, and the faults told."""

from pathlib import Path

from indexes.sources.folder import DocumentFolder
from indexes.sources.types import Finding, SourceFault
from indexes.types import Document

PUBLIC = "allowed_groups: [public]\n"


def write_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def scan_folder(root: Path, **more: object) -> list[Finding]:
    return list(DocumentFolder("docs", root, **more).scan())  # type: ignore[arg-type]


def select_documents(findings: list[Finding]) -> dict[str, Document]:
    return {finding.id: finding for finding in findings if isinstance(finding, Document)}


def select_faults(findings: list[Finding]) -> list[str]:
    problems = [f if isinstance(f, SourceFault) else f.fault for f in findings if not isinstance(f, Document)]
    return [str(fault) for fault in problems if fault]


def scan_for_fault(root: Path, **more: object) -> str:
    found = scan_folder(root, **more)
    assert select_documents(found) == {}
    (fault,) = select_faults(found)
    return fault
