"""Questions that only make sense with the one before: `and by month?`, `only for Berlin`, `same for profit`."""

import re
from dataclasses import replace

from app.agent.offline.aggregate_planning import measures_in, stack, time_axis
from app.agent.offline.measures import natural_aggregate
from app.agent.offline.plan import NoPlanError, Plan, names_of
from app.agent.offline.profile import TableProfile
from app.agent.offline.reading import Reading

_FOLLOW = re.compile(
    r"^\s*(and|now|same|also|but|then|what about|how about|only|just|instead|as an?|ok|okay|again)\b"
    r"|^\s*(for|by|in|per|without|with|excluding|except)\b"
    r"|^\s*(那|再|同样|只看)",
    re.IGNORECASE,
)
_STARTS_ANEW = ("overview", "missing", "duplicates", "report", "clean", "convert", "join", "help")


def follows_up(reading: Reading, intent: str) -> bool:
    """Whether the question only makes sense with the one before it."""
    words = len(reading.words)
    if _FOLLOW.match(reading.question):
        return words <= 12 and intent not in _STARTS_ANEW
    complete = reading.aggregate or reading.share or reading.over_time or reading.ranked or reading.group_mentions
    return words <= 3 and intent in ("unknown", "aggregate") and not complete


def continue_plan(previous: Plan, reading: Reading, table: TableProfile) -> Plan:
    """The previous plan with what the follow-up changes. Raises `NoPlanError`."""
    if previous.stacked:
        previous = replace(previous, measures=previous.stacked, groups=previous.groups[:-1], stacked=())
    plan = replace(previous, question=reading.question, choices=tuple(c for c in previous.choices if "×" in c))
    if reading.unmatched_group and not reading.mentions and not reading.period:
        raise NoPlanError(f"No column of {table.name} reads like “{reading.unmatched_group}”.")
    kept = [c for c in plan.conditions if not any(n.column == c.column for n in reading.conditions)]
    plan = replace(plan, conditions=(*kept, *reading.conditions))
    if reading.conditions and not (reading.group_mentions or reading.period):
        # `only for Berlin`: grouping by a column that now has one value says nothing.
        fixed = {c.column for c in reading.conditions if c.operator == "=="}
        plan = replace(plan, groups=tuple(group for group in plan.groups if group not in fixed))
    measures = [column for column in measures_in(reading) if column.role == "measure"]
    if measures:
        plan = replace(plan, measures=names_of(measures[: max(1, len(plan.measures))]), product=None)
        if plan.intent == "aggregate" and plan.aggregate == "count":
            plan = replace(plan, aggregate=natural_aggregate(measures[0]))
    if reading.aggregate and (plan.measures or reading.aggregate == "count"):
        plan = replace(plan, aggregate=reading.aggregate)
    if reading.period or reading.over_time or any(mention.column.is_time for mention in reading.group_mentions):
        groups = [mention.column for mention in reading.group_mentions]
        time, period, groups, _, _ = time_axis(reading, table, groups, [], reading.period)
        plan = replace(
            plan,
            time=time,
            period=period,
            groups=names_of(groups) if groups or time is None else (),
            limit=None,
            ranked=False,
        )
    elif reading.group_mentions:
        groups = [mention.column for mention in reading.group_mentions if mention.column.name not in plan.measures]
        keeps = reading.has(r"\b(also|as well|too|additionally|split|broken down)\b") and plan.groups
        plan = replace(
            plan,
            groups=names_of(groups) if not keeps else tuple(dict.fromkeys((*plan.groups, *names_of(groups))))[:2],
            time=plan.time if keeps else None,
            period=plan.period if keeps else None,
        )
    elif (
        not measures
        and not reading.conditions
        and (labels := [m.column for m in reading.mentions if m.column.can_group])
    ):
        plan = replace(plan, groups=names_of(labels[:1]), time=None, period=None)
    if reading.chart:
        plan = replace(plan, chart=reading.chart)
    if reading.limit or reading.ranked:
        plan = replace(plan, limit=reading.limit or plan.limit, ascending=reading.ascending, ranked=True)
    if reading.share:
        plan = replace(plan, share=plan.intent == "aggregate")
    grouped = plan.groups != previous.groups or plan.time != previous.time
    if plan.intent in (*_STARTS_ANEW, "unknown") or (grouped and plan.intent in ("rows", "correlation", "regression")):
        raise NoPlanError("")
    if plan == replace(previous, question=reading.question, choices=plan.choices):
        raise NoPlanError("")
    stackable = plan.intent == "aggregate" and len(plan.measures) > 1
    return stack(plan) if stackable else plan
