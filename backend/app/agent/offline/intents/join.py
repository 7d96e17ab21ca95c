"""Join two files on the key that they share."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import Answer, code, data_assumptions, markdown_table, names
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, quoted, slug


def headline(plan: Plan) -> str:
    other = plan.other.name if plan.other else ""
    return f"{plan.table.name} joined with {other}"


def write(plan: Plan, caution: Caution) -> Script:
    other = plan.other
    if other is None:
        raise ValueError("a join needs a second table")
    script = Script(plan, f"{headline(plan)}.", caution)
    artifact = slug(plan.table.name.rsplit(".", 1)[0][:26], "with", other.name.rsplit(".", 1)[0][:26])
    lenient = ", lenient=True" if caution.lenient else ""
    script.add(
        "rows_matching = len(df)",
        f"second = load_table({other.path!r}{lenient})",
        "right = second.frame",
        "",
        "# The key: the pair of columns whose values meet most often, as text",
        "def overlap(one, two):",
        "    left_values, right_values = set(df[one].dropna().astype(str)), set(right[two].dropna().astype(str))",
        "    return len(left_values & right_values) / max(1, min(len(left_values), len(right_values)))",
        "",
        f"named = {quoted(plan.measures)}",
        "same = {str(name).casefold().replace('_', '').replace(' ', ''): name for name in right.columns}",
        "candidates = [(name, same[form]) for name in (named or df.columns) if (form := str(name).casefold().replace('_', '').replace(' ', '')) in same]",
        "if not any(overlap(one, two) > 0.1 for one, two in candidates):",
        "    keys = ('identifier', 'text', 'category')",
        "    lefts = [name for name in df.columns if table.roles[name] in keys][:30]",
        "    rights = [name for name in right.columns if second.roles[name] in keys][:30]",
        "    candidates += [(one, two) for one in lefts for two in rights]",
        "scored = sorted(((overlap(one, two), right[two].nunique(), one, two) for one, two in candidates), reverse=True, key=lambda each: each[:2])",
        "if not scored or scored[0][0] == 0:",
        "    publish(rows_read=rows_read, rows_matching=rows_matching, key=None, files=[], notes=table.notes, columns=[list(map(str, df.columns))[:20], list(map(str, right.columns))[:20]])",
        "    raise SystemExit(0)",
        "share, _, one, two = scored[0]",
        "print(f'key: {one!r} = {two!r}, {share:.1%} of the values meet')",
        "",
        "left_key, right_key = df[one].astype('string'), right[two].astype('string')",
        "repeated = {'left': int(left_key.dropna().duplicated().sum()), 'right': int(right_key.dropna().duplicated().sum())}",
        "extra = right.drop(columns=[two]).assign(__key=right_key)",
        "joined = df.assign(__key=left_key).merge(",
        f"    extra.dropna(subset=['__key']), on='__key', how={plan.method!r}, suffixes=('', {f' ({other.name})'!r}), indicator='__found'",
        ")",
        "matched_left = int(left_key.isin(set(right_key.dropna())).sum())",
        "matched_right = int(right_key.isin(set(left_key.dropna())).sum())",
        "if one in joined.columns:",
        "    joined[one] = joined[one].astype('string').fillna(joined['__key'])",
        "joined = joined.drop(columns=['__key', '__found'])",
        "show('Joined', joined, limit=10)",
        "print(f'matched: {matched_left:,} of {len(df):,} left rows, {matched_right:,} of {len(right):,} right rows; {len(joined):,} rows joined')",
        f"files = [save_table(joined, {artifact!r})]",
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, key=[one, two], share=share * 100, rows_right=len(right), repeated=repeated,",
        "    matched_left=matched_left, matched_right=matched_right, unmatched_left=len(df) - matched_left, unmatched_right=len(right) - matched_right,",
        "    joined=len(joined), columns=joined.shape[1], result=rows_of(joined.iloc[:, :8], limit=10), files=files, notes=table.notes + second.notes,",
        ")",
    )
    return script


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    second = plan.other.name if plan.other else ""
    if results["key"] is None:
        left, right = results["columns"]
        return Answer(
            f"I found no key that {code(plan.table.name)} and {code(second)} share: no pair of columns has a value in common.",
            f"{code(plan.table.name)} has {names(left[:10])}; {code(second)} has {names(right[:10])}.",
        )
    one, two = results["key"]
    lead = f"**`{results['files'][0]}`** has **{results['joined']:,} rows** and {results['columns']:,} columns: {code(plan.table.name)} and {code(second)} joined where {code(one)} = {code(two)} ({plan.method} join)."
    answer = Answer(lead, files=results["files"], assumptions=data_assumptions(results, plan))
    answer.how = (
        f"{results['matched_left']:,} of {results['rows_matching']:,} rows of {code(plan.table.name)} found a partner and {results['unmatched_left']:,} did not; "
        f"of {code(second)} {results['matched_right']:,} of {results['rows_right']:,} matched and {results['unmatched_right']:,} did not."
    )
    repeated = results["repeated"]
    if repeated["left"] and repeated["right"]:
        answer.details.append(
            f"**Many-to-many**: the key repeats in both files ({repeated['left']:,} and {repeated['right']:,} repetitions), so rows are multiplied. Totals over the joined file count values more than once."
        )
    elif repeated["right"]:
        answer.details.append(
            f"The key repeats in {code(second)} ({repeated['right']:,} repetitions), so one row of {code(plan.table.name)} can occur several times."
        )
    answer.tables.append(
        markdown_table(results["result"]["columns"], results["result"]["rows"], total=results["joined"])
    )
    return answer
