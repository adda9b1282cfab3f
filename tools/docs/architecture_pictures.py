"""The picture of the architecture page."""

from __future__ import annotations

from drawing import Drawing

LAYERS = (
    ("errors  progress  arrays  frames  plugins", "words that every part uses", "a"),
    ("policy", "what the steward declares", "a"),
    ("table", "sources, binding, encoding", "a"),
    ("partition  models  measure", "classes, guarantees, loss", "c"),
    ("methods", "ways to find classes", "c"),
    ("verification", "re-checks a release from its files", "b"),
    ("attacks  reports", "adversaries; pages", "b"),
    ("releases", "forms, and the release folder", "b"),
    ("engines", "this machine; Spark", "d"),
    ("pipeline", "the stages in order", "d"),
    ("checkup  advice", "any table measured; choosing", "d"),
    ("demo  web  cli", "doors", "d"),
)
PATH = (
    ("source", "read", ""),
    ("Table", "bind, encode", "table"),
    ("CodedTable", "partition", "table"),
    ("Partition", "refine, arrange", "methods"),
    ("Partition as published", "measure", "releases"),
    ("manifest", "make the tables", "models, measure"),
    ("tables", "write beside the place", "releases"),
    ("files", "verify", "releases"),
    ("release folder", "", "verification"),
)


def architecture() -> Drawing:
    """The layers on the left, the path of the data on the right."""
    sheet = Drawing(760, 520, "The layers of polyveil, and the path of the data through them")
    sheet.text(20, 32, "layers: a part imports from those above it", style="bold", size=14)
    for at, (names, what, colour) in enumerate(LAYERS):
        top = 46 + at * 37
        sheet.box(20, top, 330, 32, f"wash-{colour}")
        sheet.text(32, top + 14, names, style="bold", size=12)
        sheet.text(32, top + 27, what, style="soft", size=11)
    sheet.text(400, 32, "the path of the data: the pipeline's stages", style="bold", size=14)
    for at, (value, step, made_by) in enumerate(PATH):
        top = 46 + at * 49
        sheet.box(400, top, 170, 28, "head")
        sheet.text(485, top + 19, value, size=13, at="middle")
        if made_by:
            sheet.note(580, top + 19, made_by)
        if step:
            sheet.arrow(485, top + 28, 485, top + 48)
            sheet.text(495, top + 42, step, style="soft", size=11)
    sheet.note(400, 504, "An engine takes the steps; the order is written once.")
    return sheet


PICTURES = {"architecture": architecture}
