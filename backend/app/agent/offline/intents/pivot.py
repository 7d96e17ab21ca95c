"""A pivot table: one column's values down, another's across, a number in the cells."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, cell, code, data_assumptions, markdown_table, number, rows_sentence
from app.agent.offline.intents.aggregate import AGGREGATE_NAMES
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, slug

MOST_ACROSS = 40
_CALLS = {
    "sum": "sum",
    "mean": "mean",
    "median": "median",
    "min": "min",
    "max": "max",
    "std": "std",
    "count": "size",
    "distinct": "nunique",
}


def headline(plan: Plan) -> str:
    what = f"{AGGREGATE_NAMES[plan.aggregate]} {plan.measures[0]}" if plan.measures else "number of rows"
    text = f"{what} by {plan.groups[0]} and {plan.groups[1]}"
    return text[0].upper() + text[1:]


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"Pivot table: {headline(plan)} ({plan.table.name}).", caution)
    down, across = plan.groups
    artifact = slug("pivot", *plan.measures, down, across)
    needed = list(dict.fromkeys([down, across, *plan.measures]))
    script.add("rows_matching = len(df)", f"used = df.dropna(subset={needed!r})")
    if plan.measures:
        script.add(
            f"pivot = used.pivot_table(index={down!r}, columns={across!r}, values={plan.measures[0]!r}, aggfunc={_CALLS[plan.aggregate]!r})"
        )
    else:
        script.add(f"pivot = pd.crosstab(used[{down!r}], used[{across!r}])")
    script.add(
        f"pivot = pivot.iloc[:, :{MOST_ACROSS}]",
        f"show({headline(plan)!r}, pivot)",
        "cells = pivot.stack().dropna()",
        "flat = pivot.reset_index()",
        "flat.columns = [str(column) for column in flat.columns]",
        f"files = [save_table(flat, {artifact!r})]",
    )
    if not plan.measures:
        script.add(
            "chi2 = stats.chi2_contingency(pivot) if min(pivot.shape) > 1 else None",
            "test = {'chi2': chi2.statistic, 'p': chi2.pvalue, 'dof': chi2.dof} if chi2 else None",
        )
    script.chart(
        "top = cells.idxmax()",
        f"title = f'{{top[0]}}, {{top[1]}} ' + {f'has the highest {headline(plan).split(" by ")[0].lower()}: '!r} + style.human(cells.max(), {plan.unit(plan.measures[0]) if plan.measures else ''!r})",
        "chart = charts.heatmap(pivot.head(40), title)",
        f"files += style.save_chart(chart, {artifact!r})",
    )
    script.add(
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, rows_used=len(used), result=rows_of(flat), files=files, notes=table.notes,",
        "    best={'down': cells.idxmax()[0], 'across': cells.idxmax()[1], 'value': cells.max()} if len(cells) else None,"
        + ("" if plan.measures else " test=test,"),
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    best, unit = results["best"], plan.unit(plan.measures[0]) if plan.measures and plan.aggregate != "distinct" else ""
    if best is None:
        return Answer(f"No row has a value in both {code(plan.groups[0])} and {code(plan.groups[1])}.")
    what = f"{AGGREGATE_NAMES[plan.aggregate]} {code(plan.measures[0])}" if plan.measures else "number of rows"
    lead = f"**{cell(number(best['down']))} / {cell(number(best['across']))}** has the highest {what}: **{number(best['value'], unit)}**."
    answer = Answer(
        lead,
        f"{code(plan.groups[0])} down, {code(plan.groups[1])} across, {rows_sentence(results, plan)}.",
        files=results["files"],
    )
    answer.tables.append(
        markdown_table(results["result"]["columns"], results["result"]["rows"], total=results["result"]["total"])
    )
    if test := results.get("test"):
        answer.details.append(
            f"Chi-squared test of independence: {number(test['chi2'])} with {test['dof']} degrees of freedom, p = {number(test['p'])}."
        )
    answer.assumptions = data_assumptions(results, plan)
    return answer
