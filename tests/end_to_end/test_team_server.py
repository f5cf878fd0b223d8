"""A team's server as `deploy/` describes it: PostgreSQL below, passwords in front, two people who sweep at once."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from command import corpus, glyphrank
from postgres import ADMIN_PASSWORD, DATABASE_PASSWORD, compose, database, filled, surroundings, team_server

PEOPLE = {"mina": "mina-word-8Rt3vB", "jun": "jun-word-5Hs6nC"}
SECRETS = (ADMIN_PASSWORD, DATABASE_PASSWORD, *PEOPLE.values())
PARALLEL = ("hydra/launcher=local_parallel", "hydra.launcher.n_jobs=2")
SWEPT = ("encoder@lexical=bm25_words,bm25_ngrams", "lexical.k1=0.9,1.5")
DATA = ("dataset=folder", "dataset.root=data", "tracking=server", "tracking.experiment=team")
SWEEP = ("run", "-m", *PARALLEL, *DATA, *SWEPT)
CELLS = 4


@dataclass(frozen=True)
class Team:
    """The server, and the folder of each person with what a sweep said there."""

    port: int
    folders: dict[str, Path]
    said: dict[str, subprocess.CompletedProcess[str]]

    def ask(self, path: str, body: object = None, user: str = "mina", **headers: str) -> bytes:
        """The answer to a request as a person sends it: GET, or POST with a body."""
        word = base64.b64encode(f"{user}:{({**PEOPLE, 'admin': ADMIN_PASSWORD})[user]}".encode()).decode()
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", data=data)
        for name, value in {"Authorization": f"Basic {word}", "Content-Type": "application/json", **headers}.items():
            request.add_header(name, value)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())

    def runs(self) -> list[dict[str, Any]]:
        """All runs of the experiment as the server tells them, with their parameters, metrics and tags by name."""
        found = json.loads(self.ask("api/2.0/mlflow/experiments/get-by-name?experiment_name=team"))
        body = {"experiment_ids": [found["experiment"]["experiment_id"]], "max_results": 100}
        runs: list[dict[str, Any]] = json.loads(self.ask("api/2.0/mlflow/runs/search", body))["runs"]
        for run in runs:
            for kind in ("params", "metrics", "tags"):
                run[kind] = {entry["key"]: entry["value"] for entry in run["data"].get(kind, [])}
        return runs

    def artifacts(self, run: dict[str, Any]) -> dict[str, bytes]:
        """Every file of a run, as the server's proxy hands it out."""
        files: dict[str, bytes] = {}
        folders = [""]
        root = run["info"]["artifact_uri"].removeprefix("mlflow-artifacts:/")
        while folders:
            where = f"run_id={run['info']['run_id']}&path={folders.pop()}"
            for entry in json.loads(self.ask(f"api/2.0/mlflow/artifacts/list?{where}")).get("files", []):
                if entry["is_dir"]:
                    folders.append(entry["path"])
                else:
                    files[entry["path"]] = self.ask(f"api/2.0/mlflow-artifacts/artifacts/{root}/{entry['path']}")
        return files


def sweep(folder: Path, port: int, person: str) -> subprocess.CompletedProcess[str]:
    """One person's sweep: one gives the password in variables, the other in a key of the config."""
    address = f"127.0.0.1:{port}"
    if person == "mina":
        surroundings = {"MLFLOW_TRACKING_USERNAME": person, "MLFLOW_TRACKING_PASSWORD": PEOPLE[person]}
        surroundings["MLFLOW_TRACKING_URI"] = f"http://{address}"
        return glyphrank(*SWEEP, cwd=folder, env=surroundings, seconds=250)
    return glyphrank(*SWEEP, f"tracking.uri='http://{person}:{PEOPLE[person]}@{address}/'", cwd=folder, seconds=250)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    pytest.importorskip("flask_wtf")
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    top = tmp_path_factory.mktemp("team")
    folders = {person: top / person for person in PEOPLE}
    items = [{"id": f"p{number}", "text": text} for number, text in enumerate(("red fox", "blue whale", "green frog"))]
    queries = [{"id": "q1", "text": "a fox"}, {"id": "q2", "text": "blue whales"}, {"id": "q3", "text": "frog green"}]
    for folder in folders.values():
        corpus(folder / "data", items, queries, ["q1\tp0\t1", "q2\tp1\t1", "q3\tp2\t1"])
    with database() as store, team_server(top / "server", store) as port:
        server = Team(port, folders, {})
        for person, word in PEOPLE.items():
            server.ask("api/2.0/mlflow/users/create", {"username": person, "password": word}, "admin")
        with ThreadPoolExecutor(2) as pool:
            said = dict(zip(PEOPLE, pool.map(lambda person: sweep(folders[person], port, person), PEOPLE), strict=True))
        yield Team(port, folders, said)


