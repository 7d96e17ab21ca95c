"""One module an intent: `headline` says in a line what is computed, `write` makes the pandas program, `tell` words its results."""

from types import ModuleType

from app.agent.offline.intents import aggregate

INTENTS: dict[str, ModuleType] = {"aggregate": aggregate}
