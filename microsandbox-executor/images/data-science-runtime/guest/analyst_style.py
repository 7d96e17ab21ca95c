"""One look for every chart: a colour-blind-safe palette, an altair theme, a matplotlib style, and `save_chart`.

    import altair as alt
    import analyst_style as style

    style.save_chart(chart, "revenue_by_month")      # /artifacts/revenue_by_month.png and .vl.json
    style.use_matplotlib()                           # before plotting with matplotlib or seaborn

Importing the module enables the altair theme.
"""

import json
import math
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

# Distinct in the usual kinds of colour blindness, and on white as on dark cards; the accent comes first.
PALETTE = ("#1F6FB5", "#E08A1E", "#0F9D78", "#B8478F", "#5AB0E0", "#C4521B", "#7A6FB8", "#8A8F98")
ACCENT = PALETTE[0]
MUTED = "#8A8F98"
INK = "#1F2937"
LABEL = "#4B5563"
GRID = "#E6E9ED"
DIVERGING = ("#B4541A", "#F4F4F2", "#1F6FB5")

ARTIFACTS = Path("/artifacts")
FONT_FOLDERS = (Path("/opt/fonts"), Path("/usr/share/fonts"))
FONTS = "Noto Sans, Noto Sans SC, Noto Sans JP, Noto Sans KR, Liberation Sans, DejaVu Sans, sans-serif"
PNG_SCALE = 2.0
# A specification carries its rows with it: more than this makes a page slow and shows no more.
MAX_CHART_ROWS = 5000

# Vega's own short numbers are 1.2k and 1.2G; people read 1.2 K, 1.2 M, 1.2 B.
SHORT_NUMBERS = (
    "abs(datum.value) >= 1e12 ? format(datum.value / 1e12, '.3~g') + ' T' : "
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '.3~g') + ' B' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '.3~g') + ' M' : "
    "abs(datum.value) >= 1e4 ? format(datum.value / 1e3, '.3~g') + ' K' : "
    "abs(datum.value) > 0 && abs(datum.value) < 1e-3 ? format(datum.value, '.2~e') : format(datum.value, ',.4~f')"
)


def human(value: float, unit: str = "") -> str:
    """A number as people write it: 1.23 M, 45.6 K, 12.3 %, $1.2 M. Missing becomes an em dash."""
    if value is None or not math.isfinite(value):
        return "—"
    size = abs(value)
    for bound, scale, suffix in ((9.995e11, 1e12, " T"), (9.995e8, 1e9, " B"), (9.995e5, 1e6, " M"), (1e4, 1e3, " K")):
        if size >= bound:
            return _with_unit(
                f"{value / scale:.{max(0, 2 - len(str(int(size / scale))) + 1)}f}".rstrip("0").rstrip(".") + suffix
                if size / scale < 99.95
                else f"{value / scale:,.0f}{suffix}",
                unit,
            )
    if float(value).is_integer():
        return _with_unit(f"{value:,.0f}", unit)
    if size >= 100:
        return _with_unit(f"{value:,.1f}", unit)
    if size >= 1:
        return _with_unit(f"{value:,.2f}".rstrip("0").rstrip("."), unit)
    return _with_unit(f"{value:.3g}", unit)


def _with_unit(text: str, unit: str) -> str:
    if unit in tuple("$€£¥₹₽₩฿"):
        return f"-{unit}{text[1:]}" if text.startswith("-") else f"{unit}{text}"
    return f"{text} {unit}" if unit else text


@alt.theme.register("analyst", enable=True)
def theme() -> alt.theme.ThemeConfig:
    """The altair theme: white card, quiet axes, one accent."""
    axis = {
        "labelFont": FONTS,
        "titleFont": FONTS,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelColor": LABEL,
        "titleColor": LABEL,
        "domainColor": "#C7CCD3",
        "gridColor": GRID,
        "ticks": False,
        "labelPadding": 6,
        "titlePadding": 10,
        "labelLimit": 240,
    }
    return alt.theme.ThemeConfig(
        {
            "background": "white",
            "padding": 16,
            "config": {
                "font": FONTS,
                "view": {"continuousWidth": 620, "continuousHeight": 320, "stroke": None},
                "title": {
                    "anchor": "start",
                    "font": FONTS,
                    "fontSize": 15,
                    "fontWeight": 600,
                    "color": INK,
                    "offset": 14,
                    "subtitleFont": FONTS,
                    "subtitleFontSize": 12,
                    "subtitleColor": LABEL,
                    "subtitlePadding": 6,
                    "limit": 900,
                },
                "axis": axis,
                "axisX": {"grid": False, "labelAngle": 0},
                "axisY": {"domain": False},
                "legend": {
                    "labelFont": FONTS,
                    "titleFont": FONTS,
                    "labelColor": LABEL,
                    "titleColor": LABEL,
                    "labelFontSize": 11,
                    "titleFontSize": 11,
                    "titleFontWeight": "normal",
                    "symbolType": "circle",
                    "labelLimit": 200,
                },
                "range": {
                    "category": list(PALETTE),
                    "ordinal": list(PALETTE),
                    "diverging": list(DIVERGING),
                    "ramp": ["#EAF2F9", "#8FBDE0", "#1F6FB5", "#0F3C63"],
                    "heatmap": ["#EAF2F9", "#8FBDE0", "#1F6FB5", "#0F3C63"],
                },
                "bar": {"color": ACCENT, "cornerRadiusEnd": 2},
                "line": {"color": ACCENT, "strokeWidth": 2},
                "area": {"color": ACCENT, "opacity": 0.25, "line": {"color": ACCENT}},
                "point": {"color": ACCENT, "filled": True, "size": 30},
                "circle": {"color": ACCENT},
                "rect": {"color": ACCENT},
                "rule": {"color": MUTED},
                "boxplot": {"box": {"color": ACCENT}, "median": {"color": "white"}},
                "text": {"font": FONTS, "fontSize": 11, "color": INK},
            },
        }
    )


def save_chart(chart: Any, name: str) -> tuple[str, str]:
    """Save an altair chart as `/artifacts/<name>.png` and `/artifacts/<name>.vl.json`, its data inlined.

    Returns the two file names. Raises ValueError when the picture cannot be drawn.
    """
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    specification = chart.to_dict()
    picture = vl_convert.vegalite_to_png(specification, scale=PNG_SCALE)
    (ARTIFACTS / f"{name}.png").write_bytes(picture)
    (ARTIFACTS / f"{name}.vl.json").write_text(json.dumps(specification, ensure_ascii=False), encoding="utf-8")
    return f"{name}.png", f"{name}.vl.json"


def use_matplotlib() -> None:
    """Give matplotlib (and seaborn) the same look and the sandbox's fonts."""
    from matplotlib import font_manager, pyplot

    pyplot.style.use(str(Path(__file__).with_name("matplotlibrc")))
    for folder in FONT_FOLDERS[:1]:
        for font in sorted(folder.glob("*.[to]t[fc]")):
            font_manager.fontManager.addfont(str(font))


def _register_fonts() -> None:
    for folder in FONT_FOLDERS:
        if folder.is_dir():
            vl_convert.register_font_directory(str(folder))


_register_fonts()
alt.data_transformers.enable("default", max_rows=MAX_CHART_ROWS * 4)
