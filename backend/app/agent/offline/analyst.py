"""Decide the next step of a turn from the conversation alone: look at files, run a program, or answer."""

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from langchain_core.messages import BaseMessage

from app.agent.offline.answer import DISCLOSURE, Answer, cell, code
from app.agent.offline.conversation import FileEntry, Step, Turn, read_conversation
from app.agent.offline.follow_up import continue_plan, follows_up
from app.agent.offline.intent_words import intent_of
from app.agent.offline.intents import INTENTS
from app.agent.offline.plan import NoPlanError, Plan
from app.agent.offline.planning import plan_for
from app.agent.offline.profile import TableProfile, read_profiles
from app.agent.offline.question import read_question
from app.agent.offline.reading import Reading
from app.agent.offline.sandbox_programs import (
    FOLDER,
    MODULES,
    error_line,
    inspection_command,
    is_analysis,
    is_inspection,
    module_source,
    read_results,
)
from app.agent.offline.script import Caution, slug
from app.agent.offline.suggestions import next_questions
from app.agent.offline.words import plain

MOST_FILES = 6
REMEMBERED_TURNS = 15
ANALYSIS_SECONDS = 300
_PICTURES_AND_TEXTS = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".pdf",
    ".html",
    ".md",
    ".docx",
    ".pptx",
    ".vl.json",
    ".py",
    ".zip",
)
ABILITIES = (
    "I can say what is in a file, total, average or count by group, rank, chart trends, show distributions, "
    "correlations and regressions, compare groups or periods, find missing values and duplicates, filter, sort, clean, "
    "pivot, join and convert files, and write an HTML report."
)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Move:
    """What to do now: say `text`, and call tools; without calls the turn is over."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Outlook:
    """What a question comes to: a plan, or why there is none; and the table it was read against."""

    plan: Plan | None
    reading: Reading | None = None
    table: TableProfile | None = None
    refusal: str = ""


@dataclass
class _Knowledge:
    """Profiles by path with the size that the file had, from all inspections so far."""

    profiles: dict[str, tuple[int, TableProfile]] = field(default_factory=dict)

    def of(self, file: FileEntry) -> TableProfile | None:
        size, profile = self.profiles.get(file.path, (-1, None))
        return profile if size == file.size else None


def next_move(messages: list[BaseMessage]) -> Move:
    """The next step of the current turn."""
    turns = read_conversation(messages)
    if not turns:
        return Move("Ask me something about a file.")
    turn, earlier = turns[-1], turns[:-1]
    knowledge = _Knowledge()
    for each in turns:
        _learn(knowledge, each)
    previous = _replay(earlier[-REMEMBERED_TURNS:], knowledge)
    first = not any(step.tool == "execute" for each in earlier for step in each.steps)
    if not turn.files:
        return Move(_no_file(turn.question, first))
    wanted = _wanted_files(turn, previous)
    unknown = [file for file in wanted if knowledge.of(file) is None]
    inspections = [step for step in turn.steps if step.tool == "execute" and is_inspection(step.command)]
    if unknown and not inspections:
        return _inspect(turns, unknown)
    if unknown and len(unknown) == len(wanted):
        return Move(_cannot_inspect(inspections[-1], unknown))
    tables = [profile for file in wanted if (profile := knowledge.of(file)) is not None]
    outlook = _look_out(turn.question, tables, previous)
    if outlook.plan is None:
        return Move(_refuse(outlook, tables, first))
    return _work(outlook.plan, turns, first)


def _learn(knowledge: _Knowledge, turn: Turn) -> None:
    sizes = {file.path: file.size for file in turn.files}
    for step in turn.steps:
        if step.tool == "execute" and is_inspection(step.command):
            for profile in read_profiles(step.output):
                knowledge.profiles[profile.path] = (sizes.get(profile.path, -1), profile)


def _replay(turns: list[Turn], knowledge: _Knowledge) -> Plan | None:
    """The plan that the conversation has come to: follow-ups change it."""
    plan: Plan | None = None
    for turn in turns:
        tables = [profile for file in _wanted_files(turn, plan) if (profile := knowledge.of(file)) is not None]
        if tables:
            plan = _look_out(turn.question, tables, plan).plan or plan
    return plan


# --- Files ------------------------------------------------------------------------------------------------------------


def _wanted_files(turn: Turn, previous: Plan | None) -> list[FileEntry]:
    """The files that the question may be about: those named or attached, else all uploads."""
    question = plain(turn.question)
    named = [file for file in turn.files if plain(PurePosixPath(file.path).name) in question]
    attached = [file for file in turn.files if file.attached]
    chosen = [*attached, *(file for file in named if file not in attached)]
    uploads = [file for file in turn.files if file.kind == "upload"]
    if not chosen or (
        len(chosen) == 1 and re.search(r"\b(join|merge|combine|both files|two files|all files)\b", question)
    ):
        chosen += [file for file in uploads if file not in chosen]
    chosen = chosen or list(turn.files)
    tables = [file for file in chosen if not file.path.lower().endswith(_PICTURES_AND_TEXTS)] or chosen
    if previous is not None and not attached:
        tables.sort(key=lambda file: file.path != previous.table.path)
    return tables[:MOST_FILES]


def _inspect(turns: list[Turn], files: list[FileEntry]) -> Move:
    written = {
        str(step.arguments.get("file_path")): step.arguments.get("content")
        for turn in turns for step in turn.steps if step.tool == "write_file" and not step.failed
    }  # fmt: skip
    missing = [name for name in MODULES if written.get(f"{FOLDER}/{name}") != module_source(name)]
    attempted = {str(step.arguments.get("file_path")) for step in turns[-1].steps if step.tool == "write_file"}
    missing = [name for name in missing if f"{FOLDER}/{name}" not in attempted]
    if missing:
        names = " and ".join(cell(PurePosixPath(file.path).name) for file in files[:3])
        return Move(
            f"I will look at {names} first.", tuple(_write(f"{FOLDER}/{name}", module_source(name)) for name in missing)
        )
    return Move(
        "",
        (Call("execute", {"command": inspection_command([file.path for file in files]), "timeout": ANALYSIS_SECONDS}),),
    )


def _write(path: str, content: str) -> Call:
    return Call("write_file", {"file_path": path, "content": content})


def _cannot_inspect(step: Step, files: list[FileEntry]) -> str:
    names = ", ".join(code(PurePosixPath(file.path).name) for file in files)
    reason = error_line(step.output)
    if step.exit_code in (124, 137):
        reason = "the sandbox's limits of time or memory were reached"
    return f"I could not look at {names}: {cell(reason)}. The file itself is unchanged."


# --- Reading ----------------------------------------------------------------------------------------------------------


def _look_out(question: str, tables: list[TableProfile], previous: Plan | None) -> Outlook:
    readable = [table for table in tables if table.error is None and table.columns]
    if not readable:
        table = tables[0]
        return Outlook(
            None, table=table, refusal=f"I could not read {code(table.name)}: {table.error or 'it has no columns'}"
        )
    readings = [(read_question(_without_file_names(question, tables), table), table) for table in readable]

    def fit(pair: tuple[Reading, TableProfile]) -> float:
        reading, table = pair
        named = 500.0 if plain(table.name) in plain(question) else 0.0
        kept = 60.0 if previous is not None and previous.table.path == table.path else 0.0
        return reading.score + named + kept - readable.index(table) * 0.1

    reading, table = max(readings, key=fit)
    intent = intent_of(reading)
    if previous is not None and previous.table.path == table.path and follows_up(reading, intent):
        try:
            return Outlook(continue_plan(previous, reading, table), reading, table)
        except NoPlanError as error:
            if str(error):
                return Outlook(None, reading, table, str(error))
    try:
        plan = plan_for(reading, table, readable)
    except NoPlanError as error:
        return Outlook(None, reading, table, str(error))
    if plan.intent in ("unknown", "help"):
        return Outlook(None, reading, table, "" if plan.intent == "help" else "I could not read that question.")
    if len(readable) > 1 and plan.intent != "join":
        plan = replace(
            plan, choices=(*plan.choices, f"Of the {len(readable)} files, {table.name} fits the question best.")
        )
    return Outlook(plan, reading, table)


def _without_file_names(question: str, tables: list[TableProfile]) -> str:
    for table in tables:
        question = re.sub(re.escape(table.name), " ", question, flags=re.IGNORECASE)
    return question.strip() or question


# --- Working ----------------------------------------------------------------------------------------------------------


def _work(plan: Plan, turns: list[Turn], first: bool) -> Move:
    intent = INTENTS[plan.intent]
    turn = turns[-1]
    runs = [step for step in turn.steps if step.tool == "execute" and is_analysis(step.command)]
    written = [
        step
        for step in turn.steps
        if step.tool == "write_file" and is_analysis(str(step.arguments.get("file_path", "")))
    ]
    if runs and (results := read_results(runs[-1].output)) is not None and not runs[-1].failed:
        answer = intent.tell(plan, results)
        if len(runs) > 1:
            caution = _caution(runs[0], plan)
            answer.assumptions.append(
                f"The first attempt failed ({cell(error_line(runs[0].output))}); the second one {caution.reason}."
            )
        answer.next_questions = next_questions(plan.table, plan)
        answer.disclosed = first
        return Move(answer.markdown)
    if len(runs) >= 2:
        return Move(_give_up(runs, plan))
    if runs and runs[-1].exit_code is None and "did not answer" in runs[-1].output:
        return Move(f"The sandbox did not answer, so I have no numbers: {cell(error_line(runs[-1].output))}")
    if len(written) > len(runs):
        return Move(
            "",
            (
                Call(
                    "execute", {"command": f"python {written[-1].arguments['file_path']}", "timeout": ANALYSIS_SECONDS}
                ),
            ),
        )
    number = 1 + sum(
        step.tool == "write_file" and is_analysis(str(step.arguments.get("file_path", "")))
        for each in turns
        for step in each.steps
    )
    caution = _caution(runs[0], plan) if runs else Caution()
    script = intent.write(plan, caution)
    kind = plan.intent if plan.intent != "aggregate" else ""
    name = f"{number:02d}_{slug(kind, *plan.measures[:1], *plan.groups[:1], plan.period or '')[:40]}"
    path = f"{FOLDER}/{name}{'_second_attempt' if runs else ''}.py"
    text = (
        f"That failed: {cell(error_line(runs[0].output))}. Once more, differently: the program now {caution.reason}."
        if runs
        else f"I read this as: {cell(script.title.rstrip('.'))}."
    )
    calls = [_write(path, script.source)]
    if runs and "No module named" in runs[0].output:
        calls = [_write(f"{FOLDER}/{module}", module_source(module)) for module in MODULES] + calls
    return Move(text, tuple(calls))


def _caution(run: Step, plan: Plan) -> Caution:
    """What to do differently, by what went wrong."""
    output = run.output
    if run.exit_code in (124, 137) or "MemoryError" in output:
        return Caution("looks at the first 200,000 rows only", first_rows=200_000)
    if re.search(r"analyst_charts|analyst_style|altair|vl_convert|vega", output):
        return Caution("leaves the chart out", no_chart=True)
    if re.search(r"ParserError|UnicodeDecodeError|loading\.py.*\n.*\n\w*Error", output):
        return Caution("reads the file line by line and takes quotation marks as they are", lenient=True, coerce=True)
    return Caution(
        "turns the columns into plain numbers, dates and texts first and draws no chart", coerce=True, no_chart=True
    )


def _give_up(runs: list[Step], plan: Plan) -> str:
    return (
        f"I could not compute this. Both programs failed; the last one with: {cell(error_line(runs[-1].output))}\n\n"
        f"What I tried: {cell(INTENTS[plan.intent].headline(plan))}, from {code(plan.table.name)}. "
        "Your files are unchanged.\n\n"
        "**You could ask instead**\n" + "\n".join(f"- {line}" for line in next_questions(plan.table, plan))
    )


# --- Refusing ---------------------------------------------------------------------------------------------------------


def _no_file(question: str, first: bool) -> str:
    text = "There is no file in this conversation yet. Add one (CSV, TSV, Excel, JSON or Parquet) and ask again."
    return f"{text}\n\n{ABILITIES}" + (f"\n\n{DISCLOSURE}" if first else "")


def _refuse(outlook: Outlook, tables: list[TableProfile], first: bool) -> str:
    table = outlook.table
    if table is None or table.error is not None or not table.columns:
        return f"{outlook.refusal} It is unchanged; add another version of it, or another file."
    answer = Answer(outlook.refusal or "Hello.", next_questions=next_questions(table), disclosed=True)
    shown = ", ".join(code(column.name) for column in table.columns[:20]) + (
        f" and {table.width - 20:,} more" if table.width > 20 else ""
    )
    answer.details.append(f"{code(table.name)} has {table.rows:,} rows and these columns: {shown}")
    answer.details.append(ABILITIES)
    broken = [each for each in tables if each.error]
    answer.details += [f"{code(each.name)} could not be read: {each.error}" for each in broken]
    return answer.markdown
