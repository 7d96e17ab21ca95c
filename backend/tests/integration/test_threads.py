"""Threads: listed by activity, paged, searched, renamed, and deleted with everything that is theirs."""

import httpx
import pytest
from product_client import Person
from sqlalchemy import create_engine, text
from stack.testing import EmbeddedStack


class TestList:
    def test_pages_hold_every_thread_once_newest_first(self, person: Person) -> None:
        made = [person.thread() for _ in range(7)]
        seen: list[str] = []
        cursor = None
        while True:
            page = person.http.get("/threads", params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
            seen += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert seen == list(reversed(made))

    def test_a_search_looks_into_the_titles_and_takes_wildcards_as_letters(self, person: Person) -> None:
        thread = person.thread()
        person.http.patch(f"/threads/{thread}", json={"title": "100% of sales"})
        person.thread()
        found = person.http.get("/threads", params={"query": "0% OF"}).json()["items"]
        assert [item["id"] for item in found] == [thread]
        assert person.http.get("/threads", params={"query": "1%s"}).json()["items"] == []

    @pytest.mark.parametrize("cursor", ["x", "bm90IGEgY3Vyc29y", "😀"])
    def test_a_cursor_that_is_none_is_refused(self, person: Person, cursor: str) -> None:
        assert person.http.get("/threads", params={"cursor": cursor}).status_code == 422


class TestCreate:
    def test_the_same_key_gives_the_same_thread(self, person: Person) -> None:
        headers = {"Idempotency-Key": "create-once"}
        ids = {person.http.post("/threads", json={}, headers=headers).json()["id"] for _ in range(3)}
        assert len(ids) == 1

    def test_the_first_question_becomes_the_title(self, person: Person) -> None:
        thread = person.thread()
        person.ask(thread, "how many rows are there?")
        assert person.http.get(f"/threads/{thread}").json()["title"] == "how many rows are there?"


class TestDelete:
    def test_nothing_of_it_is_left_anywhere(self, product: EmbeddedStack, person: Person) -> None:
        thread = person.thread()
        file = person.upload(thread, "a.csv", b"a,b\n1,2\n")
        person.ask(thread, "what is in this file?")
        link = person.http.post("/files/presign-download", json={"thread_id": thread, "file_id": file["id"]}).json()
        assert person.http.delete(f"/threads/{thread}").status_code == 204
        assert person.http.get(f"/threads/{thread}").status_code == 404
        assert httpx.get(link["url"]).status_code == 404
        engine = create_engine(product.env_of("backend")["APP_DATABASE_URL"].replace("://", "+psycopg://"))
        with engine.connect() as connection:
            for table in ("threads", "thread_files", "agent_runs", "thread_sandbox_sessions", "upload_intents"):
                column = "id" if table == "threads" else "thread_id"
                count = connection.execute(text(f"SELECT count(*) FROM {table} WHERE {column} = :t"), {"t": thread})  # noqa: S608
                assert count.scalar() == 0, table
        engine.dispose()
