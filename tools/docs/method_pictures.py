"""The pictures of the method pages: the same few rows, with the sensitive value as shape and colour."""

from __future__ import annotations

from collections.abc import Sequence

from drawing import Drawing

# Rows over two quasi-identifiers: across, down, sensitive value. Hand-placed so that neighbours tend to be alike.
ROWS: tuple[tuple[float, float, str], ...] = (
    (0.06, 0.10, "a"), (0.14, 0.30, "a"), (0.10, 0.62, "b"), (0.20, 0.86, "a"),
    (0.30, 0.16, "b"), (0.34, 0.44, "a"), (0.28, 0.70, "c"), (0.42, 0.90, "b"),
    (0.56, 0.12, "a"), (0.62, 0.34, "c"), (0.54, 0.58, "b"), (0.66, 0.80, "c"),
    (0.80, 0.20, "b"), (0.92, 0.40, "c"), (0.84, 0.64, "a"), (0.94, 0.88, "c"),
)  # fmt: skip
LEFT, TOP, WIDE, HIGH = 40, 54, 300, 190


def _axes(sheet: Drawing, left: float, title: str, across: str, down: str) -> None:
    sheet.text(left, 34, title, style="bold", size=15)
    sheet.box(left, TOP, WIDE, HIGH, "edge", round_=2)
    sheet.text(left + WIDE, TOP + HIGH + 18, f"{across} \u2192", size=12, style="soft", at="end")
    sheet.text(left, TOP + HIGH + 18, f"\u2191 {down}", size=12, style="soft")


def _at(left: float, row: tuple[float, float, str]) -> tuple[float, float]:
    return left + row[0] * WIDE, TOP + row[1] * HIGH


def _rows(sheet: Drawing, left: float, rows: Sequence[tuple[float, float, str]] = ROWS) -> None:
    for row in rows:
        sheet.shape(row[2], *_at(left, row))


def _joined(sheet: Drawing, left: float, members: Sequence[int]) -> None:
    """A group, drawn as the area between its rows."""
    sheet.area([_at(left, ROWS[i]) for i in members], "wash-a")


def _notes(sheet: Drawing, x: float, y: float, lines: Sequence[str], gap: int = 22) -> None:
    for i, line in enumerate(lines):
        sheet.text(x, y + i * gap, line, size=14)


def mondrian() -> Drawing:
    sheet = Drawing(760, 290, "Mondrian: cuts along one quasi-identifier at a time")
    _axes(sheet, LEFT, "rows by two quasi-identifiers", "age", "zip")
    middle = LEFT + 0.48 * WIDE
    sheet.line(middle, TOP, middle, TOP + HIGH, style="line-a")
    sheet.text(middle + 4, TOP + 14, "1", size=12, style="a")
    sheet.line(LEFT, TOP + 0.52 * HIGH, middle, TOP + 0.52 * HIGH, style="line-b")
    sheet.text(LEFT + 4, TOP + 0.52 * HIGH - 4, "2", size=12, style="b")
    sheet.line(middle, TOP + 0.5 * HIGH, LEFT + WIDE, TOP + 0.5 * HIGH, style="line-c")
    sheet.text(LEFT + WIDE - 12, TOP + 0.5 * HIGH - 4, "3", size=12, style="c")
    _rows(sheet, LEFT)
    _notes(sheet, 380, 80, [
        "1  Cut the whole table at the median age.",
        "2, 3  Cut each part again, along the column",
        "that is widest, if every half keeps k, l, t.",
        "Stop where no cut does.",
        "",
        "The parts do not overlap. Both halves must be",
        "safe, so under a strict t it stops early.",
    ])  # fmt: skip
    return sheet


