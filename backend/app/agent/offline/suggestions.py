"""Questions that fit a table's own columns."""

from app.agent.offline.measures import default_measure, natural_aggregate
from app.agent.offline.plan import Plan
from app.agent.offline.profile import TableProfile


def next_questions(table: TableProfile, plan: Plan | None = None, count: int = 3) -> list[str]:
    """Questions that this analyst can answer from the table, without the one that was just answered."""
    measure = default_measure(table)
    groups = [column.name for column in table.groupings if measure is None or column.name != measure.name]
    dates = [column for column in table.times if column.role == "date"]
    years = [column for column in table.times if column.role == "year"]
    others = [column.name for column in table.measures if measure is not None and column.name != measure.name]
    used = set(plan.measures + plan.groups) if plan is not None else set()
    groups.sort(key=lambda name: name in used)
    others.sort(key=lambda name: name in used)
    ideas: list[tuple[str, str]] = []
    if measure is not None:
        word = {"sum": "total", "mean": "average"}.get(natural_aggregate(measure), "highest")
        name = (
            plan.measures[0]
            if plan
            and plan.measures
            and plan.intent == "aggregate"
            and table.by_name.get(plan.measures[0]) in table.measures
            else measure.name
        )
        if dates and not (plan and plan.time):
            ideas.append(("trend", f"Chart {word} {name} by month"))
        elif years and not (plan and plan.time):
            ideas.append(("trend", f"{word.capitalize()} {name} by {years[0].name}"))
        if groups:
            group = next((each for each in groups if not plan or each not in plan.groups), None)
            if group:
                ideas.append(("groups", f"What is the {word} {name} by {group}?"))
        if not plan or plan.intent != "distribution":
            ideas.append(("distribution", f"Show the distribution of {name}"))
        others = [other for other in others if other != name]
        if others and not (plan and plan.intent == "correlation"):
            ideas.append(("correlation", f"How are {name} and {others[0]} correlated?"))
        if len(others) > 1 and not (plan and plan.intent == "correlation"):
            ideas.append(("matrix", "Show the correlation heat map of all numbers"))
    if groups and not (plan and plan.aggregate == "count" and plan.groups):
        ideas.append(("count", f"How many rows are there for each {groups[0]}?"))
    if any(column.missing for column in table.columns) and not (plan and plan.intent == "missing"):
        ideas.append(("missing", "Which columns have missing values?"))
    ideas.append(
        ("overview", "What is in this file?")
        if not plan or plan.intent != "overview"
        else ("duplicates", "Are there duplicate rows?")
    )
    return [" ".join(text.split()) for _, text in ideas[:count]]
