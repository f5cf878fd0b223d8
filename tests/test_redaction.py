from __future__ import annotations

import io
import logging
import logging.config
from pathlib import Path

import pytest
import yaml

from glyphrank.redaction import RedactingFilter, is_secret, redact, redact_folder, redact_override, redact_text


@pytest.mark.parametrize(
    "name",
    [
        *("token", "hf_token", "HF_TOKEN", "authToken", "foo.bar.token", "password", "db-password", "secret"),
        *("client_secret", "api_key", "apiKey", "APIKey", "apikey", "aws_access_key_id", "credential", "credentials"),
    ],
)
def test_is_secret_for_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    ["tokens", "tokenizer", "max_tokens", "token_pattern", "pad_token", "key", "keys", "monkey", "secretary", "k1"],
)
def test_is_secret_not_for_names_that_only_resemble_them(name: str) -> None:
    assert not is_secret(name)


def test_redact_hides_what_stands_under_secret_names_at_any_depth() -> None:  # case L15
    config = {
        "tracking": {"uri": "http://user:pw@127.0.0.1:5000/x", "token": "abc"},
        "credentials": {"user": "kim", "key": "abc"},
        "list": [{"api_key": 5}, "foo.token=a b", ("x",)],
        "max_tokens": 12,
    }
    assert redact(config) == {
        "tracking": {"uri": "http://127.0.0.1:5000/x", "token": "<redacted>"},
        "credentials": "<redacted>",
        "list": [{"api_key": "<redacted>"}, "foo.token=<redacted>", ("x",)],
        "max_tokens": 12,
    }


def test_redact_keeps_what_tells_that_no_secret_is_set() -> None:
    config = {"token": None, "use_token": False, "password": ""}
    assert redact(config) == config


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("see http://user:pw@host:5000/a now", "see http://host:5000/a now"),
        ("http://user:p@ss@host", "http://host"),
        ("http://user:p/w#d?@host:5000", "http://host:5000"),
        ("postgresql+psycopg://u:p@db/x, https://tok@h", "postgresql+psycopg://db/x, https://h"),
        ("https://h:8080/a@b and me@example.org", "https://h:8080/a@b and me@example.org"),
        ("https://h/x?a=1&token=abc&b=2", "https://h/x?a=1&token=<redacted>&b=2"),
        ("https://h/x?X-Amz-Signature=abc&key=def", "https://h/x?X-Amz-Signature=<redacted>&key=<redacted>"),
        ("run foo.token=abc,def x=1", "run foo.token=<redacted> x=1"),
        ("password='a b' key=7", "password=<redacted> key=7"),
        ('{"token": "a\\"b", "k": 1}', '{"token": <redacted>, "k": 1}'),
        ("{'api_key': 'abc', 'n': 2}", "{'api_key': <redacted>, 'n': 2}"),
        ("db={password:abc,credentials:{a: 1, b: 2}}", "db={password:<redacted>,credentials:<redacted>}"),
        ("Authorization: Bearer abcdefgh.ijkl", "Authorization: <redacted>"),
        ("header Bearer abcdefgh.ijkl sent", "header Bearer <redacted> sent"),
        ("unexpected token: '}' in max_tokens=5", "unexpected token: '}' in max_tokens=5"),
        ("token=null password: null", "token=null password: null"),
    ],
)
def test_redact_text_hides_secrets_and_nothing_else(text: str, clean: str) -> None:  # case L15
    assert redact_text(text) == clean
    assert redact_text(clean) == clean


def test_redact_text_of_a_long_word_is_quick() -> None:
    text = "a" * 200_000 + "://" + "b" * 200_000
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("override", "clean"),
    [
        ('+foo.token="a b,c"', "+foo.token=<redacted>"),
        ("token=a,b c", "token=<redacted>"),
        ("token=null", "token=null"),
        ("tokenizer=words", "tokenizer=words"),
        ("tracking.uri=http://u:p@h", "tracking.uri=http://h"),
        ("~foo.token", "~foo.token"),
    ],
)
def test_redact_override_hides_the_whole_value(override: str, clean: str) -> None:
    assert redact_override(override) == clean


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
        "빈": "a.token=<redacted> b",
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


def test_redact_folder_keeps_the_ends_of_lines(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    path = tmp_path / ".hydra" / "config.yaml"
    path.write_bytes(b"token: hush\r\na: 1\r\n")
    redact_folder(tmp_path)
    assert path.read_bytes() == b"token: <redacted>\r\na: 1\r\n"


def test_redact_folder_without_hydra_copies_does_nothing(tmp_path: Path) -> None:
    redact_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_redacting_filter_cleans_messages_arguments_and_tracebacks() -> None:  # case L15
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter())
    logger = logging.Logger("some program")
    logger.addHandler(handler)
    logger.info("at %s with token=%s, %d of %s", "http://u:hush@h", "hush", 3, ("a", "b"))
    try:
        raise ValueError("http://u:hush@h refused")
    except ValueError:
        logger.exception("no answer")
    text = stream.getvalue()
    assert "at http://h with token=<redacted> 3 of ('a', 'b')" in text
    assert "ValueError: http://h refused" in text
    assert "hush" not in text


def test_redacting_filter_can_be_named_in_a_logging_configuration() -> None:
    stream = io.StringIO()
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {"secrets": {"()": "glyphrank.redaction.RedactingFilter"}},
            "handlers": {"h": {"class": "logging.StreamHandler", "stream": stream, "filters": ["secrets"]}},
            "loggers": {"test.redaction": {"handlers": ["h"], "level": "INFO"}},
        }
    )
    logging.getLogger("test.redaction").info("password=hush")
    logging.getLogger("test.redaction").handlers.clear()
    assert stream.getvalue() == "password=<redacted>\n"