def sift() -> Drawing:
    sheet = Drawing(760, 348, "sift: groups are taken out of a tree from the leaves up; the rest travels up")
    sheet.text(24, 34, "1  from the leaves up", style="bold", size=15)
    leaves = ["aab", "abc", "bbc", "ca"]
    taken = [0, 3, 0, 0]
    for i, (held, out) in enumerate(zip(leaves, taken, strict=True)):
        left = 24 + i * 104
        sheet.box(left, 250, 92, 40, "wash-c" if out else "edge")
        for at, kind in enumerate(held):
            sheet.shape(kind, left + 20 + at * 25, 270)
    for i, held in enumerate(["aab", "bbcac"]):
        left = 50 + i * 208
        sheet.line(left + 70, 196, 70 + i * 208, 250)
        sheet.line(left + 70, 196, 174 + i * 208, 250)
        sheet.box(left, 156, 148, 40, "edge")
        for at, kind in enumerate(held):
            sheet.shape(kind, left + 18 + at * 26, 176)
        if i == 1:
            sheet.box(left + 31, 160, 80, 32, "wash-c")
    sheet.line(224, 102, 120, 156)
    sheet.line(224, 102, 328, 156)
    sheet.box(150, 62, 148, 40, "wash-c")
    for at, kind in enumerate("aabbc"):
        sheet.shape(kind, 172 + at * 26, 82)
    sheet.note(24, 318, "Every node keeps what satisfies every model as a group (green),")
    sheet.note(24, 336, "and hands the rest up. Near the leaves groups cost nothing.")
    sheet.text(470, 34, "2  then improve", style="bold", size=15)
    sheet.box(476, 62, 116, 92, "wash-a")
    sheet.box(628, 92, 116, 92, "wash-b")
    for x, y, kind in (
        (496, 84, "a"),
        (520, 130, "b"),
        (566, 96, "c"),
        (650, 116, "b"),
        (690, 160, "a"),
        (724, 120, "c"),
    ):
        sheet.shape(kind, x, y)
    sheet.arrow(576, 96, 640, 112)
    sheet.arrow(642, 122, 530, 130)
    _notes(sheet, 470, 222, [
        "Rows move or change places, near",
        "groups are pooled and built anew,",
        "whenever loss falls and every model",
        "still holds in both groups.",
    ], 20)  # fmt: skip
    return sheet


def _strata(sheet: Drawing, left: float, kind: str) -> None:
    """Rows over two sensitive columns, in three strata; the letter is the stratum."""
    spots = {
        "a": ((0.08, 0.14), (0.18, 0.32), (0.12, 0.56), (0.26, 0.74), (0.22, 0.10)),
        "b": ((0.42, 0.18), (0.52, 0.40), (0.44, 0.66), (0.56, 0.84), (0.50, 0.62)),
        "c": ((0.74, 0.22), (0.88, 0.34), (0.78, 0.56), (0.90, 0.72), (0.82, 0.88)),
    }
    if kind == "fcm":
        for stratum, (x, y, w, h) in {
            "a": (0.17, 0.42, 48, 82),
            "b": (0.49, 0.52, 40, 82),
            "c": (0.82, 0.54, 46, 84),
        }.items():
            sheet.ring(left + x * WIDE, TOP + y * HIGH, w, h, style=f"line-{stratum}")
    else:
        sheet.arrow(left + 8, TOP + HIGH * 0.5, left + WIDE - 4, TOP + HIGH * 0.52)
        for x in (0.34, 0.65):
            sheet.line(left + x * WIDE, TOP + 6, left + x * WIDE, TOP + HIGH - 6, dashed=True)
    for stratum, points in spots.items():
        for x, y in points:
            sheet.shape(stratum, left + x * WIDE, TOP + y * HIGH)


def _one_of_each(sheet: Drawing, left: float) -> None:
    """Groups over the quasi-identifiers with one row of each stratum."""
    rows = (
        (0.10, 0.16, "a"), (0.22, 0.30, "b"), (0.30, 0.12, "c"), (0.16, 0.72, "b"), (0.30, 0.86, "a"),
        (0.36, 0.66, "c"), (0.60, 0.18, "c"), (0.72, 0.36, "a"), (0.86, 0.16, "b"), (0.62, 0.66, "a"),
        (0.78, 0.84, "c"), (0.92, 0.68, "b"),
    )  # fmt: skip
    for start in range(0, len(rows), 3):
        points = [_at(left, row) for row in rows[start : start + 3]]
        x, y = min(p[0] for p in points) - 13, min(p[1] for p in points) - 13
        sheet.box(round(x, 1), round(y, 1), round(max(p[0] for p in points) + 13 - x, 1),
                  round(max(p[1] for p in points) + 13 - y, 1), "edge")  # fmt: skip
    _rows(sheet, left, rows)


def fcm() -> Drawing:
    sheet = Drawing(760, 300, "fcm: equal strata of similar sensitive values, one row of each per group")
    _axes(sheet, LEFT, "1  strata of like sensitive values", "occupation", "education")
    _strata(sheet, LEFT, "fcm")
    _axes(sheet, 410, "2  near rows, one of each stratum", "age", "zip")
    _one_of_each(sheet, 410)
    sheet.note(LEFT, 292, "Each group is a small copy of the whole table. Groups that still fail are merged.")
    return sheet


def pca() -> Drawing:
    sheet = Drawing(760, 300, "pca: slices along the first principal component of the sensitive values")
    _axes(sheet, LEFT, "1  slices along the main direction", "occupation", "education")
    _strata(sheet, LEFT, "pca")
    _axes(sheet, 410, "2  near rows, one of each slice", "age", "zip")
    _one_of_each(sheet, 410)
    sheet.note(LEFT, 292, "As fcm, with sorting in place of clustering. Groups that still fail are merged.")
    return sheet


