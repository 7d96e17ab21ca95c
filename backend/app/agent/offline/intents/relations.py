"""Two or more numbers together: correlation (a pair, one with all, all with all), scatter, linear regression."""

# ruff: noqa: E501 - the lines of the generated programs and of the answers are written whole

from typing import Any

from app.agent.offline.answer import (
    Answer,
    code,
    data_assumptions,
    markdown_table,
    names,
    number,
    rows_sentence,
    share_text,
)
from app.agent.offline.plan import Plan
from app.agent.offline.script import Caution, Script, quoted, slug

STRENGTHS = (
    (0.1, "practically none"),
    (0.3, "weak"),
    (0.5, "moderate"),
    (0.7, "clear"),
    (0.9, "strong"),
    (2.0, "very strong"),
)


def headline(plan: Plan) -> str:
    if plan.intent == "regression":
        return f"Linear regression of {plan.measures[0]} on {' and '.join(plan.measures[1:])}"
    if plan.intent == "scatter":
        return f"{plan.measures[1]} against {plan.measures[0]}"
    if plan.target == "matrix":
        return f"Correlation of {len(plan.measures)} columns of numbers"
    if plan.target == "one":
        return f"What {plan.measures[0]} correlates with"
    return f"Correlation of {plan.measures[0]} and {plan.measures[1]}"


def write(plan: Plan, caution: Caution) -> Script:
    script = Script(plan, f"{headline(plan)} ({plan.table.name}).", caution)
    script.add("rows_matching = len(df)", "files = []")
    if plan.intent == "regression":
        return _write_regression(script, plan)
    if plan.target == "matrix":
        return _write_matrix(script, plan)
    return _write_one(script, plan) if plan.target == "one" else _write_pair(script, plan)


def _write_pair(script: Script, plan: Plan) -> Script:
    x, y = plan.measures
    artifact = slug(y, "by", x)
    script.add(
        f"used = df.dropna(subset={[x, y]!r})",
        f"x, y = used[{x!r}].astype(float), used[{y!r}].astype(float)",
        "pearson = stats.pearsonr(x, y) if len(used) > 2 and x.nunique() > 1 and y.nunique() > 1 else None",
        "spearman = stats.spearmanr(x, y) if pearson is not None else None",
        "print(f'n = {len(used):,}', pearson, spearman, sep='\\n')",
        "pair = {",
        "    'n': len(used), 'r': pearson.statistic if pearson else None, 'p': pearson.pvalue if pearson else None,",
        "    'rho': spearman.statistic if spearman else None, 'rho_p': spearman.pvalue if spearman else None,",
        "}",
    )
    series = f", series={plan.groups[0]!r}" if plan.groups else ""
    script.chart(
        "r = pair['r']",
        "relation = 'rises with' if r and r > 0.1 else 'falls with' if r and r < -0.1 else 'hardly depends on'",
        f"title = {y!r} + f' {{relation}} ' + {x!r} + (f' (r = {{r:.2f}})' if r is not None else '')",
        f"chart = charts.points(used, {x!r}, {y!r}, title, units=({plan.unit(x)!r}, {plan.unit(y)!r}){series})",
        f"files += style.save_chart(chart, {artifact!r})",
    )
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, rows_used=len(used), pair=pair, files=files, notes=table.notes)"
    )
    return script


def _write_one(script: Script, plan: Plan) -> Script:
    target = plan.measures[0]
    others = [
        column.name
        for column in plan.table.columns
        if column.is_measure and column.distinct > 1 and column.name != target
    ][:60]
    artifact = slug("correlations of", target)
    script.add(
        f"target = df[{target!r}]",
        f"others = {quoted(others)}",
        f"result = pd.DataFrame({{'column': others, 'r': [df[name].corr(target, method={plan.method!r}) for name in others]}})",
        "result['rows'] = [int((df[name].notna() & target.notna()).sum()) for name in others]",
        "result = result.dropna().sort_values('r', key=abs, ascending=False, kind='stable').reset_index(drop=True)",
        f"show({f'Correlation with {target}'!r}, result)",
        f"files.append(save_table(result, {artifact!r}))",
    )
    script.chart(
        "if len(result):",
        f"    title = {target!r} + f\" goes most with {{result.iloc[0]['column']}} (r = {{result.iloc[0]['r']:.2f}})\"",
        "    chart = charts.bars(result, 'column', 'r', title)",
        f"    files += style.save_chart(chart, {artifact!r})",
    )
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, result=rows_of(result), files=files, notes=table.notes)"
    )
    return script


