"""Totals, averages, counts, shares and rates: of all rows, by group, over time; rankings of groups."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from app.agent.offline.conditions import yes_and_no
from app.agent.offline.plan import Plan
from app.agent.offline.profile import MOST_GROUPS_OF_NUMBERS
from app.agent.offline.script import Caution, Script, quoted, slug
from app.agent.offline.words import plain

MOST_SERIES = 6
_CALLS = {
    "sum": "sum()", "mean": "mean()", "median": "median()", "min": "min()", "max": "max()", "std": "std()", "distinct": "nunique()",
    "count": "size()",
}  # fmt: skip
AGGREGATE_NAMES = {
    "sum": "total",
    "mean": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "std": "standard deviation of",
    "distinct": "different",
}
_FREQUENCIES = {"hour": "h", "day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
_CALENDAR = {
    *(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]), *(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]),
}  # fmt: skip


def value_label(plan: Plan) -> str:
    """The name of the computed column."""
    if plan.method == "rate":
        return f"{plan.measures[0]} rate (%)"
    if plan.aggregate == "count" or not plan.measures:
        return "rows"
    return f"{AGGREGATE_NAMES[plan.aggregate]} {plan.measures[0]}"


def value_unit(plan: Plan) -> str:
    if plan.method == "rate":
        return "%"
    if plan.aggregate in ("count", "distinct") or not plan.measures:
        return ""
    if plan.product:
        return plan.unit(plan.product.left)
    return plan.unit(plan.measures[0])


def artifact_name(plan: Plan) -> str:
    what = " ".join(plan.stacked[:3]) if plan.stacked else plan.measures[0] if plan.measures else "rows"
    kind = (
        ""
        if plan.aggregate == "sum" and plan.measures
        else {"mean": "average", "distinct": "distinct", "count": "count"}.get(plan.aggregate, plan.aggregate)
    )
    if plan.method == "rate":
        kind = "rate"
    if what == "rows":
        kind = ""
    groups = plan.groups[:-1] if plan.stacked else plan.groups
    by = [*groups[:1], *([plan.period or plan.time] if plan.time else []), *groups[1:2]]
    by = ["by", *by] if by else []
    only = [
        str(value)
        for each in plan.conditions
        for value in each.values
        if isinstance(value, str) and each.operator != "dates"
    ]
    return slug(kind, what, *[str(each) for each in by], *only[:2])


def headline(plan: Plan) -> str:
    """What is computed, for the program's first line and for the chat."""
    groups = plan.groups[:-1] if plan.stacked else plan.groups
    by = [*groups, *([plan.period or plan.time] if plan.time else [])]
    label = f"{AGGREGATE_NAMES[plan.aggregate]} {' and '.join(plan.stacked)}" if plan.stacked else value_label(plan)
    text = label + (f" by {' and '.join(str(each) for each in by)}" if by else "")
    if plan.share:
        text = f"share of {text}"
    if plan.conditions:
        text += f", where {' and '.join(each.in_words for each in plan.conditions)}"
    return text[0].upper() + text[1:]


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)} ({plan.table.name}).", caution)
    script.add("rows_matching = len(df)", "")
    if plan.stacked:
        kept = [*plan.groups[:-1], *([plan.time] if plan.time else [])]
        script.add(
            "# One row a value, so that the columns can be compared",
            f"df = df.melt(id_vars={kept!r}, value_vars={quoted(plan.stacked)}, var_name={plan.groups[-1]!r}, value_name={plan.measures[0]!r})",
            "",
        )
    if plan.method == "rate":
        _write_rate(script, plan)
    if not plan.groups and not plan.time:
        _write_plain(script, plan)
    else:
        _write_grouped(script, plan)
    return script


def _write_rate(script: Script, plan: Plan) -> None:
    """A yes/no column as 0 and 100, so that its average is the rate in percent."""
    column = plan.column(plan.measures[0])
    yes, _ = yes_and_no(column)
    value = repr(int(yes)) if isinstance(yes, float) else repr(yes)
    script.add(
        f"# {value} counts as yes: the average of 0 and 100 is the rate in percent",
        f"df = df.dropna(subset=[{column.name!r}])",
        f"df = df.assign(**{{{value_label(plan)!r}: (df[{column.name!r}] == {value}) * 100.0}})",
        "",
    )


