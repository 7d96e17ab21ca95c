"""Missing values and duplicate rows."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, code, data_assumptions, markdown_table, share_text
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, slug


def headline(plan: Plan) -> str:
    return f"{'Missing values' if plan.intent == 'missing' else 'Duplicate rows'} in {plan.table.name}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)}.", caution)
    script.add("rows_matching = len(df)", "files = []")
    return _write_missing(script, plan) if plan.intent == "missing" else _write_duplicates(script, plan)


def _write_missing(script: Script, plan: Plan) -> Script:
    stem = plan.table.name.rsplit(".", 1)[0]
    script.add(
        "missing = df.isna().sum()",
        "result = pd.DataFrame({'column': missing.index, 'missing': missing.to_numpy(), 'missing (%)': missing.to_numpy() / max(len(df), 1) * 100})",
        "result = result[result['missing'] > 0].sort_values('missing', ascending=False, kind='stable').reset_index(drop=True)",
        "show('Columns with missing values', result)",
        f"files.append(save_table(result, {slug('missing values', stem)!r}))",
    )
    script.chart(
        "if len(result):",
        "    top = result.iloc[0]",
        "    title = str(top['column']) + f\" has the most gaps: {top['missing (%)']:.1f} % of its values are missing\"",
        "    chart = charts.bars(result, 'column', 'missing (%)', title)",
        f"    files += style.save_chart(chart, {slug('missing values', stem)!r})",
    )
    script.add(
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, columns=df.shape[1], cells=int(df.size), missing=int(missing.sum()),",
        "    complete=int(df.notna().all(axis=1).sum()), result=rows_of(result), files=files, notes=table.notes,",
        ")",
    )
    return script


def _write_duplicates(script: Script, plan: Plan) -> Script:
    stem = plan.table.name.rsplit(".", 1)[0]
    script.add(
        "repeated = df.duplicated(keep='first')",
        "groups = df[df.duplicated(keep=False)]",
        "show('Rows that occur more than once', groups.sort_values(list(groups.columns[:3]), key=lambda column: column.astype(str)), limit=20)",
        "if len(groups):",
        f"    files.append(save_table(groups, {slug('duplicates', stem)!r}))",
        "# Identifiers that should be unique but are not",
        "keys = [name for name, role in table.roles.items() if role == 'identifier' and not name.startswith('Unnamed: ')]",
        "keys = {name: int(df[name].dropna().duplicated().sum()) for name in keys}",
        "print('repeated identifiers:', keys)",
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, duplicates=int(repeated.sum()), involved=len(groups), keys=keys,",
        "    result=rows_of(groups, limit=10), files=files, notes=table.notes,",
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    return _tell_missing(plan, results) if plan.intent == "missing" else _tell_duplicates(plan, results)


def _tell_missing(plan: Plan, results: dict[str, Any]) -> Answer:
    if not results["missing"]:
        lead = f"**No value is missing** in the {results['rows_matching']:,} rows and {results['columns']:,} columns of {code(plan.table.name)}."
        return Answer(lead, files=results["files"], assumptions=data_assumptions(results, plan))
    table = results["result"]
    name, count, percent = table["rows"][0]
    lead = f"**{results['missing']:,} of {results['cells']:,} values are missing**, in {table['total']} of {results['columns']:,} columns; most in {code(name)} ({count:,}, {share_text(percent)})."
    answer = Answer(
        lead, f"{results['complete']:,} of {results['rows_matching']:,} rows are complete.", files=results["files"]
    )
    answer.tables.append(markdown_table(table["columns"], table["rows"], total=table["total"]))
    answer.assumptions = data_assumptions(results, plan)
    return answer


def _tell_duplicates(plan: Plan, results: dict[str, Any]) -> Answer:
    count = results["duplicates"]
    if count:
        lead = f"**{count:,} of {results['rows_matching']:,} rows repeat an earlier row** in all columns."
    else:
        lead = f"**No row is repeated**: all {results['rows_matching']:,} rows of {code(plan.table.name)} differ in at least one column."
    answer = Answer(lead, files=results["files"], assumptions=data_assumptions(results, plan))
    if count:
        answer.how = f"{results['involved']:,} rows belong to a group of equal rows."
        answer.tables.append(
            markdown_table(results["result"]["columns"], results["result"]["rows"], total=results["involved"])
        )
    for name, repeated in results["keys"].items():
        if repeated:
            answer.details.append(f"The identifier {code(name)} occurs again in {repeated:,} rows.")
    return answer
