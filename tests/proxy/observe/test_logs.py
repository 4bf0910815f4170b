"""observe.logs: one line an event, and no secret in it."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from proxy.observe import logs
from proxy.settings import tree
from tests.proxy.observe.test_decisions import make_trace


@pytest.fixture
def restored() -> Iterator[None]:
    roots = [logging.getLogger(name) for name in ("fiador", "uvicorn")]
    before = [(root.handlers[:], root.level, root.propagate) for root in roots]
    yield
    for root, kept in zip(roots, before, strict=True):
        root.handlers[:], root.level, root.propagate = kept


@pytest.mark.parametrize(
    "secret",
    [
        "Bearer abc.def",
        "authorization: bearer s3cr3t",
        "fiador_0123abcd_c2VjcmV0LXNlY3JldA",
        "sk-proj-aaaabbbbcccc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    ],
)
@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_looks_like_a_secret_does_not_reach_a_line(secret: str, form: str) -> None:
    out = io.StringIO()
    logs.configure_logging(tree.LogSettings.model_validate({"format": form}), out)
    log = logging.getLogger("fiador.test")
    log.info("got %s", secret, extra={"fields": {"detail": secret, "deep": [secret]}})
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("failed")
    assert secret.split()[-1][-8:] not in out.getvalue()
    assert len(out.getvalue().splitlines()) == 2


@pytest.mark.usefixtures("restored")
def test_a_request_is_one_line_without_its_question() -> None:
    out = io.StringIO()
    logs.configure_logging(tree.LogSettings(format="json"), out)
    logs.log_request(make_trace("a\nb"))
    said = json.loads(out.getvalue())
    assert (said["message"], said["rule"], said["cost_nanousd"]) == ("stopped", "values", 12)
    assert "What does it cost" not in out.getvalue()
    assert "12 euros" not in out.getvalue()


@pytest.mark.usefixtures("restored")
def test_a_line_break_in_what_is_logged_makes_no_second_line() -> None:
    out = io.StringIO()
    logs.configure_logging(tree.LogSettings(), out)
    logging.getLogger("fiador.test").info("a\nFAKE line\r\u2028more")
    assert len(out.getvalue().splitlines()) == 1


@pytest.mark.usefixtures("restored")
def test_the_servers_own_lines_have_the_same_form() -> None:
    out = io.StringIO()
    logs.configure_logging(tree.LogSettings(format="json"), out)
    logging.getLogger("uvicorn.lines").info("Uvicorn running on %s", "http://127.0.0.1:8080")
    assert json.loads(out.getvalue())["message"] == "Uvicorn running on http://127.0.0.1:8080"