def _measure(plan: Plan) -> str:
    return value_label(plan) if plan.method == "rate" else plan.measures[0]


def _write_plain(script: Script, plan: Plan) -> None:
    if plan.aggregate == "count" and not plan.share:
        script.add("answer = len(df)", "print(f'rows: {answer:,}')")
        script.add("publish(rows_read=rows_read, rows_matching=rows_matching, answer=answer, notes=table.notes)")
        return
    if plan.share and not plan.measures:
        script.add(
            "answer = len(df) / rows_read * 100",
            "print(f'{len(df):,} of {rows_read:,} rows: {answer:.4f} %')",
            "publish(rows_read=rows_read, rows_matching=rows_matching, answer=answer, notes=table.notes)",
        )
        return
    if plan.share and plan.conditions and plan.aggregate == "sum" and plan.method != "rate":
        script.add(
            f"part, whole = df[{plan.measures[0]!r}].sum(), table.frame[{plan.measures[0]!r}].sum()",
            "answer = part / whole * 100",
            "print(f'{part:,.4f} of {whole:,.4f}: {answer:.4f} %')",
            f"used = int(df[{plan.measures[0]!r}].notna().sum())",
            "publish(rows_read=rows_read, rows_matching=rows_matching, rows_used=used, answer=answer, part=part, whole=whole, notes=table.notes)",
        )
        return
    call = _CALLS[plan.aggregate]
    script.add(f"values = df[{_measure(plan)!r}].dropna()", f"answer = values.{call}")
    script.add(f"print('{plan.aggregate}:', answer)")
    numeric = plan.product or (
        plan.column(plan.measures[0]).is_number and plan.aggregate != "distinct" and plan.method != "rate"
    )
    if numeric:
        script.add("print(values.describe())")
        script.add(
            "extra = {'mean': values.mean(), 'median': values.median(), 'min': values.min(), 'max': values.max()}"
        )
    else:
        script.add("extra = {}")
    if plan.method == "rate":
        script.add("extra = {'yes': int((values == 100).sum())}")
    if plan.aggregate in ("min", "max") and numeric:
        script.add(
            f"where = df.loc[[values.idx{plan.aggregate}()]]" if True else "", "show('The row that has it', where)"
        )
        script.add("extra['row'] = rows_of(where)")
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, rows_used=len(values), answer=answer, extra=extra, notes=table.notes)"
    )


def _write_grouped(script: Script, plan: Plan) -> None:
    keys: list[str] = []
    label = value_label(plan)
    needed = [*plan.groups, *([plan.time] if plan.time else []), *([_measure(plan)] if plan.measures else [])]
    script.add(f"used = df.dropna(subset={quoted(tuple(dict.fromkeys(needed)))}).copy()")
    if plan.time:
        keys.append(_write_time_key(script, plan))
    for group in plan.groups:
        keys.append(_write_group_key(script, plan, group, label))
    series = keys[1] if plan.time and len(keys) > 1 else None
    if series is not None and plan.column(plan.groups[0]).distinct > MOST_SERIES:
        _write_biggest_series(script, plan, series)
    chain = f"used.groupby({quoted(keys)}, observed=True)"
    if plan.measures and plan.aggregate != "count":
        chain += f"[{_measure(plan)!r}]"
    call = "sum(min_count=1)" if plan.aggregate == "sum" else _CALLS[plan.aggregate]
    script.add(f"result = {chain}.{call}.reset_index(name={label!r})")
    if plan.share:
        script.add(f"result['share (%)'] = result[{label!r}] / result[{label!r}].sum() * 100")
    # An average of few rows says little: it is shown with their number.
    if plan.aggregate not in ("count", "distinct", "sum") and "rows" not in keys:
        script.add(f"result['rows'] = used.groupby({quoted(keys)}, observed=True).size().to_numpy()")
    _write_order(script, plan, keys, label)
    _write_chart(script, plan, keys, label)
    name = artifact_name(plan)
    script.add("", f"show({headline(plan)!r}, result)", f"files.append(save_table(result, {name!r}))")
    best, worst = ("idxmin", "idxmax") if plan.ascending else ("idxmax", "idxmin")
    script.add(
        f"values = result[{label!r}]",
        "publish(",
        f"    rows_read=rows_read, rows_matching=rows_matching, rows_used={'rows_matching' if plan.stacked else 'len(used)'},",
        "    notes=table.notes, files=files,",
        f"    result=rows_of(result), groups=len(result), label={label!r}, needed={needed!r},",
        f"    best=rows_of(result.loc[[values.{best}()]]) if values.notna().any() else None,",
        f"    worst=rows_of(result.loc[[values.{worst}()]]) if values.notna().any() else None,",
        "    all_values={'total': values.sum(), 'mean': values.mean()},"
        + (
            " first=rows_of(result.head(1)), last=rows_of(result.tail(1)), spread=spread, change=change,"
            if plan.time
            else ""
        ),
        ")",
    )


