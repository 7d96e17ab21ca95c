"""The usual charts in the analyst's style: bars, lines, points, histogram, boxes, heat map, pie.

Every function takes the finding as its title and returns an altair chart for `analyst_style.save_chart`. Columns may
have any name: the chart's data is renamed inside, and the names appear as axis titles only.
"""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from analyst_style import ACCENT, DIVERGING, LABEL, MAX_CHART_ROWS, MUTED, PALETTE, SHORT_NUMBERS, human

WIDTH, HEIGHT = 620, 320
BAR_STEP = 24
MOST_BARS = 30
MOST_SERIES = len(PALETTE)
LINE_CHARACTERS = 78


def heading(title: str, subtitle: str = "") -> alt.TitleParams:
    """A title in lines that fit the chart."""
    words, lines = title.split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) + 1 > LINE_CHARACTERS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    extra = {"subtitle": subtitle} if subtitle else {}
    return alt.TitleParams(text=lines[:3], **extra)


def axis_title(name: str, unit: str) -> str:
    name = one_line(name)
    return f"{name} ({unit})" if unit and unit not in name else name


def one_line(name: str) -> str:
    """A name without line breaks: vega's expressions cannot hold them."""
    return " ".join(str(name).split())


def tip(field: str, name: str, **options: Any) -> alt.Tooltip:
    return alt.Tooltip(field, title=one_line(name), **options)


def number_axis(name: str, unit: str = "", **options: Any) -> alt.Axis:
    return alt.Axis(title=axis_title(name, unit), labelExpr=SHORT_NUMBERS, tickCount=6, **options)


def bars(
    table: pd.DataFrame,
    category: str,
    value: str,
    title: str,
    unit: str = "",
    series: str | None = None,
    value_name: str = "",
) -> Any:
    """Bars from zero, with their values written on them; horizontal when the labels are long or many."""
    data = pd.DataFrame({"category": table[category].astype(str), "value": table[value].astype(float)})
    name = value_name or value
    if series is not None:
        data["series"] = table[series].astype(str)
        return _grouped_bars(data, category, name, title, unit, series)
    subtitle = f"the first {MOST_BARS} of {len(data):,}" if len(data) > MOST_BARS else ""
    data = data.head(MOST_BARS)
    data["label"] = [human(number, unit if len(unit) == 1 else "") for number in data["value"]]
    order = list(data["category"])
    flat = data["category"].str.len().max() * len(data) > 75 or len(data) > 12
    category_title, values = alt.Axis(title=one_line(category)), alt.Scale(zero=True, nice=True)
    if flat:
        base = alt.Chart(data, width=WIDTH - 120, height=alt.Step(BAR_STEP)).encode(
            y=alt.Y("category:N", sort=order, axis=category_title),
            x=alt.X("value:Q", scale=values, axis=number_axis(name, unit, grid=True)),
        )
        text = base.mark_text(align="left", dx=4, color=LABEL).encode(text="label:N")
    else:
        base = alt.Chart(data, width=WIDTH, height=HEIGHT).encode(
            x=alt.X("category:N", sort=order, axis=category_title),
            y=alt.Y("value:Q", scale=values, axis=number_axis(name, unit)),
        )
        text = base.mark_text(baseline="bottom", dy=-3, color=LABEL).encode(text="label:N")
    tooltip = [
        tip("category:N", category),
        tip("value:Q", name, format=",.6~g"),
    ]
    return (base.mark_bar(color=ACCENT).encode(tooltip=tooltip) + text).properties(title=heading(title, subtitle))


