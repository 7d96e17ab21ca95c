"""How the values of a column are spread: histogram, quantiles, spread, skewness, outliers, normality; boxes by group."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, cell, code, data_assumptions, markdown_table, number, rows_sentence
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, slug


def headline(plan: Plan) -> str:
    return f"Distribution of {plan.measures[0]}" + (f" by {plan.groups[0]}" if plan.groups else "")


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)} ({plan.table.name}).", caution)
    name, unit = plan.measures[0], plan.unit(plan.measures[0])
    artifact = slug("distribution of", name, *(["by", plan.groups[0]] if plan.groups else []))
    script.add(
        "rows_matching = len(df)",
        f"used = df.dropna(subset={[name, *plan.groups]!r})",
        f"values = used[{name!r}]",
        "q1, median, q3 = values.quantile([0.25, 0.5, 0.75])",
        "reach = 1.5 * (q3 - q1)",
        "outliers = values[(values < q1 - reach) | (values > q3 + reach)]",
        "far = values[((values - values.mean()) / values.std()).abs() > 3]",
        "summary = {",
        "    'count': len(values), 'mean': values.mean(), 'standard deviation': values.std(), 'minimum': values.min(),",
        "    '5 %': values.quantile(0.05), '25 %': q1, 'median': median, '75 %': q3, '95 %': values.quantile(0.95), 'maximum': values.max(),",
        "    'skewness': values.skew(), 'kurtosis': values.kurt(),",
        "}",
        "result = pd.DataFrame({'statistic': list(summary), 'value': list(summary.values())})",
        "show('Statistics', result.set_index('statistic'))",
        "print(f'outliers (beyond 1.5 quartile distances): {len(outliers):,}; beyond 3 standard deviations: {len(far):,}')",
        "# Normality: Shapiro-Wilk up to 5,000 values, D'Agostino-Pearson beyond",
        "normality = None",
        "if len(values) >= 8 and values.nunique() > 2:",
        "    test = stats.shapiro(values) if len(values) <= 5000 else stats.normaltest(values)",
        "    normality = {'test': 'Shapiro-Wilk' if len(values) <= 5000 else \"D'Agostino-Pearson\", 'statistic': test.statistic, 'p': test.pvalue}",
        "    print('normality:', normality)",
        f"files = [save_table(result, {artifact!r})]",
    )
    if plan.groups:
        group = plan.groups[0]
        script.add(
            f"groups = used.groupby({group!r}, observed=True)[{name!r}].describe()[['count', 'mean', 'std', 'min', '25%', '50%', '75%', 'max']]",
            "groups = groups.rename(columns={'50%': 'median'}).sort_values('median', ascending=False).reset_index()",
            "show('By group', groups)",
            f"files.append(save_table(groups, {artifact + '_groups'!r}))",
        )
        script.chart(
            f"title = str(groups[{group!r}].iloc[0]) + {f' has the highest median {name}: '!r} + style.human(groups.iloc[0]['median'], {unit!r})",
            f"chart = charts.boxes(used, {group!r}, {name!r}, title, unit={unit!r})",
            f"files += style.save_chart(chart, {artifact!r})",
        )
    else:
        drawing = f"charts.histogram(values, {name!r}, title, unit={unit!r}, marks={{'median': median}})"
        if plan.chart == "box":
            drawing = f"charts.boxes(used.assign(all='all rows'), 'all', {name!r}, title, unit={unit!r})"
        script.chart(
            f"title = {f'Half of the {name} values lie between '!r} + f'{{style.human(q1, {unit!r})}} and {{style.human(q3, {unit!r})}}'",
            f"chart = {drawing}",
            f"files += style.save_chart(chart, {artifact!r})",
        )
    script.add(
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, rows_used=len(used), summary=summary, normality=normality,",
        "    outliers={'count': len(outliers), 'below': q1 - reach, 'above': q3 + reach, 'far': len(far)}, files=files, notes=table.notes,",
        *(["    groups=rows_of(groups),"] if plan.groups else []),
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    name, summary = plan.measures[0], results["summary"]
    unit = plan.unit(name)
    if not summary["count"]:
        return Answer(f"{code(name)} has no values here.", assumptions=data_assumptions(results, plan))
    lead = (
        f"Half of the {code(name)} values lie **between {number(summary['25 %'], unit)} and {number(summary['75 %'], unit)}**; "
        f"the median is **{number(summary['median'], unit)}**, the mean **{number(summary['mean'], unit)}**."
    )
    answer = Answer(
        lead,
        f"Computed {rows_sentence(results, plan)}.",
        files=results["files"],
        assumptions=data_assumptions(results, plan),
    )
    answer.tables.append(markdown_table(["statistic", "value"], [[key, value] for key, value in summary.items()][:10]))
    skew = summary["skewness"]
    if skew is not None:
        shape = (
            "a long tail of high values"
            if skew > 0.5
            else "a long tail of low values"
            if skew < -0.5
            else "about symmetric"
        )
        answer.details.append(
            f"Skewness {number(skew)} ({shape}), kurtosis {number(summary['kurtosis'])} (0 for a normal distribution)."
        )
    outliers = results["outliers"]
    answer.details.append(
        f"{outliers['count']:,} outliers: below {number(outliers['below'], unit)} or above {number(outliers['above'], unit)} (1.5 quartile distances from the middle half); "
        f"{outliers['far']:,} lie more than 3 standard deviations from the mean."
    )
    if normality := results["normality"]:
        verdict = (
            "a normal distribution is unlikely"
            if normality["p"] < 0.05
            else "a normal distribution cannot be ruled out"
        )
        answer.details.append(
            f"{normality['test']} test: statistic {number(normality['statistic'])}, p = {number(normality['p'])}: {verdict} (5 % level)."
        )
    if groups := results.get("groups"):
        first, last = groups["rows"][0], groups["rows"][-1]
        answer.lead = (
            f"**{cell(number(first[0]))}** has the highest median {code(name)}: **{number(first[6], unit)}**"
            + (
                f"; {cell(number(last[0]))} the lowest: {number(last[6], unit)}"
                if groups["total"] == len(groups["rows"]) and len(groups["rows"]) > 1
                else ""
            )
            + "."
        )
        answer.tables = [
            markdown_table(
                ["count" if c == "count" else c for c in groups["columns"]][:8],
                [row[:8] for row in groups["rows"]],
                total=groups["total"],
            )
        ]
        answer.details.insert(0, f"Over all groups: {lead}")
    return answer
