"""A self-contained HTML report: the table's columns, its main number by group and over time, charts inlined."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, code, data_assumptions, names
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, slug

_FREQUENCIES = {"hour": "h", "day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
_NAMES = {
    "sum": "total",
    "mean": "average",
    "max": "highest",
    "count": "rows",
    "median": "median",
    "min": "lowest",
    "std": "spread of",
    "distinct": "different",
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body{{font:15px/1.5 system-ui,sans-serif;color:#1F2937;background:#fff;max-width:860px;margin:40px auto;padding:0 20px}}
h1{{font-size:26px}}h2{{font-size:18px;margin-top:36px;border-top:1px solid #E6E9ED;padding-top:20px}}
table{{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}}
th,td{{padding:5px 12px;border-bottom:1px solid #E6E9ED;text-align:left}}td.n{{text-align:right}}img{{max-width:100%;height:auto}}p.note{{color:#4B5563}}
</style></head><body>{body}</body></html>
"""


def headline(plan: Plan) -> str:
    return f"HTML report on {plan.table.name}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)}: one page with charts inside, nothing loaded from elsewhere.", caution)
    stem = plan.table.name.rsplit(".", 1)[0]
    script.add(
        "import base64",
        "from html import escape",
        "from pathlib import Path",
        "",
        "rows_matching = len(df)",
        f"page = {_PAGE!r}",
        f"parts = [f'<h1>' + escape({plan.table.name!r}) + '</h1>', f'<p>{{len(df):,}} rows, {{df.shape[1]:,}} columns; {{int(df.isna().sum().sum()):,}} missing values.</p>']",
        "parts += ['<p class=\"note\">' + escape(note) + '</p>' for note in table.notes]",
        "sections, files = ['columns'], []",
        "",
        "def add_table(heading, result, limit=30):",
        "    parts.append('<h2>' + escape(heading) + '</h2>' + result.head(limit).to_html(index=False, border=0, float_format=lambda x: f'{x:,.4g}'))",
        "",
        "def add_picture(name):",
        "    picture = base64.b64encode(Path('/artifacts', name).read_bytes()).decode()",
        '    parts.append(f\'<img alt="" src="data:image/png;base64,{picture}">\')',
        "",
        "overview = pd.DataFrame({",
        "    'column': list(df.columns), 'kind': [table.roles[name] for name in df.columns],",
        "    'missing': df.isna().sum().to_numpy(), 'different': [df[name].nunique() for name in df.columns],",
        "})",
        "add_table('Columns', overview, limit=100)",
        "numbers = df.select_dtypes('number')",
        "if numbers.shape[1]:",
        "    add_table('Numbers', numbers.describe().T.reset_index(names='column'), limit=60)",
        "    sections.append('numbers')",
    )
    _write_sections(script, plan, stem)
    name = f"{slug('report on', stem)}.html"
    script.add(
        "",
        f"Path('/artifacts', {name!r}).write_text(page.format(title=escape({plan.table.name!r}), body=''.join(parts)), encoding='utf-8')",
        f"files.insert(0, {name!r})",
        "print('sections:', sections)",
        "publish(rows_read=rows_read, rows_matching=rows_matching, columns=df.shape[1], sections=sections, files=files, notes=table.notes)",
    )
    return script


def _write_sections(script: Script, plan: Plan, stem: str) -> None:
    if not plan.measures:
        return
    measure, unit = plan.measures[0], plan.unit(plan.measures[0])
    label, call = f"{_NAMES[plan.aggregate]} {measure}", plan.aggregate
    script.chart(
        "",
        f"values = df[{measure!r}].dropna()",
        f"chart = charts.histogram(values, {measure!r}, {f'How {measure} is spread'!r}, unit={unit!r}, marks={{'median': values.median()}})",
        f"files += style.save_chart(chart, {slug(stem[:20], 'distribution', measure)!r})",
        f"parts.append('<h2>' + escape({f'Distribution of {measure}'!r}) + '</h2>')",
        "add_picture(files[-2])",
        "sections.append('distribution')",
    )
    for group in plan.groups:
        artifact = slug(stem[:20], measure, "by", group)
        script.add(
            "",
            f"result = df.dropna(subset={[group, measure]!r}).groupby({group!r}, observed=True)[{measure!r}].{call}().sort_values(ascending=False).reset_index(name={label!r})",
            f"add_table({f'{label} by {group}'!r}, result)",
            f"sections.append({f'by {group}'!r})",
        )
        script.chart(
            f"title = str(result[{group!r}].iloc[0]) + {f' has the highest {label}: '!r} + style.human(result.iloc[0][{label!r}], {unit!r})",
            f"files += style.save_chart(charts.bars(result, {group!r}, {label!r}, title, unit={unit!r}), {artifact!r})",
            "add_picture(files[-2])",
        )
    if plan.time:
        time = plan.time
        key = (
            f"df[{time!r}].dt.to_period({_FREQUENCIES[plan.period]!r}).dt.start_time"
            if plan.period
            else f"df[{time!r}]"
        )
        shown = str(plan.period or time)
        script.add(
            "",
            f"result = df.assign(**{{{shown!r}: {key}}}).dropna(subset=[{shown!r}, {measure!r}]).groupby({shown!r})[{measure!r}].{call}().reset_index(name={label!r})",
            f"add_table({f'{label} by {shown}'!r}, result)",
            f"sections.append({f'by {shown}'!r})",
        )
        script.chart(
            f"files += style.save_chart(charts.lines(result, {shown!r}, {label!r}, {f'{label} over time'!r}, unit={unit!r}), {slug(stem[:20], measure, 'over time')!r})",
            "add_picture(files[-2])",
        )


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    lead = f"**`{results['files'][0]}`** is a report on the {results['rows_matching']:,} rows and {results['columns']:,} columns of {code(plan.table.name)}."
    answer = Answer(
        lead,
        f"It has these parts: {', '.join(results['sections'])}. The charts are inside the page; it loads nothing from elsewhere.",
        files=results["files"],
    )
    if plan.measures:
        answer.details.append(f"Its main number is {names(plan.measures[:1])}; name another one to change that.")
    answer.assumptions = data_assumptions(results, plan)
    return answer
