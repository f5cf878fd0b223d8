"""Hydra's copies of what a person asked for, before and after secrets are taken out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from glyphrank import known_secrets
from glyphrank.redacted_files import redact_file, redact_folder
from glyphrank.redaction import redact

HYDRA_FOLDER = {
    "config.yaml": """\
tracking:
  uri: http://user:hush@host:5000
  token: 'hush'  # kept by nobody
  password: null
  credentials:
    user: kim
    key: hush
  after: 1
secrets:
- hush
- hush hush
text:
  hf_token: |
    hush
    hush

  max_tokens: 5
빈: "a.token=\\"hush hush\\" b"
""",
    "overrides.yaml": """\
- foo.token=hush
- '+foo.password="hush, hush"'
- tracking.uri=http://user:hush@host
- "x={api_key: hush, k: 1}"
- text.max_tokens=5
""",
    "hydra.yaml": """\
hydra:
  job:
    override_dirname: 'a.token=''hush'',b=1'
  overrides:
    task:
    - foo.token=hush
      hush
    - b=1
""",
}


def test_redact_folder_leaves_valid_yaml_without_secrets(tmp_path: Path) -> None:  # case L15
    (tmp_path / ".hydra").mkdir()
    for name, text in HYDRA_FOLDER.items():
        (tmp_path / ".hydra" / name).write_text(text, encoding="utf-8")
    redact_folder(tmp_path)
    clean = {name: (tmp_path / ".hydra" / name).read_text(encoding="utf-8") for name in HYDRA_FOLDER}
    assert not any("hush" in text for text in clean.values()), clean
    assert yaml.safe_load(clean["config.yaml"]) == {
        "tracking": {
            "uri": "http://host:5000",
            "token": "<redacted>",
            "password": None,
            "credentials": "<redacted>",
            "after": 1,
        },
        "secrets": "<redacted>",
        "text": {"hf_token": "<redacted>", "max_tokens": 5},
        "빈": "a.token=<redacted>",
    }
    assert yaml.safe_load(clean["overrides.yaml"]) == [
        "foo.token=<redacted>",
        "+foo.password=<redacted>",
        "tracking.uri=http://host",
        "x={api_key: <redacted>, k: 1}",
        "text.max_tokens=5",
    ]
    assert yaml.safe_load(clean["hydra.yaml"])["hydra"]["overrides"]["task"] == ["foo.token=<redacted>", "b=1"]
    assert sorted(path.name for path in (tmp_path / ".hydra").iterdir()) == sorted(HYDRA_FOLDER)


def test_redact_folder_leaves_files_without_secrets_as_they_are(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    path = tmp_path / ".hydra" / "config.yaml"
    path.write_bytes(b"a: 1\r\nlist:\n- {b: c}\n\n'q': \"x\"")
    before = path.stat().st_ino
    redact_folder(tmp_path)
    assert path.read_bytes() == b"a: 1\r\nlist:\n- {b: c}\n\n'q': \"x\""
    assert path.stat().st_ino == before


def test_redact_file_keeps_what_hydra_must_read_again(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    content = {
        "z": {"token": "hush", "api_key": "${oc.env:API_KEY}", "password": "???", "secret": None},
        "wanted": "???",
        "nothing": None,
        "linked": "${z.a}/b, ${oc.env:HOME}",
        "texts": ["1e3", "yes", "2020-01-01", "007", "1:30", " a", "줄\nline"],
        "numbers": [1e-5, 1.5, 1000.0, True, -3],
        "a": {},
    }
    path.write_text(OmegaConf.to_yaml(OmegaConf.create(content)), encoding="utf-8")
    redact_file(path)
    content["z"] = {**content["z"], "token": "<redacted>"}  # type: ignore[dict-item]
    read = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert read == yaml.safe_load(path.read_text(encoding="utf-8")) == content
    assert isinstance(read, dict)
    assert list(read) == list(content)


@pytest.mark.parametrize(
    "text", ["a: [1\n", "a: b: c\n", "\tx", "!!python/name:os.system x\n", "a: &x [*x]\n", "d: 2020-13-45\n", "\xff"]
)
def test_redact_file_that_is_no_yaml_loses_its_content_only_where_a_secret_may_stand(text: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(text.encode("latin-1"))
    redact_file(path)
    assert path.read_bytes() == text.encode("latin-1")
    for secret in ("token: hush\n", "- |\n  http://u:hush@h\n", "password\n  hush\n"):
        path.write_bytes(text.encode("latin-1") + b"\n" + secret.encode())
        redact_file(path)
        assert "hush" not in path.read_text(encoding="utf-8")
        assert yaml.safe_load(path.read_text(encoding="utf-8")) is None
        assert path.read_text(encoding="utf-8").startswith("# odd.yaml could not be read as YAML")


def test_a_file_that_is_no_yaml_is_looked_at_again_once_more_secrets_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_secrets, "_known", set())
    path = tmp_path / "broken.yaml"
    path.write_text("[sesame-open-up\n", encoding="utf-8")
    redact_file(path)
    assert path.read_text(encoding="utf-8") == "[sesame-open-up\n"
    known_secrets.remember(["sesame-open-up"])
    redact_file(path)
    assert "sesame" not in path.read_text(encoding="utf-8")


def test_redact_file_of_a_path_that_is_no_file_does_nothing(tmp_path: Path) -> None:
    redact_file(tmp_path)
    redact_file(tmp_path / "none.yaml")
    assert list(tmp_path.iterdir()) == []


def test_redact_folder_leaves_what_hydra_wrote_readable(tmp_path: Path) -> None:  # case L15
    script = tmp_path / "app.py"
    script.write_text("import hydra\n@hydra.main(version_base='1.3', config_path=None)\ndef app(config): pass\napp()\n")
    long = "hush " * 40 + "hush"
    overrides = [f"+a.token={long}", f"+b='x, password={long}, x'", "+q='한국어: \"d\", ${now:%Y}'", "+n=null"]
    overrides += ["hydra.run.dir=run", f"+uri=http://u:{long.replace(' ', '/')}@host/x", "+m={secret: [hush, hush]}"]
    done = subprocess.run([sys.executable, str(script), *overrides], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    files = sorted((tmp_path / "run" / ".hydra").iterdir())
    before = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}
    redact_folder(tmp_path / "run")
    assert [path.name for path in files] == ["config.yaml", "hydra.yaml", "overrides.yaml"]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "hush" not in text
        assert yaml.safe_load(text) == redact(before[path.name])
        assert OmegaConf.load(path) is not None
    config = yaml.safe_load(files[0].read_text(encoding="utf-8"))
    assert (config["a"], config["n"], config["m"]) == ({"token": "<redacted>"}, None, {"secret": "<redacted>"})
    assert config["uri"] == "http://host/x"


def test_redact_folder_without_hydra_copies_does_nothing(tmp_path: Path) -> None:
    redact_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []
