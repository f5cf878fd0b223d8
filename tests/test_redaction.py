from __future__ import annotations

import io
import logging
import logging.config

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glyphrank import known_secrets
from glyphrank.redaction import (
    REDACTED,
    RedactingFilter,
    is_secret,
    redact,
    redact_override,
    redact_text,
)


@pytest.mark.parametrize(
    "name",
    [
        *("token", "hf_token", "HF_TOKEN", "authToken", "foo.bar.token", "password", "db-password", "secret"),
        *(
            "PGPASSWORD",
            "dbpassword",
            "myAccessToken",
            "client_secret",
            "api_key",
            "apiKey",
            "APIKey",
            "apikey",
            "aws_access_key_id",
            "credential",
            "credentials",
        ),
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
        ("/runs/tracking.uri=http:/kim:pw@host:5000,k1=1", "/runs/tracking.uri=http:/host:5000,k1=1"),
        ("https:/tok@h and file:/data/a@b and C:/a@b", "https:/h and file:/data/a@b and C:/a@b"),
        (r"tracking.uri=http\:/kim\:pw@host\:5000,k1=1", r"tracking.uri=http\:/host\:5000,k1=1"),
        (r"tracking.uri=http\://kim\:pw@host", r"tracking.uri=http\://host"),
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
        ("token=${oc.env:HF_TOKEN},x=1", "token=${oc.env:HF_TOKEN},x=1"),
        ("rerun=true,text.token=abc", "rerun=true,text.token=<redacted>"),
        ("user=bob|password=h was refused", "user=bob|password=<redacted>"),
        ("run with token=abc was refused", "run with token=<redacted> was refused"),
        ("x=(password=h h) in y", "x=(password=<redacted>) in y"),
        ("path=/x/token=h", "path=/x/token=<redacted>"),
        ("token=a;b=h", "token=<redacted>"),
        ("http://u:p@s/s@host/x", "http://host/x"),
        ("['http://h:80/x','me@y.org']", "['http://h:80/x','me@y.org']"),
        ("#1 : a=1 foo.token=a b c=2", "#1 : a=1 foo.token=<redacted> c=2"),
        (
            "Error parsing override 'foo.token=a {b'\nSee there",
            "Error parsing override 'foo.token=<redacted>'\nSee there",
        ),
        ("login with password: h and a smile", "login with password: <redacted> and a smile"),
        ("x --password h -v, ['--token', 'a b']", "x --password <redacted> -v, ['--token', <redacted>]"),
        ("Server(user='x', password='it\\'s h') is closed", "Server(user='x', password=<redacted>) is closed"),
        ("api_key: is unknown; known are dataset, ocr", "api_key: is unknown; known are dataset, ocr"),
        ("hub.token: is not given; pass hub.token=VALUE", "hub.token: is not given; pass hub.token=<redacted>"),
        ("password is 'abc'; wanted 8 characters", "password is <redacted>; wanted 8 characters"),
        ("token: found 'abc' (str), wanted x", "token: found <redacted> (str), wanted x"),
        ("credentials:\n  user: a\n  key: b\nafter: 1", "credentials: <redacted>\nafter: 1"),
        ("--password is required, --token: unknown", "--password is required, --token: <redacted>"),
    ],
)
def test_redact_text_hides_secrets_and_nothing_else(text: str, clean: str) -> None:  # case L15
    assert redact_text(text) == clean
    assert redact_text(clean) == clean


NAMES = st.sampled_from(["password", "foo.hf_token", "api-key", "PGPASSWORD", "credentials", "authToken"])
WORDS = st.text(st.sampled_from("abzXY019_-./+@#$%^*~!한"), min_size=2, max_size=9)
FORMS = [
    *("{k}={s}", "{k}: {s}", "{k} = '{s}'", '{k}="{s}, {s}"', "a=1,{k}={s},b=2", "rerun=true,x.{k}={s}", "--{k} {s}"),
    *("user=bob|{k}={s}", "user=bob;{k}={s}", "path=/x/{k}={s}", "x=({k}={s})", "with {k}: {s}", "so {k}: {s}, then"),
    *(
        "{k}={{a: {s}, b: {{c: {s}}}}}",
        "{k}=[{s},{s}] x=1",
        "{{'{k}': '{s}', 'n': 1}}",
        '{{"{k}":"{s}"}}',
        "({k}={s}).",
    ),
    *("Error in '+{k}={s} {s}'\nnext", "#0 : {k}={s} {s} b=1", "\t#1 : a=b {k}={s} {s}", "{k}='it''s {s}'"),
    *("{k}='it\\'s {s}'", "{k}='it's {s}' n=1", '{{\\"{k}\\": \\"{s} {s}\\"}}', "{k} is '{s}'; wanted", "{k}: {s} {s}"),
    *("x:\n  {k}:\n    a: {s}\n    b: {s}\ny: 1", "{k}: |\n  {s}\n\n  {s}\n", "- {k}: {s} {s}", "['--{k}', '{s}']"),
    *("cfg['{k}'] = '{s}'", "https://h/x?a=1&{k}={s}&b=2", "https://u:{s}@h/x", "sqlalchemy://u:{s}/{s}@h:1/x and"),
    *("{k}={s};b={s}", "a: 1, {k}: {s}", "{{a: 1, {k}: {s} {s}}}", "run {k}={s} {s} b=1", "{k}: found '{s}', wanted"),
]


@given(NAMES, WORDS, st.sampled_from(FORMS))
def test_redact_text_never_keeps_a_secret_under_a_secret_name(name: str, word: str, form: str) -> None:  # case L15
    secret = f"Q{word}Q"  # its ends tell it from punctuation
    assume(not {"#", "@"} & set(secret) or "://" not in form)
    text = form.format(k=name, s=secret)
    clean = redact_text(text)
    assert secret not in clean, clean
    assert "Q" not in clean.replace("PGPASSWORD", ""), clean
    assert redact_text(clean) == clean


@given(NAMES, st.text(min_size=1, max_size=12), st.booleans())
def test_redact_never_keeps_a_secret_in_a_list_of_overrides(name: str, word: str, last: bool) -> None:  # case L15
    assume("," not in word)
    secret = f"Q{word}Q"
    text = f"a=1,x.{name}={secret}" + ("" if last else ",b=2")
    config = {"override_dirname": text, "list": [f"x.{name}={secret},c=d"], name: secret, "deep": [{name: [secret]}]}
    assert "Q" not in str(redact(config))
    assert last or redact(config)["override_dirname"].endswith(",b=2")


@given(st.text())
def test_redact_text_of_any_text_is_redacted_once(text: str) -> None:
    assert redact_text(redact_text(text)) == redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000 + "://" + "b" * 200_000,
        "'" * 100_000,
        "a=b," * 50_000,
        "token" + " " * 200_000,
        "http://a:" * 20_000,
        "http:/a:" * 20_000,
        "http:/a:" * 2_000 + "/ @",
    ],
)
def test_redact_text_of_a_long_text_is_quick(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("piece", ["token=", "password={", "password='", "token: ", "--token ", "token:\n "])
def test_redact_text_of_many_names_is_quick(piece: str) -> None:
    redact_text(piece * 20_000)


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
    assert "at http://h with token=<redacted>, 3 of ('a', 'b')" in text
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


def test_redact_text_hides_the_bare_value_of_a_secret_that_the_config_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_secrets, "_known", set())  # case L15
    assert redact_text("bad login with hunter2-long") == "bad login with hunter2-long"
    known_secrets.remember(["hunter2-long", "short"])
    assert redact_text("bad login with hunter2-long, in short") == f"bad login with {REDACTED}, in short"