def _write_matrix(script: Script, plan: Plan) -> Script:
    script.add(
        f"numbers = df[{quoted(plan.measures)}]",
        f"matrix = numbers.corr(method={plan.method!r})",
        "show('Correlations', matrix.round(3), limit=40)",
        "pairs = matrix.where(np.triu(np.ones(matrix.shape, dtype=bool), k=1)).stack().dropna().reset_index()",
        "pairs.columns = ['column', 'with', 'r']",
        "pairs = pairs.sort_values('r', key=abs, ascending=False, kind='stable').reset_index(drop=True)",
        "show('Strongest pairs', pairs, limit=15)",
        "files.append(save_table(matrix.reset_index(names='column'), 'correlation_matrix'))",
    )
    script.chart(
        "if len(pairs):",
        "    top = pairs.iloc[0]",
        "    title = f\"{top['column']} and {top['with']} go together most (r = {top['r']:.2f})\"",
        "    chart = charts.heatmap(matrix, title, correlation=True, name='r')",
        "    files += style.save_chart(chart, 'correlation_matrix')",
    )
    script.add(
        "publish(rows_read=rows_read, rows_matching=rows_matching, result=rows_of(pairs), files=files, notes=table.notes)"
    )
    return script


def _write_regression(script: Script, plan: Plan) -> Script:
    target, causes = plan.measures[0], list(plan.measures[1:])
    artifact = slug("regression of", target, "on", *causes)
    script.add(
        "import statsmodels.api as sm",
        "",
        f"used = df.dropna(subset={[target, *causes]!r})",
        f"model = sm.OLS(used[{target!r}].astype(float), sm.add_constant(used[{causes!r}].astype(float), has_constant='add')).fit()",
        "print(model.summary().tables[1])",
        "print(f'R2 = {model.rsquared:.4f}, n = {len(used):,}')",
        "interval = model.conf_int()",
        "result = pd.DataFrame({",
        "    'term': model.params.index, 'coefficient': model.params.to_numpy(), 'standard error': model.bse.to_numpy(), 'p': model.pvalues.to_numpy(),",
        "    '95 % from': interval[0].to_numpy(), '95 % to': interval[1].to_numpy(),",
        "})",
        "result['term'] = result['term'].replace('const', '(intercept)')",
        f"files.append(save_table(result, {artifact!r}))",
    )
    if len(causes) == 1:
        script.chart(
            f"title = {f'{target} changes by '!r} + style.human(model.params.iloc[1]) + {f' with each unit of {causes[0]}'!r} + f' (R² = {{model.rsquared:.2f}})'",
            f"chart = charts.points(used, {causes[0]!r}, {target!r}, title, units=({plan.unit(causes[0])!r}, {plan.unit(target)!r}))",
            f"files += style.save_chart(chart, {artifact!r})",
        )
    else:
        script.chart(
            "fitted = pd.DataFrame({'fitted': model.fittedvalues, 'actual': model.model.endog})",
            f"title = {'The model explains '!r} + f'{{model.rsquared:.1%}} of the variation of ' + {target!r}",
            "chart = charts.points(fitted, 'fitted', 'actual', title)",
            f"files += style.save_chart(chart, {artifact!r})",
        )
    script.add(
        "publish(",
        "    rows_read=rows_read, rows_matching=rows_matching, rows_used=len(used), result=rows_of(result), files=files, notes=table.notes,",
        "    r2=model.rsquared, adjusted=model.rsquared_adj, f_p=model.f_pvalue, residual=float(np.sqrt(model.mse_resid)),",
        ")",
    )
    return script


