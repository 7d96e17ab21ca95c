"""A cleaned copy of a table, with a report of every change."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, code, data_assumptions, markdown_table, names
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, quoted, slug


def headline(plan: Plan) -> str:
    return f"A cleaned copy of {plan.table.name}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)}, with a report of what changed.", caution)
    only = set(plan.method.split(",")) - {""}
    stem = slug(plan.table.name.rsplit(".", 1)[0])[:40]
    script.add("rows_matching = len(df)", "changes = []", "")
    if not only:
        script.add(
            "# Blanks around texts, and runs of blanks inside them",
            "for name in df.select_dtypes(include=['object', 'string']).columns:",
            "    tidy = df[name].str.strip().str.replace(r'\\s+', ' ', regex=True)",
            "    changed = int((tidy != df[name]).sum() - (tidy.isna() & df[name].isna()).sum())",
            "    if changed > 0:",
            "        changes.append(('blanks tidied', name, changed))",
            "    df[name] = tidy",
            "",
            "# Columns and rows that hold nothing",
            "empty = [name for name in df.columns if df[name].isna().all()]",
            "if empty and len(df):",
            "    df = df.drop(columns=empty)",
            "    changes += [('empty column removed', name, rows_read) for name in empty]",
            "blank = df.isna().all(axis=1)",
            "if blank.any():",
            "    df = df[~blank]",
            "    changes.append(('blank rows removed', '', int(blank.sum())))",
            "",
        )
    if not only or "duplicates" in only:
        script.add(
            "# Rows that repeat an earlier row in every column",
            "repeated = df.duplicated()",
            "if repeated.any():",
            "    df = df[~repeated]",
            "    changes.append(('duplicate rows removed', '', int(repeated.sum())))",
            "",
        )
    if "missing" in only:
        where = f"subset={quoted(plan.measures)}" if plan.measures else ""
        script.add(
            "# Rows with a missing value" + (" in the columns named" if plan.measures else ""),
            "before = len(df)",
            f"df = df.dropna({where})",
            "if len(df) < before:",
            "    changes.append(('rows with missing values removed', '', before - len(df)))",
            "",
        )
    script.add(
        "report = pd.DataFrame(changes, columns=['change', 'column', 'count'])",
        "show('What changed', report)",
        "types = {name: str(kind) for name, kind in df.dtypes.items()}",
        f"files = [save_table(df, {f'{stem}_cleaned'!r}), save_table(report, {f'{stem}_changes'!r})]",
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, kept=len(df), columns=df.shape[1], missing=int(df.isna().sum().sum()),",
        "    numbers=sum(kind.startswith(('int', 'float')) for kind in types.values()), dates=sum(kind.startswith('datetime') for kind in types.values()),",
        "    result=rows_of(report), files=files, notes=table.notes,",
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    kept, read = results["kept"], results["rows_read"]
    removed = f"{kept:,} of {read:,} rows were kept" if kept < read else f"all {read:,} rows were kept"
    lead = f"**`{results['files'][0]}`** is the cleaned copy of {code(plan.table.name)}: {removed}, in {results['columns']:,} columns."
    if not results["result"]["rows"]:
        lead += " **Nothing had to be changed** but the form."
    answer = Answer(lead, files=results["files"], assumptions=data_assumptions(results, plan))
    answer.how = f"{results['numbers']} columns were written as numbers and {results['dates']} as dates (ISO). The original is unchanged."
    if results["result"]["rows"]:
        answer.tables.append(
            markdown_table(results["result"]["columns"], results["result"]["rows"], total=results["result"]["total"])
        )
    if results["missing"]:
        answer.details.append(
            f"{results['missing']:,} missing values were left as they are: filling them would invent data."
        )
    if plan.measures:
        answer.details.append(f"Missing values were looked for in {names(plan.measures)}.")
    return answer
