"""Content types by file name: the guest's files say nothing more about themselves."""

import mimetypes

_KNOWN = {
    ".vl.json": "application/vnd.vegalite.v6+json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".txt": "text/plain",
    ".log": "text/plain",
}


def content_type_of(filename: str) -> str:
    name = filename.lower()
    for suffix, content_type in _KNOWN.items():
        if name.endswith(suffix):
            return content_type
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
