"""How questions are read against a table's columns: pure, from profiles alone."""

import json
from typing import Any

import pytest
from app.agent.offline.analyst import next_move
from app.agent.offline.conversation import read_conversation
from app.agent.offline.follow_up import continue_plan, follows_up
from app.agent.offline.intent_words import intent_of
from app.agent.offline.model import OfflineAnalyst
from app.agent.offline.plan import NoPlanError, Plan
from app.agent.offline.planning import plan_for
from app.agent.offline.profile import Column, TableProfile
from app.agent.offline.question import read_question
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage


def column(name: str, role: str, distinct: int = 100, values: tuple[str, ...] = (), **more: Any) -> Column:
    return Column.model_validate({"name": name, "role": role, "distinct": distinct, "values": values, **more})


PASSENGERS = TableProfile(
    path="/uploads/passengers.csv",
    rows=891,
    width=8,
    columns=(
        column("PassengerId", "identifier", 891, low=1.0),
        column("Survived", "flag", 2, ("0", "1"), low=0.0, high=1.0),
        column("Pclass", "measure", 3, ("1", "2", "3"), low=1.0, high=3.0),
        column("Sex", "category", 2, ("male", "female")),
        column("Age", "measure", 88, low=0.4, high=80.0),
        column("Fare", "measure", 248, low=0.0, high=512.0),
        column("Embarked", "category", 3, ("S", "C", "Q")),
        column("Ticket", "text", 681),
    ),
)
WORLD = TableProfile(
    path="/uploads/world.csv",
    rows=1704,
    width=6,
    columns=(
        column("year", "year", 12, low=1952.0, high=2007.0),
        column("pop", "measure", 1704),
        column("lifeexp", "measure", 1600),
        column("gdppercap", "measure", 1704),
        column("country", "category", 142, ("china", "germany", "norway")),
        column("continent", "category", 5, ("asia", "europe", "africa")),
    ),
)
SALES = TableProfile(
    path="/uploads/sales.csv",
    rows=1000,
    width=5,
    columns=(
        column("order_date", "date", 365, low="2023-01-01 00:00:00", high="2023-12-31 00:00:00"),
        column("Region", "category", 4, ("North", "South", "New York", "East")),
        column("netRevenue ($)", "measure", 900, low=1.0, high=900.0),
        column("Average Price", "measure", 300),
        column("returned", "boolean", 2, ("no", "yes")),
    ),
)
VOTES = TableProfile(
    path="/uploads/votes.csv",
    rows=3141,
    width=9,
    columns=(
        column("votes_dem", "measure", 2900),
        column("total_votes", "measure", 3000),
        column("state_abbr", "category", 51, ("CA", "TX")),
        column("deaths_max", "measure", 300),
        column("deaths_median", "measure", 300),
        column("year", "year", 8, low=2010.0, high=2017.0),
        column("No. of cases", "text", 300),
        column("No. of cases_max", "measure", 300),
        column("No. of cases_median", "measure", 300),
    ),
)


def planned(question: str, table: TableProfile) -> Plan:
    return plan_for(read_question(question, table), table, [table])


def conditions(plan: Plan) -> list[str]:
    return [each.in_words for each in plan.conditions]


@pytest.mark.parametrize(
    ("question", "table", "measures", "groups", "aggregate"),
    [
        ("average fare by class and sex", PASSENGERS, ("Fare",), ("Pclass", "Sex"), "mean"),
        ("survival rate by sex", PASSENGERS, ("Survived",), ("Sex",), "mean"),
        ("how many passengers in each class", PASSENGERS, (), ("Pclass",), "count"),
        ("how many unique tickets", PASSENGERS, ("Ticket",), (), "distinct"),
        ("most common port of embarkation", PASSENGERS, (), ("Embarked",), "count"),
        ("which country has the highest population", WORLD, ("pop",), ("country",), "sum"),
        ("number of countries per continent", WORLD, ("country",), ("continent",), "distinct"),
        ("total sales by region", SALES, ("netRevenue ($)",), ("Region",), "sum"),
        ("average price by region", SALES, ("Average Price",), ("Region",), "mean"),
        ("total votes_dem by state_abbr", VOTES, ("votes_dem",), ("state_abbr",), "sum"),
        ("total deaths by state_abbr", VOTES, ("deaths_median",), ("state_abbr",), "sum"),
        ("total No. of cases by state_abbr", VOTES, ("No. of cases_median",), ("state_abbr",), "sum"),
        ("highest fare by sex", PASSENGERS, ("Fare",), ("Sex",), "max"),
        ("lowest fare for each class", PASSENGERS, ("Fare",), ("Pclass",), "min"),
        ("turnover per regions", SALES, ("netRevenue ($)",), ("Region",), "sum"),
    ],
)
def test_measures_groups_and_aggregates_are_found(
    question: str, table: TableProfile, measures: tuple[str, ...], groups: tuple[str, ...], aggregate: str
) -> None:
    plan = planned(question, table)
    assert (plan.intent, plan.measures, plan.groups, plan.aggregate) == ("aggregate", measures, groups, aggregate)


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("how many passengers older than 30 in Pclass 3", PASSENGERS, ["Age is above 30", "Pclass is 3"]),
        ("how many women survived", PASSENGERS, ["Sex is female", "Survived is 1"]),
        ("average fare of passengers who did not survive", PASSENGERS, ["Survived is 0"]),
        ("average age where fare is between 10 and 20", PASSENGERS, ["Fare is between 10 and 20"]),
        ("average gdp per capita in 2007 for Asia", WORLD, ["continent is asia", "year is 2007"]),
        ("total population since 1980", WORLD, ["year is at least 1980"]),
        ("revenue in March 2023", SALES, ["order_date is from 2023-03-01 to before 2023-04-01"]),
        ("revenue in Q2 2023", SALES, ["order_date is from 2023-04-01 to before 2023-07-01"]),
        ("total revenue for New York above $1.5k", SALES, ["Region is New York", "netRevenue ($) is above 1500"]),
        ("total revenue for North and South", SALES, ["Region is North or South"]),
        ("how many rows have fare above 7.5e1", PASSENGERS, ["Fare is above 75"]),
    ],
)
def test_conditions_are_found(question: str, table: TableProfile, expected: list[str]) -> None:
    assert conditions(planned(question, table)) == expected