def swap() -> Drawing:
    sheet = Drawing(760, 302, "swap: a group of near rows exchanges a row with one outside until it is safe")
    _axes(sheet, LEFT, "1  the nearest rows", "age", "zip")
    _joined(sheet, LEFT, (0, 1, 5))
    _rows(sheet, LEFT)
    sheet.note(LEFT + 112, TOP + 92, "all alike: fails")
    _axes(sheet, 410, "2  swapped until the models hold", "age", "zip")
    _joined(sheet, 410, (0, 4, 5))
    sheet.arrow(410 + 0.14 * WIDE + 10, TOP + 0.30 * HIGH - 4, 410 + 0.30 * WIDE - 10, TOP + 0.16 * HIGH + 6)
    _rows(sheet, 410)
    sheet.note(LEFT, 290, "Near rows come first, sensitive values second. Groups that cannot be helped are merged.")
    return sheet


def fragment() -> Drawing:
    sheet = Drawing(760, 300, "fragment: boxes of sensitive values, and a share of each box for every group")
    _axes(sheet, LEFT, "1  boxes of sensitive values", "cholesterol", "glucose")
    for x1, y1, x2, y2 in ((0.5, 0, 0.5, 1), (0, 0.48, 0.5, 0.48), (0.5, 0.62, 1, 0.62)):
        sheet.line(LEFT + x1 * WIDE, TOP + y1 * HIGH, LEFT + x2 * WIDE, TOP + y2 * HIGH)
    spots = {"a": ((0.1, 0.12), (0.3, 0.3), (0.42, 0.16)), "b": ((0.12, 0.64), (0.26, 0.86), (0.4, 0.7)),
             "c": ((0.6, 0.14), (0.78, 0.44), (0.9, 0.24)), "d": ((0.62, 0.76), (0.76, 0.9), (0.92, 0.74))}  # fmt: skip
    for kind, points in spots.items():
        for x, y in points:
            sheet.shape(kind, LEFT + x * WIDE, TOP + y * HIGH)
    sheet.text(410, 34, "2  every group gets its share of each", style="bold", size=15)
    for i in range(3):
        sheet.box(410, TOP + 6 + i * 62, 300, 46, "edge")
        sheet.text(424, TOP + 34 + i * 62, f"group {i + 1}", size=13)
        for at, kind in enumerate("abcd"):
            sheet.shape(kind, 520 + at * 46, TOP + 29 + i * 62)
    sheet.note(
        LEFT, 292, "Rows move only inside their box, so a group cannot be farther away than its boxes are large."
    )
    return sheet


def kaca() -> Drawing:
    sheet = Drawing(760, 284, "kaca: the group that fails is merged with the group that costs least")
    steps = [("equal rows", ((40, 70, 58, "aa"), (40, 124, 34, "b"), (40, 200, 88, "abc"))),
             ("merge the nearest", ((290, 70, 100, "aab"), (290, 200, 88, "abc"))),
             ("until all are safe", ((540, 124, 170, "aababc"),))]  # fmt: skip
    for i, (title, boxes) in enumerate(steps):
        sheet.text((40, 290, 540)[i], 40, title, style="bold", size=15)
        for x, y, width, held in boxes:
            sheet.box(x, y, width, 36, "wash-c" if len(set(held)) > 2 else "edge")
            for at, kind in enumerate(held):
                sheet.shape(kind, x + 18 + at * 26, y + 18)
    sheet.arrow(140, 100, 280, 92)
    sheet.arrow(140, 140, 280, 98)
    sheet.arrow(140, 218, 280, 218, dashed=True)
    sheet.arrow(400, 92, 530, 134)
    sheet.arrow(390, 214, 530, 154)
    sheet.note(
        40, 270, "Nearest is what distorts least in the hierarchies. Green groups are safe; others are merged on."
    )
    return sheet


def lattice() -> Drawing:
    sheet = Drawing(760, 330, "lattice: levels of two columns, from the values below to one group above")
    sheet.text(30, 34, "each node: one level for every column", style="bold", size=15)
    places = {(0, 0): (360, 262), (1, 0): (230, 206), (0, 1): (490, 206), (1, 1): (360, 150), (0, 2): (620, 150),
              (1, 2): (490, 94), (2, 1): (230, 94), (2, 0): (100, 150), (2, 2): (360, 44)}  # fmt: skip
    for (age, town), (x, y) in places.items():
        for above in ((age + 1, town), (age, town + 1)):
            if above in places:
                sheet.line(x, y - 12, places[above][0], places[above][1] + 12)
    safe, best = {(2, 1), (1, 2), (2, 2)}, (2, 1)
    for node, (x, y) in places.items():
        sheet.box(x - 58, y - 14, 116, 28, "wash-c" if node in safe else "edge")
        words = f"age {node[0]}, town {node[1]}"
        sheet.text(x, y + 5, words, size=13, at="middle", style="bold" if node == best else "")
    sheet.note(
        30, 312, "Green levels meet every requirement; the one in bold loses least. Finer than a failing one: fails."
    )
    return sheet