def _key_name(plan: Plan, wanted: str) -> str:
    taken = {column.name for column in plan.table.columns}
    return wanted if wanted not in taken else f"{wanted} of {plan.time}"


def _write_time_key(script: Script, plan: Plan) -> str:
    time = plan.time or ""
    column = plan.column(time)
    if column.role == "year" or (column.role == "clock" and plan.period is None):
        script.add(f"spread = [str(used[{time!r}].min()), str(used[{time!r}].max())]")
        return time
    period = plan.period or "month"
    key = _key_name(plan, period)
    script.add(f"spread = [str(used[{time!r}].min()), str(used[{time!r}].max())]")
    if period in ("hour", "day"):
        script.add(f"used[{key!r}] = used[{time!r}].dt.floor({_FREQUENCIES[period]!r})")
    else:
        script.add(f"used[{key!r}] = used[{time!r}].dt.to_period({_FREQUENCIES[period]!r}).dt.start_time")
    return key


def _is_binned(plan: Plan, group: str) -> bool:
    column = plan.column(group)
    return column.role == "measure" and column.distinct > MOST_GROUPS_OF_NUMBERS and not plan.ranked


def _write_group_key(script: Script, plan: Plan, group: str, label: str) -> str:
    if _is_binned(plan, group):
        key = f"{group} range"
        script.add(f"used[{key!r}] = pd.cut(used[{group!r}], bins=8, precision=1)")
        return key
    if group == label:
        key = f"{group} group"
        script.add(f"used[{key!r}] = used[{group!r}]")
        return key
    return group


def _write_biggest_series(script: Script, plan: Plan, series: str) -> None:
    by = (
        f"used.groupby({series!r})[{_measure(plan)!r}].sum()"
        if plan.measures and plan.aggregate == "sum"
        else f"used[{series!r}].value_counts()"
    )
    script.add(
        f"biggest = {by}.nlargest({MOST_SERIES}).index  # more lines than this cannot be told apart",
        f"used = used[used[{series!r}].isin(biggest)]",
    )


def is_calendar(plan: Plan, group: str) -> bool:
    values = plan.column(group).values
    return bool(values) and all(plain(value)[:3] in _CALENDAR and value.isalpha() for value in values)


def _by_key(plan: Plan) -> bool:
    """Whether the groups have an order of their own (ranges, numbers, the calendar) that beats the order by size."""
    first = plan.groups[0]
    return not plan.ranked and (plan.column(first).is_number or is_calendar(plan, first))


def _write_order(script: Script, plan: Plan, keys: list[str], label: str) -> None:
    if plan.time:
        script.add(f"result = result.sort_values({quoted(keys)}).reset_index(drop=True)")
    elif _by_key(plan):
        if is_calendar(plan, plan.groups[0]):
            script.add(f"result = result.sort_values({keys[0]!r}, key=calendar_order).reset_index(drop=True)")
        else:
            script.add(f"result = result.sort_values({quoted(keys)}).reset_index(drop=True)")
    else:
        script.add(
            f"result = result.sort_values({label!r}, ascending={plan.ascending and plan.ranked}, kind='stable').reset_index(drop=True)"
        )
    if plan.limit and not plan.time:
        script.add(f"result = result.head({plan.limit})")
    for key, group in zip(keys[1 if plan.time else 0 :], plan.groups, strict=False):
        if _is_binned(plan, group):
            script.add(f"result[{key!r}] = result[{key!r}].astype(str)")


