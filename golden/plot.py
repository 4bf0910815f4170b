"""Separations as one SVG: a strip per row, answerable questions above, the others below, the threshold."""

from collections.abc import Iterator
from html import escape

from golden.calibrate import Separation, Separations, SimilaritySample

LEFT_MARGIN, SCALE_WIDTH, STRIP_HEIGHT, HEADER_HEIGHT = 170, 640, 64, 46
BLUE, RED, GREY = "#1f6feb", "#cf222e", "#6e7781"


def render_svg(separations: Separations) -> str:
    """A picture of its own: no script, no font, no address. x is the similarity, 0 to 1."""
    rows = [(f"{name} · {tag}", row) for name, by_tag in separations.items() for tag, row in by_tag.items()]
    height = HEADER_HEIGHT + STRIP_HEIGHT * len(rows) + 10
    body = (line for index, (label, row) in enumerate(rows) for line in _render_strip(label, row, index))
    width = LEFT_MARGIN + SCALE_WIDTH + 30
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{LEFT_MARGIN}" y="16" fill="{BLUE}">● answerable</text>',
            f'<text x="{LEFT_MARGIN + 110}" y="16" fill="{RED}">● must be refused</text>',
            *(_render_scale_mark(tenth / 10) for tenth in range(11)),
            *body,
            "</svg>\n",
        ]
    )


def _compute_x(similarity: float) -> float:
    return round(LEFT_MARGIN + SCALE_WIDTH * similarity, 1)


def _render_scale_mark(value: float) -> str:
    return f'<text x="{_compute_x(value)}" y="36" fill="{GREY}" text-anchor="middle">{value:.1f}</text>'


def _render_strip(label: str, row: Separation, index: int) -> Iterator[str]:
    top = HEADER_HEIGHT + STRIP_HEIGHT * index
    middle = top + STRIP_HEIGHT / 2
    yield f'<text x="{LEFT_MARGIN - 12}" y="{middle + 4}" text-anchor="end">{escape(label)}</text>'
    yield f'<path d="M{LEFT_MARGIN} {middle}h{SCALE_WIDTH}" stroke="{GREY}" stroke-width="0.5"/>'
    if row.threshold is not None:
        x = _compute_x(row.threshold)
        yield f'<path d="M{x} {top + 4}v{STRIP_HEIGHT - 8}" stroke="black" stroke-dasharray="3 2"/>'
        yield f'<text x="{x + 4}" y="{top + 12}">{row.threshold:.3f}</text>'
    for sample in row.samples:
        yield _render_dot(sample, middle)


def _render_dot(sample: SimilaritySample, middle: float) -> str:
    y, colour = (middle - 10, BLUE) if sample.is_answerable else (middle + 10, RED)
    title = f"<title>{escape(sample.id)} {sample.similarity:.3f}</title>"
    x = _compute_x(sample.similarity)
    return f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}" opacity="0.5">{title}</circle>'
