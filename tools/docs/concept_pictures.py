"""The pictures of the concept pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from drawing import Drawing


def linking() -> Drawing:
    """Two tables that share a birth date, a sex and a zip code."""
    sheet = Drawing(760, 268, "A register with names and a table without names share birth date, sex and zip code")
    sheet.table(
        20, 50, (78, 96, 44, 66),
        [("name", "born", "sex", "zip"), ("Ada", "1961-04-02", "f", "11270"), ("Ben", "1975-09-30", "m", "11300"),
         ("Cleo", "1988-01-17", "f", "11240")],
        title="what the neighbour knows", marked=(1,),
    )  # fmt: skip
    sheet.table(
        440, 50, (96, 44, 66, 94),
        [("born", "sex", "zip", "disease"), ("1975-09-30", "m", "11300", "flu"), ("1988-01-17", "f", "11240", "ulcer"),
         ("1961-04-02", "f", "11270", "HIV")],
        title="the table, names removed", marked=(3,),
    )  # fmt: skip
    sheet.arrow(306, 86, 436, 134)
    sheet.text(371, 84, "one row fits", style="soft", size=13, at="middle")
    sheet.text(20, 180, "Removing the names removed nothing: born, sex and zip together point to one person.", size=14)
    sheet.text(20, 208, "born, sex, zip", style="bold a", size=14)
    sheet.text(150, 208, "are quasi-identifiers: somebody can know them about somebody else.", size=14)
    sheet.text(20, 234, "disease", style="bold b", size=14)
    sheet.text(150, 234, "is sensitive: it is what the neighbour should not learn.", size=14)
    return sheet


def classes() -> Drawing:
    """The same table, generalized into two groups."""
    sheet = Drawing(760, 232, "Six rows in two groups: within a group the quasi-identifiers are equal")
    sheet.table(
        20, 44, (70, 44, 74, 86),
        [("age", "sex", "zip", "disease"), ("[34-38]", "*", "1127*", "flu"), ("[34-38]", "*", "1127*", "asthma"),
         ("[34-38]", "*", "1127*", "ulcer"), ("[51-60]", "f", "113**", "flu"), ("[51-60]", "f", "113**", "asthma"),
         ("[51-60]", "f", "113**", "HIV")],
        title="the release", marked=(1, 2, 3),
    )  # fmt: skip
    sheet.arrow(380, 104, 302, 104)
    sheet.text(390, 100, "a group: three rows that look alike", size=14)
    sheet.text(390, 120, "a neighbour of 36 in 11274 is one of them,", style="soft", size=13)
    sheet.text(390, 138, "and nothing tells which", style="soft", size=13)
    sheet.arrow(380, 176, 302, 176)
    sheet.text(390, 172, "another group", size=14)
    sheet.text(390, 192, "what a reader learns about a person is what", style="soft", size=13)
    sheet.text(390, 210, "the sensitive column says in the group", style="soft", size=13)
    return sheet


def attacks() -> Drawing:
    """Four groups that keep k = 4 and tell too much."""
    sheet = Drawing(760, 282, "Four groups of four rows that look alike and still tell something")
    panels = [
        ("homogeneity", ("HIV", "HIV", "HIV", "HIV"), "bbbb", ("Everybody here has it.", "stopped by: l, t")),
        ("similarity", ("gastritis", "ulcer", "stomach cancer", "ulcer"), "abcb",
         ("It is the stomach.", "stopped by: t (hierarchy)")),
        ("skewness", ("HIV", "flu", "HIV", "flu"), "baba", ("One in two; in the whole", "table one in a hundred.",
                                                            "stopped by: t, beta, delta")),
        ("joint", ("flu      2,000", "flu      2,100", "HIV    9,000", "ulcer  9,100"), "aabc",
         ("Who earns 9,000 here", "does not have flu.", "stopped by: joint t")),
    ]  # fmt: skip
    sheet.note(20, 30, "Each box is a group of four rows that look alike (k = 4): nobody's own row is found, and still")
    for i, (title, cells, kinds, lines) in enumerate(panels):
        left = 20 + i * 183
        sheet.text(left, 64, title, style="bold", size=15)
        sheet.box(left, 78, 168, 112, "edge")
        for row, (cell, kind) in enumerate(zip(cells, kinds, strict=True)):
            sheet.shape(kind, left + 20, 96 + row * 26)
            sheet.text(left + 38, 101 + row * 26, cell, size=13)
        for at, line in enumerate(lines):
            last = at == len(lines) - 1
            sheet.text(left, 216 + at * 20 + (4 if last else 0), line, size=13, style="soft" if last else "")
    return sheet


def _ordered_distance(whole: Sequence[int], some: Sequence[int]) -> float:
    """The ordered distance of Li et al.: moved mass times the share of the range it moves."""
    moved, total = 0.0, 0.0
    for q, p in zip(whole, some, strict=True):
        moved += p / sum(some) - q / sum(whole)
        total += abs(moved)
    return total / (len(whole) - 1)


def closeness() -> Drawing:
    """Nine salaries, and two groups of three: one close to the whole table, one not."""
    sheet = Drawing(760, 236, "The spread of a column in the whole table and in two groups")
    panels = [("whole table", (1,) * 9), ("group: 3k, 4k, 5k", (1, 1, 1, 0, 0, 0, 0, 0, 0)),
              ("group: 6k, 8k, 11k", (0, 0, 0, 1, 0, 1, 0, 0, 1))]  # fmt: skip
    whole = panels[0][1]
    for i, (title, counts) in enumerate(panels):
        left = 24 + i * 246
        sheet.text(left, 34, title, style="bold", size=15)
        sheet.line(left, 160, left + 216, 160)
        for at, count in enumerate(counts):
            height = 270 * count / sum(counts)
            if count:
                sheet.box(left + 4 + at * 24, 160 - height, 17, height, ("a", "b", "c")[i], round_=2)
            sheet.text(left + 12 + at * 24, 177, f"{at + 3}k", size=11, style="soft", at="middle")
        if i:
            sheet.text(left, 206, f"distance {_ordered_distance(whole, counts):.3f}", style="bold", size=14)
            words = ("all are poor", "tells little")[i - 1]
            sheet.text(left + 126, 206, words, size=13, style="soft")
        else:
            sheet.note(left, 206, "t bounds the distance from this")
    sheet.text(24, 226, "Distance: how much must move, times how far it must move, from the group to the whole table.",
               size=12, style="soft")  # fmt: skip
    return sheet


def forms() -> Drawing:
    """One table, released in three forms."""
    sheet = Drawing(760, 664, "One small table released as generalized, anatomized and sliced")
    sheet.table(
        20, 46, (54, 70, 84, 74),
        [("age", "zip", "disease", "salary"), ("34", "11270", "flu", "3,000"), ("36", "11274", "ulcer", "9,000"),
         ("52", "11300", "HIV", "4,000"), ("58", "11309", "flu", "7,000")],
        title="the original (names dropped)",
    )  # fmt: skip
    sheet.table(
        420, 46, (76, 74, 84, 74),
        [("age", "zip", "disease", "salary"), ("[34-36]", "1127*", "flu", "3,000"),
         ("[34-36]", "1127*", "ulcer", "9,000"),
         ("[52-58]", "1130*", "HIV", "4,000"), ("[52-58]", "1130*", "flu", "7,000")],
        title="generalized: one table",
    )  # fmt: skip
    sheet.note(420, 186, "Rows stay whole; quasi-identifiers get coarser.")
    sheet.text(20, 240, "anatomized: two tables, one group number", style="bold", size=14)
    sheet.table(
        20, 272, (54, 70, 64),
        [("age", "zip", "group"), ("34", "11270", "2"), ("36", "11274", "2"), ("52", "11300", "1"),
         ("58", "11309", "1")],
        title="quasi",
    )  # fmt: skip
    sheet.table(
        300, 272, (64, 84, 74),
        [("group", "disease", "salary"), ("1", "flu", "7,000"), ("1", "HIV", "4,000"), ("2", "ulcer", "9,000"),
         ("2", "flu", "3,000")],
        title="sensitive_1",
    )  # fmt: skip
    sheet.line(212, 332, 296, 356, dashed=True)
    sheet.line(212, 332, 296, 380, dashed=True)
    sheet.note(540, 300, "Quasi-identifiers can stay as")
    sheet.note(540, 320, "they are. Which values of a")
    sheet.note(540, 340, "group are whose stays open.")
    sheet.text(20, 440, "sliced: one sensitive table per slice", style="bold", size=14)
    sheet.table(
        20, 472, (76, 74, 74, 74),
        [("age", "zip", "group_1", "group_2"), ("[34-36]", "1127*", "2", "1"), ("[34-36]", "1127*", "2", "2"),
         ("[52-58]", "1130*", "1", "1"), ("[52-58]", "1130*", "1", "2")],
        title="quasi",
    )  # fmt: skip
    sheet.table(
        360, 472, (74, 84),
        [("group_1", "disease"), ("1", "flu"), ("1", "HIV"), ("2", "ulcer"), ("2", "flu")],
        title="sensitive_1",
    )  # fmt: skip
    sheet.table(
        560, 472, (74, 74),
        [("group_2", "salary"), ("2", "9,000"), ("1", "3,000"), ("2", "7,000"), ("1", "4,000")],
        title="sensitive_2",
    )  # fmt: skip
    sheet.note(20, 620, "Columns that belong together share a slice. Between slices the link is broken: group_1 and")
    sheet.note(20, 640, "group_2 are numbered independently, so a disease and a salary are not matched.")
    return sheet


def bound() -> Drawing:
    """Five ages, k = 2: the smallest box around each row, and the best groups."""
    sheet = Drawing(760, 236, "Five rows on a line: what each must lose by itself, and what they lose together")
    ages = (20, 24, 36, 40, 80)

    def place(age: int) -> float:
        return 60 + (age - 20) * 10

    rows = ((76, "each row with its nearest", ((20, 24), (36, 40), (40, 80)), "b"),
            (150, "the best groups", ((20, 24), (36, 80)), "a"))  # fmt: skip
    for top, title, boxes, kind in rows:
        sheet.text(20, top - 34, title, style="bold", size=14)
        for i, (low, high) in enumerate(boxes):
            height = 22 + 8 * (i % 2)
            sheet.box(place(low) - 10, top - height / 2, place(high) - place(low) + 20, height, f"wash-{kind}")
        for age in ages:
            sheet.shape("a", place(age), top)
    for age in ages:
        sheet.text(place(age), 184, str(age), style="soft", size=12, at="middle")
    sheet.text(20, 212, "By themselves: (4 + 4 + 4 + 4 + 40) / 60 of 5 rows. Together: (2 x 4 + 3 x 44) / 60:", size=13)
    sheet.text(20, 228, "the row of 80 needs partners, and they lose as much as it does.", style="soft", size=13)
    return sheet


def uniqueness() -> Drawing:
    """The mean errors of the estimates of unique people, as the table of the page on risk has them."""
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "risk.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| alpha")
    ]
    populations = list(dict.fromkeys(row[0] for row in rows))
    sheet = Drawing(760, 300, "Mean error of three estimates of the share of unique people, by the share in the sample")
    top, bottom, most = 56, 244, max(float(row[3 + i]) for row in rows for i in range(3))

    def across(fraction: str) -> float:
        return round(20 + 150 * math.log(float(fraction) / 0.01) / math.log(30), 1)

    kinds = (("a", "Pitman"), ("b", "Zayatz"), ("c", "SNB"))
    for panel, name in enumerate(populations):
        left = 62 + panel * 236
        sheet.text(left, 40, name, style="bold", size=14)
        for error in (0, 10, 20, 30):
            y = round(bottom - (bottom - top) * error / most, 1)
            sheet.line(left, y, left + 190, y, style="edge")
            sheet.text(left - 8, y + 4, f"+{error}" if error else "0", style="soft", size=12, at="end")
        for number, (kind, _) in enumerate(kinds):
            own = [(across(row[1]), float(row[3 + number])) for row in rows if row[0] == name]
            places = [(left + x, round(bottom - (bottom - top) * error / most, 1)) for x, error in own]
            for (x1, y1), (x2, y2) in pairwise(places):
                sheet.line(x1, y1, x2, y2, style=f"line-{kind}")
            for x, y in places:
                sheet.shape(kind, x, y, 4)
        for fraction in ("0.01", "0.03", "0.1", "0.3"):
            sheet.text(left + across(fraction), 262, fraction, style="soft", size=12, at="middle")
    for number, (kind, name) in enumerate(kinds):
        sheet.shape(kind, 70 + number * 90, 283, 5)
        sheet.text(80 + number * 90, 288, name, size=13)
    sheet.text(740, 288, "error in percentage points, by the share in the sample", style="soft", size=13, at="end")
    return sheet


PICTURES = {
    "linking": linking,
    "classes": classes,
    "attacks": attacks,
    "closeness": closeness,
    "forms": forms,
    "bound": bound,
    "uniqueness": uniqueness,
}
