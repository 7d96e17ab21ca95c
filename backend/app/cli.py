"""`analyst`: the product from a shell. Answers go to stdout, progress to stderr, failures to stderr with exit code 1.

Signs in with ANALYST_TOKEN (an API key), else with ANALYST_EMAIL and ANALYST_PASSWORD, else with what `analyst login`
has kept. ANALYST_URL says where the product is.
"""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer

from app.clients.public_api import ApiError, PublicApi, StreamedEvent

app = typer.Typer(help="Ask questions about data files.", no_args_is_help=True, add_completion=False)

DEFAULT_URL = "http://localhost:8080"
EXIT_FAILED = 1
_PREVIEW_CHARS = 100


def _credentials_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "analyst" / "credentials.json"


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _base_url() -> str:
    return os.environ.get("ANALYST_URL") or DEFAULT_URL


def _connect() -> PublicApi:
    """A client that is signed in, or `ApiError` with the ways to sign in."""
    url = _base_url()
    token = os.environ.get("ANALYST_TOKEN")
    email, password = os.environ.get("ANALYST_EMAIL"), os.environ.get("ANALYST_PASSWORD")
    if token:
        return PublicApi(url, token)
    if email and password:
        api = PublicApi(url)
        api.sign_in(email, password)
        return api
    kept = _kept_keys().get(url)
    if kept:
        return PublicApi(url, kept)
    raise ApiError("not signed in: set ANALYST_TOKEN, or ANALYST_EMAIL and ANALYST_PASSWORD, or run `analyst login`")


def _kept_keys() -> dict[str, str]:
    try:
        kept: dict[str, str] = json.loads(_credentials_file().read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ApiError(f"{_credentials_file()} is damaged; run `analyst login` again") from error
    return kept


def _keep_key(url: str, key: str) -> Path:
    path = _credentials_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({**_kept_keys(), url: key})
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(content)
    return path


@dataclass(slots=True)
class _Followed:
    """What the stream has shown of a run."""

    run: dict[str, Any] = field(default_factory=dict)
    tool_arguments: dict[str, str] = field(default_factory=dict)
    announced: set[str] = field(default_factory=set)

    def take(self, event: StreamedEvent) -> None:
        if event.name == "run":
            self.run = json.loads(event.data)["run"]
        elif event.name == "artifact":
            file = json.loads(event.data)["file"]
            _say(f"  made {file['filename']} ({file['size']:,} bytes)")
        elif event.name == "updates":
            self._announce_tools(json.loads(event.data))

    def _announce_tools(self, update: Any) -> None:
        messages = (update.get("model") or {}).get("messages") if isinstance(update, dict) else None
        for message in messages if isinstance(messages, list) else []:
            for call in message.get("tool_calls") or []:
                if call["id"] not in self.announced:
                    self.announced.add(call["id"])
                    _say(f"  {_described(call['name'], call['args'])}")


def _described(name: str, args: dict[str, Any]) -> str:
    subject = str(args.get("command") or args.get("file_path") or args.get("path") or args.get("pattern") or "")
    line = " ".join(subject.split())
    return f"{name} {line[:_PREVIEW_CHARS]}{'…' if len(line) > _PREVIEW_CHARS else ''}".rstrip()


@app.command()
def login(
    email: Annotated[str, typer.Option(prompt=True)],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True)],
) -> None:
    """Sign in once; an API key is kept in your configuration folder, readable by you alone."""
    with PublicApi(_base_url()) as api:
        api.sign_in(email, password)
        path = _keep_key(_base_url(), api.create_api_key("analyst command line"))
    _say(f"signed in to {_base_url()}; the key is kept in {path}")