def strength(r: float) -> str:
    return next(word for bound, word in STRENGTHS if abs(r) < bound)


def probability(p: float | None) -> str:
    return "—" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def tell(plan: Plan, results: dict[str, Any]) -> Answer:
    answer = _tell(plan, results)
    answer.files, answer.assumptions = results["files"], data_assumptions(results, plan)
    return answer


def _tell(plan: Plan, results: dict[str, Any]) -> Answer:
    if plan.intent == "regression":
        return _tell_regression(plan, results)
    if plan.target:
        return _tell_many(plan, results)
    x, y = plan.measures
    pair = results["pair"]
    if pair["r"] is None:
        return Answer(
            f"{code(x)} and {code(y)} have too few different pairs of values ({pair['n']:,}) for a correlation."
        )
    main, p, kind = (
        (pair["rho"], pair["rho_p"], "Spearman's ρ")
        if plan.method == "spearman"
        else (pair["r"], pair["p"], "Pearson's r")
    )
    direction = "" if abs(main) < 0.1 else ", rising together" if main > 0 else ", one falls as the other rises"
    lead = f"{code(x)} and {code(y)}: **{kind} = {main:.4f}** ({strength(main)}{direction}; {probability(p)}, n = {pair['n']:,})."
    answer = Answer(lead, f"Computed {rows_sentence(results, plan)}.")
    other = (
        f"Pearson's r is {pair['r']:.4f}" if plan.method == "spearman" else f"Spearman's ρ (ranks) is {pair['rho']:.4f}"
    )
    answer.details = [f"{other}.", "A correlation says that the two go together, not that one causes the other."]
    if p is not None and p >= 0.05:
        answer.details.insert(0, "At the 5 % level this is not distinguishable from chance.")
    return answer


def _tell_many(plan: Plan, results: dict[str, Any]) -> Answer:
    table = results["result"]
    if not table["rows"]:
        return Answer("No two columns of numbers vary together in enough rows for a correlation.")
    kind = "Spearman's ρ" if plan.method == "spearman" else "Pearson's r"
    first = table["rows"][0]
    if plan.target == "one":
        lead = f"{code(plan.measures[0])} goes most with **{code(first[0])}: {kind} = {first[1]:.4f}** ({strength(first[1])})."
        answer = Answer(
            lead,
            f"{table['total']} columns of numbers were compared over {results['rows_matching']:,} rows, each with the rows that have both values.",
        )
    else:
        lead = f"{code(first[0])} and {code(first[1])} go together most: **{kind} = {first[2]:.4f}** ({strength(first[2])})."
        answer = Answer(
            lead,
            f"{len(plan.measures)} columns of numbers, {table['total']:,} pairs, over {results['rows_matching']:,} rows.",
        )
    answer.tables.append(markdown_table(table["columns"], table["rows"], total=table["total"]))
    return answer


def _tell_regression(plan: Plan, results: dict[str, Any]) -> Answer:
    target, causes = plan.measures[0], list(plan.measures[1:])
    rows = {row[0]: row for row in results["result"]["rows"]}
    intercept = rows["(intercept)"][1]
    terms = " ".join(
        f"{'+' if rows[name][1] >= 0 else '−'} {number(abs(rows[name][1]))} × {code(name)}"
        for name in causes
        if name in rows
    )
    lead = f"**{code(target)} ≈ {number(intercept)} {terms}**, with R² = **{results['r2']:.4f}**: {share_text(results['r2'] * 100)} of the variation is explained."
    answer = Answer(lead, f"Ordinary least squares on {names(causes)}, {rows_sentence(results, plan)}.")
    answer.tables.append(markdown_table(results["result"]["columns"], results["result"]["rows"]))
    answer.details = [
        f"The typical error of a fitted value is {number(results['residual'], plan.unit(target))}; the model as a whole: {probability(results['f_p'])}."
    ]
    return answer
