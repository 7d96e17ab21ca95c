"""Writes matplotlib's font list for the guest, and the families into its style: `list_fonts.py FONTS [MATPLOTLIBRC]`.

Runs with the guest's packages while the environment is built. The list goes into MPLCONFIGDIR and names the fonts
where the guest has them, at /opt/fonts. Without it the first chart of every command would search the machine for fonts.
"""

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
from matplotlib import font_manager

GUEST_FONTS = Path("/opt/fonts")
# matplotlib draws a character with the first family of `font.family` that has it. DejaVu Sans comes with matplotlib
# and has the symbols.
FAMILIES = ("Noto Sans", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR", "Noto Sans CJK JP", "DejaVu Sans")
# Names that people's code asks for, and the family that is drawn instead.
OTHER_NAMES = {
    "Noto Sans": ("Arial", "Helvetica", "Liberation Sans", "Segoe UI", "Roboto", "Open Sans"),
    "Noto Sans SC": (
        "Noto Sans CJK SC",
        "SimHei",
        "Microsoft YaHei",
        "PingFang SC",
        "WenQuanYi Zen Hei",
        "Arial Unicode MS",
    ),
    "Noto Sans JP": ("Noto Sans CJK JP", "MS Gothic", "Yu Gothic", "Hiragino Sans", "IPAexGothic"),
    "Noto Sans KR": ("Noto Sans CJK KR", "Malgun Gothic", "NanumGothic", "AppleGothic"),
}


def main(fonts: Path, style: Path | None) -> None:
    # The guest's fonts stand in for the building machine's, which are not there in the guest; matplotlib's own stay.
    find = font_manager.findSystemFonts
    ours = sorted(map(str, fonts.glob("*.tt[fc]")))
    font_manager.findSystemFonts = lambda fontpaths=None, fontext="ttf": find(fontpaths, fontext) if fontpaths else ours
    manager = font_manager.FontManager()
    listed = [_as_the_guest_sees_it(entry, fonts) for entry in manager.ttflist]
    known = {entry.name for entry in listed}
    manager.ttflist = listed + [
        replace(entry, name=other)
        for entry in listed
        for other in OTHER_NAMES.get(entry.name, ())
        if other not in known
    ]
    version = font_manager.FontManager.__version__
    font_manager.json_dump(manager, str(Path(matplotlib.get_cachedir()) / f"fontlist-v{version}.json"))
    if style is not None:
        _name_families(style, [family for family in FAMILIES if family in known])


def _as_the_guest_sees_it(entry: font_manager.FontEntry, fonts: Path) -> font_manager.FontEntry:
    file = Path(entry.fname)
    return replace(entry, fname=str(GUEST_FONTS / file.name)) if file.parent == fonts else entry


def _name_families(style: Path, families: list[str]) -> None:
    lines = [
        line
        for line in style.read_text("utf-8").splitlines()
        if not line.startswith(("font.family", "font.sans-serif"))
    ]
    names = ", ".join(families)
    lines += [f"font.family: {names}", f"font.sans-serif: {names}"]
    style.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