@app.command()
def ask(
    question: str,
    file: Annotated[list[Path] | None, typer.Option(help="A file to upload; may be given more than once.")] = None,
    thread: Annotated[str | None, typer.Option(help="Go on in this conversation.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to put what the run makes; default out/THREAD.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the answer.")] = False,
) -> None:
    """Upload files, ask, and get the answer with what was made for it."""
    paths = file or []
    for path in paths:
        if not path.is_file():
            raise ApiError(f"{path}: there is no such file")
    with _connect() as api:
        thread_id = thread or str(api.create_thread()["id"])
        uploaded = [_upload(api, thread_id, path) for path in paths]
        followed = _Followed()
        try:
            for event in api.ask(thread_id, question, [item["id"] for item in uploaded], str(uuid4())):
                followed.take(event)
        except KeyboardInterrupt:
            if followed.run:
                api.cancel_run(thread_id, followed.run["id"])
            _say("stopped")
            raise
        run = followed.run
        answer = _answer(api.list_messages(thread_id), run["id"])
        artifacts = _save_artifacts(api, thread_id, run["id"], out or Path("out") / thread_id)
    if as_json:
        result = {
            "thread_id": thread_id,
            "run_id": run["id"],
            "answer": answer,
            "artifacts": artifacts,
            "status": run["status"],
        }
        if run["error"]:
            result["error"] = run["error"]
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        typer.echo(answer)
        for artifact in artifacts:
            _say(f"saved {artifact['path']}")
    if run["status"] != "succeeded":
        message = (run["error"] or {}).get("message") or f"the run ended as {run['status']}"
        raise ApiError(message)


def _upload(api: PublicApi, thread_id: str, path: Path) -> dict[str, Any]:
    def progress(sent: int, total: int) -> None:
        if total > 16 * 1024 * 1024:
            sys.stderr.write(f"\r  uploading {path.name} {100 * sent // total} %")

    uploaded = api.upload(thread_id, path, progress)
    _say(f"\r  uploaded {path.name} ({uploaded['size']:,} bytes) as {uploaded['guest_path']}")
    return uploaded


def _answer(messages: list[dict[str, Any]], run_id: str) -> str:
    """The last words of the run that are not tool calls."""
    said = [
        message["content"]
        for message in messages
        if message["run_id"] == run_id and message["type"] == "ai" and message["content"] and not message["tool_calls"]
    ]
    return str(said[-1]) if said else ""


def _save_artifacts(api: PublicApi, thread_id: str, run_id: str, folder: Path) -> list[dict[str, Any]]:
    saved = []
    newest: dict[str, dict[str, Any]] = {}
    for item in api.list_files(thread_id):
        held = newest.get(item["guest_path"])
        if item["source_run_id"] == run_id and (held is None or item["version"] > held["version"]):
            newest[item["guest_path"]] = item
    for item in sorted(newest.values(), key=lambda entry: str(entry["guest_path"])):
        # The guest path below /artifacts keeps two files of one name in different folders apart.
        relative = Path(*[part for part in Path(item["guest_path"]).parts[2:] if part not in {"..", "."}])
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        api.download(item, target)
        saved.append(
            {
                "name": item["filename"],
                "path": str(target),
                "size": item["size"],
                "sha256": item["sha256"],
                "content_type": item["content_type"],
            }
        )
    return saved


@app.command()
def threads(query: str | None = None, limit: int = 20) -> None:
    """List your conversations, newest first."""
    with _connect() as api:
        for item in api.list_threads(query, limit):
            typer.echo(f"{item['id']}  {item['updated_at'][:16]}  {item['title']}")


@app.command()
def files(thread: str) -> None:
    """List a conversation's files, newest first."""
    with _connect() as api:
        for item in api.list_files(thread):
            typer.echo(f"{item['id']}  {item['kind']:8}  v{item['version']}  {item['size']:>12,}  {item['filename']}")


@app.command()
def download(thread: str, file_id: str, out: Annotated[Path | None, typer.Option(help="Target file.")] = None) -> None:
    """Fetch one file of a conversation."""
    with _connect() as api:
        found = [item for item in api.list_files(thread) if item["id"] == file_id]
        if not found:
            raise ApiError("there is no such file in this conversation")
        target = out or Path(found[0]["filename"])
        api.download(found[0], target)
        typer.echo(str(target))


def main() -> None:
    try:
        app(standalone_mode=True)
    except ApiError as error:
        _say(f"analyst: {error}")
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
