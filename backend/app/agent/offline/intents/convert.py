"""Save a table in another form."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, code, data_assumptions, number
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, slug

_FORMS = {"csv": "CSV", "tsv": "TSV", "xlsx": "Excel", "parquet": "Parquet", "json": "JSON", "ndjson": "JSON lines"}
_WRITERS = {
    "csv": "df.to_csv(target, index=False)",
    "tsv": "df.to_csv(target, index=False, sep='\\t')",
    "xlsx": "df.to_excel(target, index=False, freeze_panes=(1, 0))",
    "parquet": "df.to_parquet(target, index=False)",
    "json": "df.to_json(target, orient='records', date_format='iso', force_ascii=False, indent=2)",
    "ndjson": "df.to_json(target, orient='records', date_format='iso', force_ascii=False, lines=True)",
}
EXCEL_ROWS = 1_048_575


def headline(plan: Plan) -> str:
    return f"{plan.table.name} as {_FORMS[plan.target]}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)}.", caution)
    name = f"{slug(plan.table.name.rsplit('.', 1)[0])}.{plan.target}"
    script.add("rows_matching = len(df)")
    if plan.target == "xlsx":
        script.add(
            f"if len(df) > {EXCEL_ROWS}:",
            f"    raise ValueError(f'{{len(df):,}} rows do not fit a sheet ({EXCEL_ROWS:,} at most)')",
            "# A text that begins like a formula must stay a text when the sheet is opened",
        )
        script.add(
            f"target = {f'/artifacts/{name}'!r}",
            "with pd.ExcelWriter(target, engine='xlsxwriter', engine_kwargs={'options': {'strings_to_formulas': False, 'strings_to_urls': False}}) as book:",
            "    df.to_excel(book, index=False, freeze_panes=(1, 0))",
        )
    else:
        script.add(f"target = {f'/artifacts/{name}'!r}", _WRITERS[plan.target])
    reader = {
        "csv": "pd.read_csv(target)", "tsv": "pd.read_csv(target, sep='\\t')", "xlsx": "pd.read_excel(target, engine='calamine')",
        "parquet": "pd.read_parquet(target)", "json": "pd.read_json(target)", "ndjson": "pd.read_json(target, lines=True)",
    }[plan.target]  # fmt: skip
    script.add(
        "",
        "# Read it back: the new file must hold every row and column",
        "import os",
        f"again = {reader} if len(df) else df",
        "print(f'{len(again):,} rows x {again.shape[1]:,} columns in', target)",
        "assert again.shape == df.shape, (again.shape, df.shape)",
        "publish(",
        f"    rows_read=rows_read, rows_matching=rows_matching, columns=df.shape[1], size=os.path.getsize(target), files=[{name!r}],",
        "    notes=table.notes,",
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    lead = f"**`{results['files'][0]}`** holds the {results['rows_matching']:,} rows and {results['columns']:,} columns of {code(plan.table.name)} as {_FORMS[plan.target]} ({number(results['size'])} bytes)."
    return Answer(
        lead,
        "It was read back and has the same rows and columns; numbers and dates were written as such.",
        files=results["files"],
        assumptions=data_assumptions(results, plan),
    )
