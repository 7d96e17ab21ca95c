"""Keep some rows, sort them, and save them as a new file."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, cell, code, data_assumptions, markdown_table, names, number
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, quoted, slug


def headline(plan: Plan) -> str:
    parts = []
    if plan.limit:
        parts.append(f"the {plan.limit}")
    parts.append("rows")
    if plan.conditions:
        parts.append(f"where {' and '.join(each.in_words for each in plan.conditions)}")
    if plan.sort_by:
        parts.append(f"by {' and '.join(plan.sort_by)}, {'lowest' if plan.ascending else 'highest'} first")
    text = " ".join(parts)
    return text[0].upper() + text[1:]


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)} ({plan.table.name}).", caution)
    stem = plan.table.name.rsplit(".", 1)[0]
    values = [value if isinstance(value, str) else f"{value:g}" for each in plan.conditions for value in each.values]
    artifact = slug(
        stem[:24], *(["where", *values] if values else []), *(["sorted by", *plan.sort_by] if plan.sort_by else [])
    )
    script.add("rows_matching = len(df)", "result = df")
    if plan.sort_by:
        script.add(
            f"result = result.sort_values({quoted(plan.sort_by)}, ascending={plan.ascending}, kind='stable', na_position='last')"
        )
    if plan.limit:
        script.add(f"result = result.head({plan.limit})")
    script.add(f"show({headline(plan)!r}, result, limit=20)", f"files = [save_table(result, {artifact!r})]")
    shown = _told_columns(plan)
    script.add(
        "publish(",
        f"    rows_read=rows_read, rows_matching=rows_matching, saved=len(result), result=rows_of(result[{quoted(shown)}], limit=10), files=files,",
        "    notes=table.notes,",
        ")",
    )
    return script


def _told_columns(plan: Plan) -> list[str]:
    """The columns that the answer shows: what the rows are called, what they were sorted and kept by, then the first others."""
    first = [column.name for column in plan.table.columns if column.role in ("text", "category", "identifier")][:2]
    chosen = [
        *first,
        *plan.sort_by,
        *(each.column for each in plan.conditions),
        *(column.name for column in plan.table.columns),
    ]
    wanted = set(list(dict.fromkeys(chosen))[:8])
    return [column.name for column in plan.table.columns if column.name in wanted]


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    table = results["result"]
    if plan.conditions:
        where = cell(" and ".join(each.in_words for each in plan.conditions))
        lead = (
            f"**{results['rows_matching']:,} of {results['rows_read']:,} rows** have {where}."
            if results["rows_matching"]
            else f"**No row** of {code(plan.table.name)} has {where}."
        )
    elif plan.limit and table["rows"] and plan.sort_by:
        place = table["columns"].index(plan.sort_by[0])
        lead = f"The {'lowest' if plan.ascending else 'highest'} {code(plan.sort_by[0])} is **{number(table['rows'][0][place], plan.unit(plan.sort_by[0]))}**."
    else:
        lead = f"**{results['saved']:,} rows** of {code(plan.table.name)}, sorted."
    answer = Answer(lead, files=results["files"], assumptions=data_assumptions(results, plan))
    order = (
        f", sorted by {names(plan.sort_by)} with the {'lowest' if plan.ascending else 'highest'} first"
        if plan.sort_by
        else ""
    )
    answer.how = f"{results['saved']:,} rows were saved as `{results['files'][0]}`{order}."
    if table["rows"]:
        answer.tables.append(markdown_table(table["columns"], table["rows"], total=results["saved"]))
    return answer