@pytest.mark.parametrize(
    ("question", "table", "time", "period"),
    [
        ("chart revenue by month", SALES, "order_date", "month"),
        ("weekly revenue", SALES, "order_date", "week"),
        ("revenue trend", SALES, "order_date", "week"),
        ("which quarter had the highest revenue", SALES, "order_date", "quarter"),
        ("life expectancy over time by continent", WORLD, "year", None),
    ],
)
def test_time_and_period_are_found(question: str, table: TableProfile, time: str, period: str | None) -> None:
    plan = planned(question, table)
    assert (plan.time, plan.period) == (time, period)


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("what is in this file?", "overview"),
        ("which columns have missing values", "missing"),
        ("are there duplicate rows", "duplicates"),
        ("distribution of age", "distribution"),
        ("correlation of age and fare", "correlation"),
        ("age vs fare", "scatter"),
        ("predict fare from age", "regression"),
        ("compare fare of male and female", "compare"),
        ("filter rows where age above 60", "rows"),
        ("sort by fare descending", "rows"),
        ("pivot of fare by sex and class", "pivot"),
        ("convert to parquet", "convert"),
        ("remove duplicates", "clean"),
        ("make an html report", "report"),
        ("write me a poem about the sea", "unknown"),
    ],
)
def test_the_intent_follows_from_the_words(question: str, intent: str) -> None:
    assert intent_of(read_question(question, PASSENGERS)) == intent


@pytest.mark.parametrize(
    ("follow_up", "changed"),
    [
        ("and by month?", {"time": "order_date", "period": "month", "groups": ()}),
        ("now only for North", {"groups": ()}),
        ("same for average price", {"measures": ("Average Price",)}),
        ("as a bar chart", {"chart": "bar"}),
        ("top 3", {"limit": 3}),
    ],
)
def test_a_follow_up_changes_what_it_names_and_keeps_the_rest(follow_up: str, changed: dict[str, Any]) -> None:
    before = planned("total revenue by region", SALES)
    reading = read_question(follow_up, SALES)
    after = continue_plan(before, reading, SALES)
    for name, value in changed.items():
        assert getattr(after, name) == value
    kept = {"measures", "aggregate"} - set(changed)
    assert all(getattr(after, name) == getattr(before, name) for name in kept)


@pytest.mark.parametrize("question", ["average fare by sex", "what percentage of passengers survived", "highest fare"])
def test_a_whole_question_is_no_follow_up(question: str) -> None:
    reading = read_question(question, PASSENGERS)
    assert not follows_up(reading, intent_of(reading))


@pytest.mark.parametrize(
    ("question", "table", "why"),
    [
        ("average fare by planet", PASSENGERS, "planet"),
        ("fare by month", PASSENGERS, "no column of dates"),
        ("join the files", PASSENGERS, "two files"),
    ],
)
def test_what_the_data_cannot_answer_is_refused_with_the_reason(question: str, table: TableProfile, why: str) -> None:
    with pytest.raises(NoPlanError, match=why):
        planned(question, table)


TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("write_file", "execute")]


class TestModel:
    def test_streaming_gives_the_same_calls_as_one_answer(self) -> None:
        listing = json.dumps(
            {"path": "/uploads/a.csv", "size": 3, "content_type": "text/csv", "attached": True, "kind": "upload"}
        )
        content: list[str | dict[Any, Any]] = [
            {"type": "text", "text": "total x"},
            {"type": "text", "text": f"<files>\n{listing}\n</files>"},
        ]
        model = OfflineAnalyst().bind_tools(TOOLS)
        whole = model.invoke([HumanMessage(content=content)])
        chunks = list(model.stream([HumanMessage(content=content)]))
        total = chunks[0]
        for chunk in chunks[1:]:
            total += chunk  # type: ignore[assignment]
        assert [(call["name"], call["args"]) for call in total.tool_calls] == [
            (call["name"], call["args"]) for call in whole.tool_calls
        ]
        assert total.usage_metadata is not None
        assert len(chunks) > 10

    def test_the_files_block_is_not_part_of_the_question(self) -> None:
        turns = read_conversation([HumanMessage(content="how many rows?\n<files>\n{}\n</files>")])
        assert (turns[0].question, turns[0].files) == ("how many rows?", ())

    def test_a_refused_tool_call_ends_the_turn_with_what_happened(self) -> None:
        listing = json.dumps({"path": "/uploads/a.csv", "size": 3, "attached": True, "kind": "upload"})
        question = HumanMessage(
            content=[{"type": "text", "text": "total x"}, {"type": "text", "text": f"<files>\n{listing}\n</files>"}]
        )
        messages: list[Any] = [question]
        for _ in range(2):
            move = next_move(messages)
            calls = [
                {"name": call.tool, "args": call.arguments, "id": f"{len(messages)}-{n}", "type": "tool_call"}
                for n, call in enumerate(move.calls)
            ]
            messages.append(AIMessage(content=move.text, tool_calls=calls))
            messages += [
                ToolMessage("Not allowed by the person.", tool_call_id=call["id"], status="error") for call in calls
            ]
        final = next_move(messages)
        assert final.calls == ()
        assert "Not allowed by the person" in final.text
