"""A sheet to draw on: shapes, text, arrows and small tables as one SVG that reads well on light and on dark pages.

The colours follow the reader's system; the sheet has its own background, so a page of the other kind does no harm.
Values that differ in colour differ in shape as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

LIGHT = {
    "paper": "#ffffff", "edge": "#d0d7de", "ink": "#1f2328", "soft": "#57606a", "head": "#eef1f5",
    "a": "#2563a8", "b": "#b65a0f", "c": "#2b7a4b", "d": "#8a3f96", "mark": "#fff3c4",
}  # fmt: skip
DARK = {
    "paper": "#1c2029", "edge": "#3a4150", "ink": "#e8eaee", "soft": "#a6adba", "head": "#2a303c",
    "a": "#6cabf2", "b": "#f0a35a", "c": "#6cc990", "d": "#d292de", "mark": "#4d4420",
}  # fmt: skip
SHAPES = {"a": "circle", "b": "square", "c": "triangle", "d": "diamond"}
ROW = 24


def _style(colours: dict[str, str]) -> str:
    rules = [
        f".paper{{fill:{colours['paper']};stroke:{colours['edge']}}}",
        f"text{{fill:{colours['ink']}}} .soft{{fill:{colours['soft']}}} .head{{fill:{colours['head']}}}",
        f".mark{{fill:{colours['mark']}}} .edge{{stroke:{colours['edge']};fill:none}}",
        f".line{{stroke:{colours['soft']};fill:none}} .tip{{fill:{colours['soft']}}}",
    ]
    for name in SHAPES:
        rules.append(f".{name}{{fill:{colours[name]}}} .line-{name}{{stroke:{colours[name]};fill:none}}")
        rules.append(f".wash-{name}{{fill:{colours[name]};fill-opacity:.14;stroke:{colours[name]}}}")
    return " ".join(rules)


class Drawing:
    """What is drawn so far, in order."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, *, style: str = "", size: int = 14, at: str = "start") -> None:
        bold = ' font-weight="600"' if "bold" in style else ""
        kind = style.replace("bold", "").strip()
        of = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{at}"{bold}{of}>{escape(words)}</text>'
        )

    def note(self, x: float, y: float, words: str) -> None:
        """A remark: smaller and paler."""
        self.text(x, y, words, style="soft", size=13)

    def box(self, x: float, y: float, width: float, height: float, style: str, *, round_: int = 6) -> None:
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{round_}" class="{style}"/>')

    def shape(self, kind: str, x: float, y: float, size: float = 6) -> None:
        """A value: a circle, square, triangle or diamond around a point."""
        match SHAPES[kind]:
            case "circle":
                self.parts.append(f'<circle cx="{x}" cy="{y}" r="{size}" class="{kind}"/>')
            case "square":
                side = size * 1.8
                corner = f'x="{x - side / 2:g}" y="{y - side / 2:g}"'
                self.parts.append(f'<rect {corner} width="{side:g}" height="{side:g}" class="{kind}"/>')
            case "triangle":
                self.area([(x, y - size * 1.2), (x + size * 1.15, y + size), (x - size * 1.15, y + size)], kind)
            case "diamond":
                r = size * 1.25
                self.area([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], kind)

    def area(self, points: Sequence[tuple[float, float]], style: str) -> None:
        """A filled shape with these corners."""
        listed = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polygon points="{listed}" class="{style}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, *, style: str = "line", dashed: bool = False) -> None:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="1.6" class="{style}"{dash}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, *, dashed: bool = False) -> None:
        self.line(x1, y1, x2, y2, dashed=dashed)
        dash = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        dx, dy = (x2 - x1) / dash, (y2 - y1) / dash
        left = (x2 - 9 * dx + 5 * dy, y2 - 9 * dy - 5 * dx)
        right = (x2 - 9 * dx - 5 * dy, y2 - 9 * dy + 5 * dx)
        self.area([(x2, y2), left, right], "tip")

    def ring(self, x: float, y: float, width: float, height: float, *, style: str = "line") -> None:
        self.parts.append(f'<ellipse cx="{x}" cy="{y}" rx="{width}" ry="{height}" stroke-width="1.6" class="{style}"/>')

    def table(
        self,
        x: float,
        y: float,
        widths: Sequence[int],
        rows: Sequence[Sequence[str]],
        *,
        title: str = "",
        marked: Sequence[int] = (),
    ) -> float:
        """A small table whose first row is its head; returns where it ends below."""
        if title:
            self.text(x, y - 8, title, style="bold", size=13)
        whole = sum(widths)
        self.box(x, y, whole, ROW * len(rows), "edge", round_=4)
        for at, row in enumerate(rows):
            top = y + at * ROW
            if at == 0:
                self.box(x, top, whole, ROW, "head", round_=4)
            elif at in marked:
                self.box(x + 1, top + 1, whole - 2, ROW - 2, "mark", round_=3)
            left = x
            for width, cell in zip(widths, row, strict=True):
                self.text(left + 8, top + 16, cell, size=13, style="bold" if at == 0 else "")
                left += width
        return y + ROW * len(rows)

    def svg(self) -> str:
        style = f"{_style(LIGHT)} @media (prefers-color-scheme: dark) {{ {_style(DARK)} }}"
        font = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" font-family="{font}">',
                f"<title>{escape(self.title)}</title>",
                f"<style>{style}</style>",
                f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="8" class="paper"/>',
                *self.parts,
                "</svg>\n",
            ]
        )

    def save(self, file: Path) -> None:
        file.write_text(self.svg(), encoding="utf-8")