def _grouped_bars(data: pd.DataFrame, category: str, name: str, title: str, unit: str, series: str) -> Any:
    order, groups = list(dict.fromkeys(data["category"]))[:MOST_BARS], list(dict.fromkeys(data["series"]))[:MOST_SERIES]
    data = data[data["category"].isin(order) & data["series"].isin(groups)]
    return (
        alt.Chart(data, width=WIDTH - 140, height=alt.Step(max(8, BAR_STEP * 2 // max(len(groups), 1) - 2)))
        .mark_bar()
        .encode(
            y=alt.Y(
                "category:N", sort=order, axis=alt.Axis(title=one_line(category)), scale=alt.Scale(paddingInner=0.25)
            ),
            yOffset=alt.YOffset("series:N", sort=groups),
            x=alt.X("value:Q", scale=alt.Scale(zero=True), axis=number_axis(name, unit, grid=True)),
            color=alt.Color(
                "series:N",
                sort=groups,
                title=series,
                scale=alt.Scale(domain=groups, range=list(PALETTE[: len(groups)])),
            ),
            tooltip=[
                tip("category:N", category),
                tip("series:N", series),
                tip("value:Q", name, format=",.6~g"),
            ],
        )
        .properties(title=heading(title))
    )


def lines(
    table: pd.DataFrame,
    time: str,
    value: str,
    title: str,
    unit: str = "",
    series: str | None = None,
    area: bool = False,
    value_name: str = "",
) -> Any:
    """A line over time (or over any ordered number); several series are named at their ends."""
    temporal = pd.api.types.is_datetime64_any_dtype(table[time])
    data = pd.DataFrame({"time": table[time], "value": table[value].astype(float)})
    data["series"] = table[series].astype(str) if series is not None else ""
    groups = list(dict.fromkeys(data["series"]))[:MOST_SERIES]
    data = thin(data[data["series"].isin(groups)].dropna(), "time")
    name = value_name or value
    x_axis = _date_axis(data["time"]) if temporal else alt.Axis(title=one_line(time), labelOverlap=True, format="d")
    lowest, highest = data["value"].min(), data["value"].max()
    # A line may leave zero out when it would flatten the shape; an area may not.
    zero = bool(area or 0 <= lowest < 0.5 * highest or 0.5 * lowest < highest <= 0)
    colour = alt.Color(
        "series:N", sort=groups, legend=None, scale=alt.Scale(domain=groups, range=list(PALETTE[: len(groups)]))
    )
    base = alt.Chart(data, width=WIDTH - (100 if series else 0), height=HEIGHT).encode(
        x=alt.X(
            "time:T" if temporal else "time:Q",
            axis=x_axis,
            scale=alt.Scale() if temporal else alt.Scale(zero=False, nice=False),
        ),
        y=alt.Y("value:Q", axis=number_axis(name, unit), scale=alt.Scale(zero=zero)),
        tooltip=[
            alt.Tooltip(
                "time:T" if temporal else "time:Q", title=one_line(time), **({} if temporal else {"format": "d"})
            ),
            tip("value:Q", name, format=",.6~g"),
        ],
    )
    if series is None:
        few = len(data) <= 40
        mark = base.mark_area(line=True, point=few) if area else base.mark_line(point=few)
        return mark.properties(title=heading(title))
    ends = data.sort_values("time").groupby("series", as_index=False).tail(1).reset_index(drop=True)
    ends["value"] = _apart(ends["value"], 0.055 * ((highest - (0 if zero else lowest)) or 1))
    names = (
        alt.Chart(ends)
        .mark_text(align="left", dx=6)
        .encode(x="time:T" if temporal else "time:Q", y="value:Q", text="series:N", color=colour)
    )
    return (base.mark_line().encode(color=colour) + names).properties(title=heading(title))


def _date_axis(dates: "pd.Series[Any]") -> alt.Axis:
    """At most nine labels, all of one form, on dates that are in the data: years, months, days or hours."""
    distinct = dates.drop_duplicates().sort_values()
    chosen = distinct.iloc[np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), 9)).astype(int))]
    if (distinct.dt.dayofyear == 1).all() and (distinct.dt.hour == 0).all():
        form = "%Y"
    elif (distinct.dt.day == 1).all() and (distinct.dt.hour == 0).all():
        form = "%b %Y"
    elif (distinct.dt.normalize() == distinct).all():
        form = "%-d %b %Y"
    else:
        form = "%H:%M" if distinct.dt.normalize().nunique() == 1 else "%-d %b %H:%M"
    values = [alt.DateTime(year=d.year, month=d.month, date=d.day, hours=d.hour, minutes=d.minute) for d in chosen]
    return alt.Axis(title=None, labelOverlap=True, format=form, values=values)


def _apart(values: Any, distance: float) -> Any:
    """Positions for labels, in the order of the values, none nearer to the next than `distance`."""
    moved = values.sort_values().copy()
    for place in range(1, len(moved)):
        moved.iloc[place] = max(moved.iloc[place], moved.iloc[place - 1] + distance)
    return moved.reindex(values.index)


