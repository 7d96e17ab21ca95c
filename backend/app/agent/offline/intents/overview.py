"""What is in a file: its columns with their types, gaps, ranges and examples."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, code, markdown_table, number
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, slug

MOST_COLUMNS = 200
TOLD_COLUMNS = 25
_KINDS = {
    "measure": "number", "flag": "0 or 1", "year": "year", "date": "date", "clock": "time of day", "boolean": "yes or no",
    "category": "category", "text": "text", "identifier": "identifier", "empty": "empty",
}  # fmt: skip


def headline(plan: Plan) -> str:
    return f"What is in {plan.table.name}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)}: columns, types, gaps and ranges.", caution)
    script.add(
        "rows_matching = len(df)",
        f"kinds = {_KINDS!r}",
        f"names = list(df.columns)[:{MOST_COLUMNS}]",
        "columns = []",
        "for name in names:",
        "    values = df[name].dropna()",
        "    numeric = pd.api.types.is_numeric_dtype(values) and len(values) > 0",
        "    columns.append({",
        "        'column': name,",
        "        'kind': kinds[table.roles[name]],",
        "        'missing': int(df[name].isna().sum()),",
        "        'different': int(values.nunique()),",
        "        'lowest': values.min() if numeric or pd.api.types.is_datetime64_any_dtype(values) else None,",
        "        'average': values.mean() if numeric and table.roles[name] in ('measure', 'flag') else None,",
        "        'highest': values.max() if numeric or pd.api.types.is_datetime64_any_dtype(values) else None,",
        "        'most frequent': str(values.value_counts().index[0])[:60] if len(values) and not numeric else None,",
        "    })",
        "overview = pd.DataFrame(columns)",
        f"show('Columns', overview, limit={MOST_COLUMNS // 4})",
        "show('First rows', df[names[:12]], limit=5)",
        f"files = [save_table(overview, {slug('columns of', plan.table.name.rsplit('.', 1)[0])!r})]",
        f"duplicates = int(df.duplicated().sum()) if df.shape[1] <= {MOST_COLUMNS} else None",
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, columns=df.shape[1], duplicates=duplicates, files=files,",
        "    missing=int(df.isna().sum().sum()), cells=int(df.size), form=table.form, notes=table.notes,",
        f"    overview=rows_of(overview, limit={TOLD_COLUMNS}), kinds=pd.Series(table.roles).map(kinds).value_counts().to_dict(),",
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    kinds = ", ".join(f"{count} {kind}" for kind, count in results["kinds"].items())
    lead = f"{code(plan.table.name)} holds **{results['rows_read']:,} rows × {results['columns']:,} columns** ({results['form']}): {kinds}."
    answer = Answer(lead, files=results["files"])
    gaps = (
        f"{results['missing']:,} of {results['cells']:,} cells are empty" if results["missing"] else "No cell is empty"
    )
    if results["duplicates"] is not None:
        gaps += (
            f"; {results['duplicates']:,} rows repeat an earlier row"
            if results["duplicates"]
            else "; no row is repeated"
        )
    answer.how = gaps + "."
    overview = results["overview"]
    rows = []
    for row in overview["rows"]:
        name, kind, missing, different, low, mean, high, top = row
        span = ""
        if low is not None and kind == "year":
            span = f"{low:.0f} to {high:.0f}"
        elif low is not None:
            span = f"{number(low)} to {number(high)}" + (f", average {number(mean)}" if mean is not None else "")
        elif top is not None:
            span = f"most frequent: {top}"
        rows.append([name, kind, missing, different, span])
    tables = [
        markdown_table(["column", "kind", "missing", "different", "values"], rows[start : start + 10])
        for start in range(0, len(rows), 10)
    ]
    # One table: the header of each further part is dropped.
    answer.tables = (
        ["\n".join([tables[0], *("\n".join(part.splitlines()[2:]) for part in tables[1:])])] if tables else []
    )
    if overview["total"] < results["columns"] or len(rows) < overview["total"]:
        answer.details.append(
            f"The first {len(rows)} of {results['columns']:,} columns are listed here; the file below has {overview['total']}."
        )
    answer.assumptions = list(results["notes"])
    return answer