def buckets() -> Drawing:
    sheet = Drawing(
        760, 330, "Buckets of rows with equal sensitive values; a group takes one row from buckets that differ"
    )
    sheet.text(30, 34, "1  buckets: rows with the same values", style="bold", size=15)
    diseases, salaries = ("flu", "ulcer", "asthma", "HIV"), ("2,000", "4,000", "9,000")
    counts = ((3, 1, 0), (1, 2, 1), (0, 2, 1), (1, 0, 2))
    chosen = {(0, 0), (1, 1), (3, 2)}
    for c, salary in enumerate(salaries):
        sheet.text(156 + c * 84, 66, salary, size=13, at="middle", style="soft")
    for r, disease in enumerate(diseases):
        sheet.text(102, 102 + r * 54, disease, size=13, at="end", style="soft")
        for c, count in enumerate(counts[r]):
            if not count:
                continue
            sheet.box(118 + c * 84, 74 + r * 54, 76, 46, "wash-c" if (r, c) in chosen else "edge")
            for at in range(count):
                sheet.shape("abcd"[r], 138 + c * 84 + at * 20, 97 + r * 54, 5)
    sheet.text(430, 34, "2  a group of l = 3", style="bold", size=15)
    for at, (kind, words) in enumerate((("a", "flu, 2,000"), ("b", "ulcer, 4,000"), ("d", "HIV, 9,000"))):
        sheet.box(430, 62 + at * 44, 170, 36, "wash-c")
        sheet.shape(kind, 450, 80 + at * 44)
        sheet.text(470, 85 + at * 44, words, size=14)
    _notes(sheet, 430, 226, [
        "No two rows share a disease or a salary,",
        "so no value is more likely than 1/3.",
        "Largest buckets first, so that fewest rows",
        "are left without a group.",
    ], 20)  # fmt: skip
    sheet.note(30, 316, "With security levels (-mslf), HIV fills at most 1/3 of a group, flu perhaps all of it.")
    return sheet


def sloms() -> Drawing:
    sheet = Drawing(760, 318, "sloms: sensitive columns in slices, each with groups of its own")
    sheet.text(30, 34, "1  columns that depend on each other", style="bold", size=15)
    for x, y, name in (
        (84, 84, "disease"),
        (84, 140, "medicine"),
        (254, 84, "salary"),
        (254, 140, "occupation"),
        (164, 210, "religion"),
    ):
        sheet.box(x - 46, y - 18, 96, 30, "head")
        sheet.text(x + 2, y + 2, name, size=13, at="middle")
    sheet.ring(86, 106, 66, 56, style="line-a")
    sheet.ring(256, 106, 66, 56, style="line-b")
    sheet.ring(166, 206, 66, 30, style="line-c")
    sheet.text(400, 34, "2  one table per slice, groups of its own", style="bold", size=15)
    for at, (columns, kind) in enumerate(
        (("group_1  disease, medicine", "a"), ("group_2  salary, occupation", "b"), ("group_3  religion", "c"))
    ):
        sheet.box(490, 62 + at * 58, 240, 42, f"wash-{kind}")
        sheet.text(506, 88 + at * 58, columns, size=14)
        sheet.line(458, 140, 490, 83 + at * 58, dashed=True)
    sheet.box(362, 112, 96, 56, "edge")
    sheet.text(410, 136, "age, zip", size=13, at="middle")
    sheet.text(410, 156, "by kaca, k", size=13, at="middle", style="soft")
    sheet.note(
        30, 278, "A group needs to be diverse in one or two columns, not in five at once, so far fewer rows are lost."
    )
    sheet.note(30, 298, "What joins a disease to a salary is only that a person is in one group of each.")
    return sheet


def auto() -> Drawing:
    sheet = Drawing(760, 210, "auto: several methods run, the release of least loss is kept")
    for at, (name, loss) in enumerate(
        (("sift", 92), ("mondrian", 250), ("fcm", 176), ("pca", 184), ("fragment", 170), ("kaca", 210))
    ):
        sheet.text(112, 40 + at * 26, name, size=14, at="end")
        sheet.box(124, 27 + at * 26, loss, 17, "wash-c" if at == 0 else "head", round_=2)
    sheet.text(230, 40, "kept", style="bold c", size=14)
    _notes(sheet, 440, 60, [
        "Every method gets the same policy.",
        "Those that cannot reach it drop out.",
        "The one with the least loss is published,",
        "and the manifest says which it was.",
    ])  # fmt: skip
    sheet.text(30, 198, "Bars: loss, as an example.", size=12, style="soft")
    return sheet


PICTURES = {
    picture.__name__: picture
    for picture in (sift, mondrian, fcm, pca, swap, fragment, kaca, lattice, buckets, sloms, auto)
}  # fmt: skip