def thin(data: pd.DataFrame, order: str) -> pd.DataFrame:
    """At most as many rows as a chart may carry, evenly spread along `order`."""
    data = data.sort_values(order)
    if len(data) <= MAX_CHART_ROWS:
        return data
    return data.iloc[np.linspace(0, len(data) - 1, MAX_CHART_ROWS).astype(int)]


def points(
    table: pd.DataFrame,
    x: str,
    y: str,
    title: str,
    units: tuple[str, str] = ("", ""),
    trend: bool = True,
    series: str | None = None,
) -> Any:
    """A scatter of two numbers, with the least-squares line through all of them."""
    data = pd.DataFrame({"x": table[x].astype(float), "y": table[y].astype(float)})
    if series is not None:
        data["series"] = table[series].astype(str)
    data = data.dropna(subset=["x", "y"])
    shown = data.sample(MAX_CHART_ROWS, random_state=0) if len(data) > MAX_CHART_ROWS else data
    subtitle = f"{len(shown):,} of {len(data):,} points shown" if len(shown) < len(data) else ""
    colour = {"color": alt.Color("series:N", title=one_line(series))} if series is not None else {}
    dots = (
        alt.Chart(shown, width=WIDTH, height=HEIGHT + 40)
        .mark_circle(size=34, opacity=0.55)
        .encode(
            x=alt.X("x:Q", axis=number_axis(x, units[0], grid=True), scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", axis=number_axis(y, units[1]), scale=alt.Scale(zero=False)),
            tooltip=[
                tip("x:Q", x, format=",.6~g"),
                tip("y:Q", y, format=",.6~g"),
            ],
            **colour,
        )
    )
    if not trend or len(data) < 3 or data["x"].nunique() < 2:
        return dots.properties(title=heading(title, subtitle))
    slope, intercept = np.polyfit(data["x"], data["y"], 1)
    ends = pd.DataFrame({"x": [data["x"].min(), data["x"].max()]})
    ends["y"] = intercept + slope * ends["x"]
    line = alt.Chart(ends).mark_line(color=PALETTE[1], strokeWidth=2).encode(x="x:Q", y="y:Q")
    return (dots + line).properties(title=heading(title, subtitle))


def histogram(values: Any, name: str, title: str, unit: str = "", marks: dict[str, float] | None = None) -> Any:
    """How often values of each size occur, with named marks such as the median."""
    numbers = pd.Series(values).dropna().astype(float).to_numpy()
    counts, edges = np.histogram(numbers, bins=_bin_edges(numbers))
    data = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "count": counts})
    base = (
        alt.Chart(data, width=WIDTH, height=HEIGHT)
        .mark_bar(color=ACCENT, stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", axis=number_axis(name, unit), scale=alt.Scale(zero=False, nice=False)),
            x2="to:Q",
            y=alt.Y("count:Q", axis=number_axis("rows")),
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("from:Q", format=",.6~g"),
                alt.Tooltip("to:Q", format=",.6~g"),
                alt.Tooltip("count:Q", title="rows"),
            ],
        )
    )
    if not marks:
        return base.properties(title=heading(title))
    lines_at = pd.DataFrame(
        {"x": list(marks.values()), "label": [f"{key} {human(value)}" for key, value in marks.items()]}
    )
    rule = alt.Chart(lines_at).mark_rule(color=PALETTE[1], strokeWidth=2).encode(x="x:Q")
    text = (
        alt.Chart(lines_at)
        .mark_text(align="center", dy=-4, baseline="bottom")
        .encode(x="x:Q", y=alt.value(0), text="label:N")
    )
    return (base + rule + text).properties(title=heading(title))


def _bin_edges(numbers: Any) -> Any:
    """Edges a person would choose: whole numbers for few whole values, else Freedman-Diaconis within 8 to 40 bins."""
    low, high = numbers.min(), numbers.max()
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    if (numbers % 1 == 0).all() and high - low <= 40:
        return np.arange(low - 0.5, high + 1)
    spread = np.subtract(*np.percentile(numbers, [75, 25]))
    width = 2 * spread / len(numbers) ** (1 / 3)
    wanted = int(np.clip((high - low) / width if width > 0 else 20, 8, 40))
    raw = (high - low) / wanted
    magnitude = 10.0 ** np.floor(np.log10(raw))
    step = min((1, 2, 2.5, 5, 10), key=lambda nice: abs(nice * magnitude - raw)) * magnitude
    return np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step


