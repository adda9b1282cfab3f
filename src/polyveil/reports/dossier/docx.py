"""A dossier as a Word document (Office Open XML): headings, paragraphs and tables, to be completed by a person."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

from polyveil.reports.dossier.document import Document, Part
from polyveil.reports.dossier.facts import FactTable
from polyveil.reports.dossier.html import BLANK, READING

_SPACE = "http://schemas.openxmlformats.org"
_WORD = f'xmlns:w="{_SPACE}/wordprocessingml/2006/main"'
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_FIXED = {
    "[Content_Types].xml": f"""<Types xmlns="{_SPACE}/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>""",
    "_rels/.rels": f"""<Relationships xmlns="{_SPACE}/package/2006/relationships"><Relationship Id="r1"
Type="{_SPACE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>""",
    "word/_rels/document.xml.rels": f"""<Relationships xmlns="{_SPACE}/package/2006/relationships">
<Relationship Id="r1" Type="{_SPACE}/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>""",
    "word/styles.xml": f"""<w:styles {_WORD}>
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:pPr><w:spacing w:after="120"/>
</w:pPr><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="21"/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:basedOn w:val="Normal"/>
<w:rPr><w:b/><w:sz w:val="36"/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/>
<w:pPr><w:keepNext/><w:spacing w:before="320"/><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="27"/></w:rPr>
</w:style>
<w:style w:type="paragraph" w:styleId="Lead"><w:name w:val="Lead"/><w:basedOn w:val="Normal"/>
<w:pPr><w:keepNext/></w:pPr></w:style></w:styles>""",
}
_EDGES = ("top", "left", "bottom", "right", "insideH", "insideV")
_SOFT, _ITALIC, _BOLD, _MARKED = '<w:color w:val="666666"/>', "<w:i/>", "<w:b/>", '<w:highlight w:val="yellow"/>'


def to_docx(document: Document) -> bytes:
    """The file; equal documents give equal bytes."""
    body = [_paragraph(_run(document.title), style="Title"), _paragraph(_run(f"{document.after} {READING}", _SOFT))]
    body.append(_paragraph(_run(f"Sources: {document.sources}", _SOFT)))
    body += map(_part, document.parts)
    body.append(_paragraph(_run(document.bound, _SOFT)))
    page = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1200" w:right="1100" w:bottom="1200" '
    page += 'w:left="1100" w:header="600" w:footer="600" w:gutter="0"/></w:sectPr>'
    text = f"<w:document {_WORD}><w:body>{''.join(body)}{page}</w:body></w:document>"
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**_FIXED, "word/document.xml": text}.items():
            about = zipfile.ZipInfo(name)  # the date is that of no day
            archive.writestr(about, _HEAD + content, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


def _part(part: Part) -> str:
    if part.kind == "table" and part.table is not None:
        return _paragraph(_run(part.text, _BOLD) + _checks(part), style="Lead") + _table(part.table) + _paragraph("")
    if part.kind == "heading":
        return _paragraph(_run(part.text), style="Heading1")
    if part.kind == "asks":
        return _paragraph(_run(part.text, _ITALIC + _SOFT), style="Lead")
    if part.kind == "blank":
        return _paragraph(_run(BLANK, _BOLD + _MARKED) + _run(part.text, _MARKED)) + _paragraph("")
    return _paragraph(_run(part.text) + _checks(part))


def _checks(part: Part) -> str:
    return "".join(_run(f" [{check}]", f'{_SOFT}<w:sz w:val="16"/>') for check in part.checks)


def _run(text: str, properties: str = "") -> str:
    kept = "".join(mark if mark.isprintable() else " " for mark in text)
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(kept)}</w:t></w:r>'


def _paragraph(runs: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}{runs}</w:p>"


def _table(found: FactTable) -> str:
    edges = "".join(f'<w:{edge} w:val="single" w:sz="4" w:color="AAAAAA"/>' for edge in _EDGES)
    small = '<w:sz w:val="17"/>'

    def line(cells: tuple[str, ...], properties: str, kind: str = "") -> str:
        shown = "".join(f"<w:tc>{_paragraph(_run(cell, properties))}</w:tc>" for cell in cells)
        return f"<w:tr><w:trPr><w:cantSplit/>{kind}</w:trPr>{shown}</w:tr>"

    grid = f"<w:tblGrid>{'<w:gridCol/>' * len(found.headers)}</w:tblGrid>"
    rows = line(found.headers, _BOLD + small, "<w:tblHeader/>") + "".join(line(row, small) for row in found.rows)
    about = f'<w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders>{edges}</w:tblBorders></w:tblPr>'
    return f"<w:tbl>{about}{grid}{rows}</w:tbl>"
