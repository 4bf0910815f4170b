"""Separations as one SVG: a strip per row, answerable questions above, the others below, the threshold."""

from collections.abc import Iterator
from html import escape

from golden.calibrate import Sample, Separation, Separations

LEFT, WIDTH, STRIP, HEAD = 170, 640, 64, 46
BLUE, RED, GREY = "#1f6feb", "#cf222e", "#6e7781"


def svg(found: Separations) -> str:
    """A picture of its own: no script, no font, no address. x is the similarity, 0 to 1."""
    rows = [(f"{name} · {tag}", row) for name, by in found.items() for tag, row in by.items()]
    height = HEAD + STRIP * len(rows) + 10
    body = (line for index, (label, row) in enumerate(rows) for line in _strip(label, row, index))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{height}" '
            'font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{LEFT}" y="16" fill="{BLUE}">● answerable</text>',
            f'<text x="{LEFT + 110}" y="16" fill="{RED}">● must be refused</text>',
            *(_scale(tenth / 10) for tenth in range(11)),
            *body,
            "</svg>\n",
        ]
    )


def _x(similarity: float) -> float:
    return round(LEFT + WIDTH * similarity, 1)


def _scale(value: float) -> str:
    return f'<text x="{_x(value)}" y="36" fill="{GREY}" text-anchor="middle">{value:.1f}</text>'


def _strip(label: str, row: Separation, index: int) -> Iterator[str]:
    top = HEAD + STRIP * index
    middle = top + STRIP / 2
    yield f'<text x="{LEFT - 12}" y="{middle + 4}" text-anchor="end">{escape(label)}</text>'
    yield f'<path d="M{LEFT} {middle}h{WIDTH}" stroke="{GREY}" stroke-width="0.5"/>'
    if row.threshold is not None:
        x = _x(row.threshold)
        yield f'<path d="M{x} {top + 4}v{STRIP - 8}" stroke="black" stroke-dasharray="3 2"/>'
        yield f'<text x="{x + 4}" y="{top + 12}">{row.threshold:.3f}</text>'
    for sample in row.samples:
        yield _dot(sample, middle)


def _dot(sample: Sample, middle: float) -> str:
    y, colour = (middle - 10, BLUE) if sample.answerable else (middle + 10, RED)
    title = f"<title>{escape(sample.id)} {sample.similarity:.3f}</title>"
    return (
        f'<circle cx="{_x(sample.similarity)}" cy="{y}" r="4" fill="{colour}" opacity="0.5">{title}</circle>'
    )