@pytest.mark.timeout(600)
def test_two_parallel_sweeps_lose_nothing_on_one_server(team: Team) -> None:
    for person, done in team.said.items():
        assert done.returncode == 0, f"{person}: {done.stdout}{done.stderr}"
    runs = {run["info"]["run_id"]: run for run in team.runs()}
    parents = {name: run for name, run in runs.items() if run["tags"].get("kind") == "sweep"}
    cells = [run for name, run in runs.items() if name not in parents]
    assert {run["info"]["status"] for run in runs.values()} == {"FINISHED"}
    assert {run["tags"]["complete"] for run in runs.values()} == {"true"}
    assert (len(parents), len(cells)) == (2, 2 * CELLS)
    for parent in parents:
        own = [cell for cell in cells if cell["tags"]["mlflow.parentRunId"] == parent]
        swept = {(cell["params"]["lexical"], cell["params"]["lexical.k1"]) for cell in own}
        assert swept == {(name, k1) for name in ("bm25_words", "bm25_ngrams") for k1 in ("0.9", "1.5")}
        assert all(cell["metrics"].keys() >= {"recall_at_1", "ndcg_at_10", "median_rank", "mean_rank"} for cell in own)
        assert runs[parent]["metrics"]["cells"] == CELLS


def test_each_person_fetches_what_the_other_logged(team: Team) -> None:
    local = {
        (json.loads(path.read_text())["identity"], path.read_text())
        for folder in team.folders.values()
        for path in folder.glob("outputs/sweeps/*/*/*/report.json")
    }
    assert len(local) == 2 * CELLS
    cells = [run for run in team.runs() if run["tags"].get("kind") != "sweep"]
    fetched = [team.artifacts(run)["report.json"].decode() for run in cells]
    assert {(json.loads(text)["identity"], text) for text in fetched} == local
    surroundings = {"MLFLOW_TRACKING_URI": f"http://jun:{PEOPLE['jun']}@127.0.0.1:{team.port}"}
    compared = glyphrank(
        "compare", "--experiment", "team", "--format", "csv", cwd=team.folders["jun"], env=surroundings
    )
    assert compared.returncode == 0, compared.stderr
    assert compared.stdout.count("bm25_words") >= 2


def test_no_password_is_written_anywhere(team: Team) -> None:  # case L15
    files = [path for folder in team.folders.values() for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 2 * CELLS * 8
    stored = [json.dumps(team.runs(), ensure_ascii=False).encode()]
    stored += [content for run in team.runs() for content in team.artifacts(run).values()]
    texts = [text.encode() for done in team.said.values() for text in (done.stdout, done.stderr)]
    for secret in SECRETS:
        assert [path for path in files if secret.encode() in path.read_bytes()] == []
        assert not [content for content in (*stored, *texts) if secret.encode() in content]


def test_the_server_turns_away_strangers_other_hosts_and_other_pages(team: Team) -> None:
    path, body = "api/2.0/mlflow/runs/search", {"experiment_ids": ["0"]}
    team.ask(path, body, Origin=f"http://localhost:{team.port}")
    assert team.ask("health") == b"OK"
    for headers, code in (
        ({"Authorization": "Basic bWluYTp3cm9uZw=="}, 401),
        ({"Host": "elsewhere.example.org"}, 403),
        ({"Origin": "https://elsewhere.example.org"}, 403),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            team.ask(path, body, **headers)
        assert refused.value.code == code
        refused.value.close()


def test_the_compose_file_starts_what_mlflow_has() -> None:
    read = compose()
    service, store = read["services"]["server"], read["services"]["database"]
    program, command, *words = service["command"]
    assert (program, command) == ("mlflow", "server")
    options = {word.partition("=")[0] for word in words}
    told = subprocess.run(
        [sys.executable, "-m", "mlflow", "server", "--help"], capture_output=True, check=True, text=True
    )
    known = set(re.findall(r"--[a-z-]+", told.stdout))
    assert {"--serve-artifacts", "--artifacts-destination", "--allowed-hosts", "--app-name"} <= options <= known
    named = {volume.partition(":")[0] for part in (service, store) for volume in part["volumes"]}
    assert named - {"./basic_auth.ini"} == set(read["volumes"])
    assert service["depends_on"]["database"]["condition"] == "service_healthy"
    assert all("healthcheck" in part for part in (service, store))


@pytest.mark.parametrize("more", [{}, {"AWS_DEFAULT_REGION": "ap-northeast-2"}])
def test_the_compose_file_sets_nothing_to_an_empty_text(more: dict[str, str]) -> None:
    asked = ("DATABASE_PASSWORD", "ADMIN_PASSWORD", "SECRET_KEY", "ALLOWED_HOSTS", "ALLOWED_ORIGINS")
    for service in compose()["services"].values():
        told = surroundings(service, {**dict.fromkeys(asked, "given"), **more})
        assert all(told.values())
    assert {name for name in told if name.startswith(("AWS", "MLFLOW_S3"))} == more.keys()


def test_the_compose_file_holds_no_password_and_refuses_to_start_without() -> None:
    deploy = Path(__file__).parents[2] / "deploy"
    example = dict(re.findall(r"^(\w+)=(.*)$", (deploy / "env.example").read_text(), re.MULTILINE))
    text = (deploy / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{(\w+):\?", text))
    assert asked == {"DATABASE_PASSWORD", "ADMIN_PASSWORD", "SECRET_KEY", "ALLOWED_HOSTS", "ALLOWED_ORIGINS"}
    assert asked <= example.keys()
    assert {name for name in asked if not example[name]} == {"DATABASE_PASSWORD", "ADMIN_PASSWORD", "SECRET_KEY"}
    for name in ("DATABASE_PASSWORD", "SECRET_KEY"):
        with pytest.raises(AssertionError, match=name):
            filled(f"${{{name}:?set it in .env}}", example)
    assert ".env" in (deploy / ".gitignore").read_text().split()