def boxes(table: pd.DataFrame, group: str, value: str, title: str, unit: str = "") -> Any:
    """A box per group: quartiles, whiskers to 1.5 times their distance, and the values beyond."""
    data = pd.DataFrame({"group": table[group].astype(str), "value": table[value].astype(float)}).dropna()
    order = list(data.groupby("group")["value"].median().sort_values(ascending=False).index[:MOST_BARS])
    data = data[data["group"].isin(order)]
    if len(data) > MAX_CHART_ROWS:
        data = data.sample(MAX_CHART_ROWS, random_state=0)
    return (
        alt.Chart(data, width=WIDTH - 120, height=alt.Step(34))
        .mark_boxplot(size=18, outliers={"size": 14, "opacity": 0.5})
        .encode(
            y=alt.Y("group:N", sort=order, axis=alt.Axis(title=one_line(group))),
            x=alt.X("value:Q", axis=number_axis(value, unit, grid=True), scale=alt.Scale(zero=False)),
        )
        .properties(title=heading(title))
    )


def heatmap(matrix: pd.DataFrame, title: str, correlation: bool = False, name: str = "value") -> Any:
    """A matrix as coloured cells with their numbers; correlations are coloured from -1 to 1."""
    rows, columns = [str(each) for each in matrix.index], [str(each) for each in matrix.columns]
    cells = [(row, column, matrix.iat[i, j]) for i, row in enumerate(rows) for j, column in enumerate(columns)]
    data = pd.DataFrame(cells, columns=["row", "column", "value"])
    data["label"] = [
        human(value) if not correlation else ("" if pd.isna(value) else f"{value:.2f}") for value in data["value"]
    ]
    middle = data["value"].abs().max() * 0.6
    data["dark"] = (data["value"].abs() > (0.6 if correlation else middle)).astype(int)
    scale = alt.Scale(domain=[-1, 0, 1], range=list(DIVERGING), interpolate="rgb") if correlation else alt.Scale()
    base = alt.Chart(data, width=alt.Step(max(38, min(64, WIDTH // max(len(columns), 1)))), height=alt.Step(30)).encode(
        x=alt.X("column:N", sort=columns, axis=alt.Axis(title=None, labelAngle=-40, orient="bottom", labelLimit=140)),
        y=alt.Y("row:N", sort=rows, axis=alt.Axis(title=None)),
    )
    boxes_ = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=scale, title=one_line(name), legend=None if correlation else alt.Legend())
    )
    text = base.mark_text(fontSize=10).encode(
        text="label:N", color=alt.condition("datum.dark == 1", alt.value("white"), alt.value(LABEL))
    )
    return (boxes_ + text if len(columns) <= 16 else boxes_).properties(title=heading(title))


def pie(table: pd.DataFrame, category: str, value: str, title: str) -> Any:
    """Shares of a whole, at most seven and the rest."""
    data = pd.DataFrame({"category": table[category].astype(str), "value": table[value].astype(float)})
    if len(data) > MOST_SERIES:
        rest = pd.DataFrame({"category": ["all others"], "value": [data["value"].iloc[MOST_SERIES - 1 :].sum()]})
        data = pd.concat([data.head(MOST_SERIES - 1), rest], ignore_index=True)
    share = data["value"] / data["value"].sum()
    data["label"] = [f"{name} {part:.1%}" for name, part in zip(data["category"], share, strict=True)]
    order, colours = list(data["label"]), [*PALETTE[: len(data)]]
    if data["category"].iloc[-1] == "all others":
        colours[-1] = MUTED
    return (
        alt.Chart(data, width=HEIGHT, height=HEIGHT)
        .mark_arc(outerRadius=140, stroke="white")
        .encode(
            theta=alt.Theta("value:Q", stack=True),
            color=alt.Color("label:N", sort=order, title=None, scale=alt.Scale(domain=order, range=colours)),
            order=alt.Order("value:Q", sort="descending"),
        )
        .properties(title=heading(title))
    )
