"""How a file is shown: decided by its name, then by its declared type."""

from pathlib import PurePosixPath
from typing import Literal

PreviewKind = Literal["table", "image", "text", "json", "code", "html", "vega-lite", "none"]

_TABLE = {".csv", ".tsv", ".parquet", ".xlsx", ".xlsm", ".xls", ".ods", ".xlsb", ".ndjson", ".jsonl"}
_IMAGE = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}
_TEXT = {".txt", ".md", ".log", ".rst"}
CODE_LANGUAGES = {
    ".py": "python",
    ".sql": "sql",
    ".r": "r",
    ".sh": "bash",
    ".js": "javascript",
    ".ts": "typescript",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".css": "css",
    ".xml": "xml",
}


def preview_kind(filename: str, content_type: str) -> PreviewKind:
    name = filename.lower()
    suffix = PurePosixPath(name).suffix
    if name.endswith((".vl.json", ".vega.json")) or "vegalite" in content_type:
        return "vega-lite"
    by_suffix: list[tuple[set[str], PreviewKind]] = [
        (_TABLE, "table"),
        (_IMAGE, "image"),
        (_TEXT, "text"),
        ({".json", ".geojson", ".ipynb"}, "json"),
        (set(CODE_LANGUAGES), "code"),
        ({".html", ".htm"}, "html"),
    ]
    for suffixes, kind in by_suffix:
        if suffix in suffixes:
            return kind
    if content_type.startswith("image/"):
        return "image"
    if content_type in {"text/csv", "text/tab-separated-values"}:
        return "table"
    return "text" if content_type.startswith("text/") else "none"
