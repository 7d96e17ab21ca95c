"""Compare groups, two periods, or two columns: differences, percent changes, and a test when one is asked for."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, cell, code, data_assumptions, markdown_table, number, rows_sentence
from app.agent.offline.intents.relations import probability
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, quoted, slug

_CALLS = {"sum": "sum", "mean": "mean", "median": "median", "min": "min", "max": "max", "count": "count"}
_NAMES = {
    "sum": "total",
    "mean": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "count": "number of",
}


def headline(plan: Plan) -> str:
    if plan.method == "periods":
        low, high = plan.target.split(",")
        return f"{_NAMES[plan.aggregate].capitalize()} {plan.measures[0]} in {low} and {high}" + (
            f" by {plan.groups[0]}" if plan.groups else ""
        )
    if plan.method in ("columns", "paired"):
        return f"Comparison of {plan.measures[0]} and {plan.measures[1]}"
    return f"{_NAMES[plan.aggregate].capitalize()} {plan.measures[0]} compared by {plan.groups[0]}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)} ({plan.table.name}).", caution)
    script.add("rows_matching = len(df)", "files = []")
    if plan.method == "periods":
        _write_periods(script, plan)
    elif plan.method in ("columns", "paired"):
        _write_columns(script, plan)
    else:
        _write_groups(script, plan)
    return script


def _write_groups(script: Script, plan: Plan) -> None:
    measure, group = plan.measures[0], plan.groups[0]
    call, label, unit = _CALLS[plan.aggregate], f"{_NAMES[plan.aggregate]} {measure}", plan.unit(measure)
    artifact = slug(measure, "compared by", group)
    script.add(
        f"used = df.dropna(subset={[group, measure]!r})",
        f"result = used.groupby({group!r}, observed=True)[{measure!r}].agg(['count', 'mean', 'median', 'std', 'sum', 'min', 'max']).reset_index()",
        f"result = result.sort_values({call!r}, ascending=False, kind='stable').reset_index(drop=True)",
        f"show({headline(plan)!r}, result)",
        f"files.append(save_table(result, {artifact!r}))",
        "high, low = result.iloc[0], result.iloc[-1]",
        f"difference = {{'absolute': high[{call!r}] - low[{call!r}], 'percent': (high[{call!r}] / low[{call!r}] - 1) * 100 if low[{call!r}] > 0 else None}}",
        "test = None",
        f"samples = [part.astype(float) for _, part in used.groupby({group!r}, observed=True)[{measure!r}] if len(part) > 1]",
        "if len(samples) == 2:",
        "    welch = stats.ttest_ind(*samples, equal_var=False)  # Welch: the spreads need not be equal",
        "    student = stats.ttest_ind(*samples)",
        "    test = {'name': \"Welch's t-test\", 'statistic': welch.statistic, 'p': welch.pvalue, 'student': student.statistic, 'student_p': student.pvalue}",
        "elif len(samples) > 2:",
        "    anova = stats.f_oneway(*samples)",
        "    test = {'name': 'one-way ANOVA', 'statistic': anova.statistic, 'p': anova.pvalue}",
        "print('difference:', difference, '\\ntest:', test)",
    )
    drawing = (
        f"charts.boxes(used, {group!r}, {measure!r}, title, unit={unit!r})"
        if plan.method == "test" and not plan.chart
        else f"charts.bars(result, {group!r}, {call!r}, title, unit={unit!r}, value_name={label!r})"
    )
    script.chart(
        f"title = str(result[{group!r}].iloc[0]) + {f' has the highest {label}: '!r} + style.human(high[{call!r}], {unit!r})",
        f"chart = {drawing}",
        f"files += style.save_chart(chart, {artifact!r})",
    )
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, rows_used=len(used), result=rows_of(result), difference=difference, test=test, files=files, notes=table.notes)"
    )


def _write_periods(script: Script, plan: Plan) -> None:
    measure, time = plan.measures[0], plan.time or ""
    low, high = (int(year) for year in plan.target.split(","))
    call, unit = _CALLS[plan.aggregate], plan.unit(measure)
    year = f"used[{time!r}]" if plan.column(time).role == "year" else f"used[{time!r}].dt.year"
    artifact = slug(measure, str(low), "and", str(high), *(["by", plan.groups[0]] if plan.groups else []))
    needed = [time, measure, *plan.groups]
    script.add(
        f"used = df.dropna(subset={needed!r})",
        f"used = used.assign(period={year}).query('period in [{low}, {high}]')",
        f"totals = used.groupby('period')[{measure!r}].{call}().reindex([{low}, {high}])",
        f"counts = used.groupby('period').size().reindex([{low}, {high}], fill_value=0)",
        f"before, after = totals[{low}], totals[{high}]",
        "change = {'absolute': after - before, 'percent': (after / before - 1) * 100 if before > 0 else None}",
        f"result = pd.DataFrame({{'period': [{low}, {high}], {measure!r}: totals.to_numpy(), 'rows': counts.to_numpy()}})",
    )
    if plan.groups:
        group = plan.groups[0]
        script.add(
            f"result = used.pivot_table(index={group!r}, columns='period', values={measure!r}, aggfunc={call!r}).reindex(columns=[{low}, {high}])",
            f"result['change'] = result[{high}] - result[{low}]",
            f"result['change (%)'] = (result[{high}] / result[{low}] - 1) * 100",
            "result = result.sort_values('change', ascending=False).reset_index()",
            "result.columns = [str(column) for column in result.columns]",
        )
    script.add(
        f"show({headline(plan)!r}, result)",
        "print('change:', change)",
        f"files.append(save_table(result, {artifact!r}))",
    )
    if plan.groups:
        script.chart(
            "top = result.iloc[0]",
            f"title = str(top[{plan.groups[0]!r}]) + {f' changed most: {measure} '!r} + style.human(top['change'], {unit!r})",
            f"chart = charts.bars(result.dropna(), {plan.groups[0]!r}, 'change', title, unit={unit!r}, value_name={f'change of {measure}, {low} to {high}'!r})",
        )
    else:
        script.chart(
            f"title = {f'{measure} {low}: '!r} + style.human(before, {unit!r}) + {f', {high}: '!r} + style.human(after, {unit!r})",
            f"chart = charts.bars(result.assign(period=result['period'].astype(str)), 'period', {measure!r}, title, unit={unit!r}, value_name={f'{_NAMES[plan.aggregate]} {measure}'!r})",
        )
    script.chart(f"files += style.save_chart(chart, {artifact!r})")
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, rows_used=len(used), before=before, after=after, change=change, counts=counts.tolist(), result=rows_of(result), files=files, notes=table.notes)"
    )


def _write_columns(script: Script, plan: Plan) -> None:
    one, two = plan.measures
    artifact = slug(one, "and", two)
    script.add(
        f"pair = df[{quoted([one, two])}]",
        "result = pair.agg(['count', 'sum', 'mean', 'median', 'std', 'min', 'max']).T.reset_index(names='column')",
        f"show({headline(plan)!r}, result)",
        "both = pair.dropna().astype(float)",
        f"difference = both[{one!r}] - both[{two!r}]",
        "means = both.mean()",
        f"gap = {{'mean': difference.mean(), 'percent': (means[{one!r}] / means[{two!r}] - 1) * 100 if means[{two!r}] > 0 else None, 'higher': int((difference > 0).sum()), 'lower': int((difference < 0).sum())}}",
        f"paired = stats.ttest_rel(both[{one!r}], both[{two!r}]) if len(both) > 2 else None",
        "test = {'name': 'paired t-test', 'statistic': paired.statistic, 'p': paired.pvalue} if paired is not None else None",
        "print('difference:', gap, '\\ntest:', test)",
        f"files.append(save_table(result, {artifact!r}))",
    )
    script.chart(
        "top = result.sort_values('mean').iloc[-1]",
        "title = str(top['column']) + ' is higher on average: ' + style.human(top['mean'])",
        "chart = charts.bars(result, 'column', 'mean', title, value_name='average')",
        f"files += style.save_chart(chart, {artifact!r})",
    )
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, rows_used=len(both), result=rows_of(result), gap=gap, test=test, files=files, notes=table.notes)"
    )


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    teller = {"periods": _tell_periods, "columns": _tell_columns, "paired": _tell_columns}.get(
        plan.method, _tell_groups
    )
    answer = teller(plan, results)
    answer.files, answer.assumptions = results["files"], data_assumptions(results, plan)
    return answer


def _test_sentence(test: dict[str, Any] | None) -> list[str]:
    if test is None or test["p"] is None:
        return []
    verdict = "unlikely to be chance alone" if test["p"] < 0.05 else "may well be chance"
    lines = [
        f"{test['name']}: statistic {number(test['statistic'])}, {probability(test['p'])}: at the 5 % level the difference is {verdict}."
    ]
    if "student" in test:
        lines.append(
            f"Student's t-test (equal spreads assumed): t = {number(test['student'])}, {probability(test['student_p'])}."
        )
    return lines


def _tell_groups(plan: Plan, results: dict[str, Any]) -> Answer:
    table, measure = results["result"], plan.measures[0]
    unit, place = plan.unit(measure), table["columns"].index(_CALLS[plan.aggregate])
    if not table["rows"]:
        return Answer(f"No row has both {code(plan.groups[0])} and {code(measure)}.")
    high, low = table["rows"][0], table["rows"][-1]
    name = f"{_NAMES[plan.aggregate]} {code(measure)}"
    lead = f"**{cell(number(high[0]))}** has the highest {name}: **{number(high[place], unit)}**"
    if table["total"] > 1 and table["total"] == len(table["rows"]):
        gap = results["difference"]
        percent = f" ({gap['percent']:+.1f} %)" if gap["percent"] is not None else ""
        lead += f"; {cell(number(low[0]))} the lowest: **{number(low[place], unit)}**. The difference is {number(gap['absolute'], unit)}{percent}"
    answer = Answer(lead + ".", f"Computed for each {code(plan.groups[0])} {rows_sentence(results, plan)}.")
    answer.tables.append(markdown_table(table["columns"], table["rows"], total=table["total"]))
    answer.details = _test_sentence(results["test"])
    return answer


def _tell_periods(plan: Plan, results: dict[str, Any]) -> Answer:
    low, high = plan.target.split(",")
    unit, name = plan.unit(plan.measures[0]), f"{_NAMES[plan.aggregate]} {code(plan.measures[0])}"
    before, after, change = results["before"], results["after"], results["change"]
    if before is None or after is None:
        missing = low if before is None else high
        return Answer(
            f"There are no values of {code(plan.measures[0])} in {missing}, so the two years cannot be compared."
        )
    percent = f" ({change['percent']:+.1f} %)" if change["percent"] is not None else ""
    lead = f"The {name} went **from {number(before, unit)} ({low}) to {number(after, unit)} ({high})**: a change of {number(change['absolute'], unit)}{percent}."
    answer = Answer(
        lead,
        f"{results['counts'][0]:,} rows of {low} and {results['counts'][1]:,} rows of {high}, by {code(plan.time or '')}.",
    )
    table = results["result"]
    if plan.groups:
        answer.tables.append(markdown_table(table["columns"], table["rows"], total=table["total"]))
    return answer


def _tell_columns(plan: Plan, results: dict[str, Any]) -> Answer:
    one, two = plan.measures
    rows = {row[0]: dict(zip(results["result"]["columns"], row, strict=True)) for row in results["result"]["rows"]}
    gap = results["gap"]
    percent = f" ({gap['percent']:+.1f} %)" if gap["percent"] is not None else ""
    lead = f"On average {code(one)} is **{number(rows[one]['mean'], plan.unit(one))}** and {code(two)} **{number(rows[two]['mean'], plan.unit(two))}**"
    lead += (
        f"; in the rows that have both, the average difference is **{number(gap['mean'])}**{percent}."
        if gap["mean"] is not None
        else "."
    )
    answer = Answer(
        lead,
        f"{code(one)} is the higher one in {gap['higher']:,} rows and the lower one in {gap['lower']:,}, of {results['rows_used']:,} rows that have both.",
    )
    answer.tables.append(markdown_table(results["result"]["columns"], results["result"]["rows"]))
    answer.details = _test_sentence(results["test"]) if plan.method == "paired" else []
    return answer
