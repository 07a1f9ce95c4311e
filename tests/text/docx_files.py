"""Small DOCX files, zipped by hand: from any folder of tests, `from tests.text.docx_files import docx, p`."""

from __future__ import annotations

import io
import zipfile

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
<Override PartName="/word/numbering.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"/>
</Types>"""  # noqa: E501
STYLES = """
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Deep"><w:name w:val="Deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:styleId="Circle"><w:name w:val="Circle"/><w:basedOn w:val="Circle"/></w:style>
<w:style w:styleId="Liste"><w:name w:val="List"/>
<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
"""
NUMBERING = """
<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="8"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num>
"""


def docx(
    body: str, *, main: str = "word/document.xml", namespace: str = W, head: str = "", **more: bytes
) -> bytes:
    """Return a DOCX with this body, in the elements of its format."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES.replace("{main}", main))
        archive.writestr(main, f"{head}{_root('document', f'<w:body>{body}</w:body>', namespace)}")
        archive.writestr("word/styles.xml", _root("styles", STYLES, namespace))
        archive.writestr("word/numbering.xml", _root("numbering", NUMBERING, namespace))
    return file.getvalue()


def p(text: str, style: str = "", *, item: tuple[int, int] | None = None) -> str:
    """Return a paragraph; `item` is the list and the depth that it is in."""
    said = f'<w:pStyle w:val="{style}"/>' if style else ""
    if item:
        said += f'<w:numPr><w:ilvl w:val="{item[1]}"/><w:numId w:val="{item[0]}"/></w:numPr>'
    return f'<w:p><w:pPr>{said}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*rows: list[str]) -> str:
    """Return a table of cells, each with its paragraphs."""
    cells = ("".join(f"<w:tc>{cell}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def _root(name: str, content: str, namespace: str) -> str:
    return f'<w:{name} xmlns:w="{namespace}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">{content}</w:{name}>'