def _write_chart(script: Script, plan: Plan, keys: list[str], label: str) -> None:
    unit, name = value_unit(plan), artifact_name(plan)
    script.add("", "files = []")
    if plan.time:
        _write_time_chart(script, plan, keys, label, unit, name)
        return
    value = "share (%)" if plan.share else label
    shown_unit = "%" if plan.share or plan.method == "rate" else unit
    if plan.share and len(keys) == 2:
        value, shown_unit = label, unit
    best = "idxmin" if plan.ascending and plan.ranked else "idxmax"
    word = "lowest" if plan.ascending and plan.ranked else "highest"
    script.chart(f"top = result[{value!r}].{best}()")
    who = " + ', ' + ".join(f"str(result.at[top, {key!r}])" for key in keys)
    finding = f" has the {word} {value.removesuffix(' (%)').removeprefix(f'{word} ')}: "
    script.chart(f"title = {who} + {finding!r} + style.human({_arguments(f'result.at[top, {value!r}]', shown_unit)})")
    if plan.chart == "pie!" and plan.method != "rate":
        script.chart(f"chart = charts.pie(result, {keys[0]!r}, {value!r}, title)")
    elif len(keys) > 1 and (plan.column(plan.groups[1]).distinct > 8 or plan.chart == "heat map"):
        script.chart(
            f"matrix = result.pivot(index={keys[0]!r}, columns={keys[1]!r}, values={value!r}).iloc[:30, :30]",
            f"chart = charts.heatmap(matrix, title, name={value!r})",
        )
    else:
        series = f", series={keys[1]!r}" if len(keys) > 1 else ""
        unit_argument = f", unit={shown_unit!r}" if shown_unit and not value.endswith("(%)") else ""
        script.chart(f"chart = charts.bars(result, {keys[0]!r}, {value!r}, title{unit_argument}{series})")
    script.chart(f"files += style.save_chart(chart, {name!r})")


def _arguments(value: str, unit: str) -> str:
    return f"{value}, {unit!r}" if unit else value


def _write_time_chart(script: Script, plan: Plan, keys: list[str], label: str, unit: str, name: str) -> None:
    value = "share (%)" if plan.share else label
    series = keys[1] if len(keys) > 1 else None
    script.add(
        f"values = result[{value!r}].dropna()",
        "change = (values.iloc[-1] / values.iloc[0] - 1) * 100 if len(values) and values.iloc[0] > 0 else None",
    )
    if series is None:
        script.chart(
            "direction = 'rose' if values.iloc[-1] > values.iloc[0] else 'fell' if values.iloc[-1] < values.iloc[0] else 'ended where it began'",
            "by = f' by {abs(change):,.1f} %' if change and abs(change) >= 0.05 else ''",
            f"ends = style.human({_arguments('values.iloc[0]', unit)}), style.human({_arguments('values.iloc[-1]', unit)})",
            f"title = {value[0].upper() + value[1:]!r} + f' {{direction}}{{by}}: from {{ends[0]}} to {{ends[1]}}'",
        )
    else:
        script.chart(
            f"top = result.sort_values({keys[0]!r}).groupby({series!r})[{value!r}].last()",
            f"title = str(top.idxmax()) + {f' ends highest: {value} '!r} + style.human({_arguments('top.max()', unit)})",
        )
    options = f", unit={unit!r}" if unit and not value.endswith("(%)") else ""
    if series:
        options += f", series={series!r}"
    if plan.chart == "bar" and series is None:
        script.chart(
            f"shown = result.assign(**{{{keys[0]!r}: result[{keys[0]!r}].astype(str)}})",
            f"chart = charts.bars(shown, {keys[0]!r}, {value!r}, title{options})",
        )
    else:
        area = ", area=True" if plan.chart == "area" and series is None else ""
        script.chart(f"chart = charts.lines(result, {keys[0]!r}, {value!r}, title{options}{area})")
    script.chart(f"files += style.save_chart(chart, {name!r})")
