"""Real clients, each in an environment of its own below the cache folder, installed when first needed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ADAPTERS = Path(__file__).parent / "adapters"


def find_clients_home() -> Path:
    """`$FIADOR_CLIENTS_HOME`, or a folder of the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("FIADOR_CLIENTS_HOME") or cache / "fiador" / "clients")


@dataclass(frozen=True, slots=True)
class PythonClient:
    """A Python library: what pip installs, and the adapter that drives it."""

    name: str
    packages: tuple[str, ...]
    adapter: str

    def install(self) -> None:
        folder = find_clients_home() / self.name
        done = folder / "installed"
        if done.exists() and done.read_text("utf-8") == " ".join(self.packages):
            return
        shutil.rmtree(folder, ignore_errors=True)
        _run_command([sys.executable, "-m", "venv", str(folder)])
        _run_command([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *self.packages])
        done.write_text(" ".join(self.packages), "utf-8")

    def build_command(self) -> list[str]:
        return [str(find_clients_home() / self.name / "bin" / "python"), str(ADAPTERS / self.adapter)]


@dataclass(frozen=True, slots=True)
class NodeClient:
    """A JavaScript library. All of them share one folder of packages."""

    name: str
    adapter: str
    arguments: tuple[str, ...] = ()

    def install(self) -> None:
        folder, wanted = find_clients_home() / "node", (ADAPTERS / "package.json").read_text("utf-8")
        folder.mkdir(parents=True, exist_ok=True)
        for script in ADAPTERS.glob("*.mjs"):  # packages are looked for beside the script
            shutil.copy(script, folder)
        done = folder / "installed"
        if done.exists() and done.read_text("utf-8") == wanted:
            return
        (folder / "package.json").write_text(wanted, "utf-8")
        _run_command(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"], folder)
        done.write_text(wanted, "utf-8")

    def build_command(self) -> list[str]:
        return ["node", str(find_clients_home() / "node" / self.adapter), *self.arguments]


Client = PythonClient | NodeClient

CLIENTS: tuple[Client, ...] = (
    PythonClient("openai", ("openai",), "openai_sdk.py"),
    PythonClient("openai-1", ("openai<2",), "openai_sdk.py"),
    PythonClient("langchain", ("langchain-openai",), "langchain_sdk.py"),
    PythonClient("llama-index", ("llama-index-llms-openai-like",), "llama_index_sdk.py"),
    PythonClient("llm", ("llm",), "llm_sdk.py"),
    NodeClient("openai-node", "openai_sdk.mjs"),
    NodeClient("ai-sdk-openai", "ai_sdk.mjs", ("openai",)),
    NodeClient("ai-sdk-compatible", "ai_sdk.mjs", ("compatible",)),
    NodeClient("langchain-js", "langchain_sdk.mjs"),
)


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """What one client showed for one question in one mode. `usage`: prompt and completion tokens, if any."""

    client: str
    version: str
    question: str
    mode: str
    text: str
    finish: str
    usage: tuple[int, ...] | None
    error: str


def run_client(
    client: Client, address: str, questions: Mapping[str, Mapping[str, str]], timeout_s: float
) -> list[ClientAnswer]:
    """Asks everything through one client, in a process of its own."""
    environment = {
        **{
            k: v
            for k, v in os.environ.items()
            if not k.upper().startswith(("OPENAI_", "LANGCHAIN_", "LANGSMITH_"))
        },
        "FIADOR_URL": address,
        "FIADOR_QUESTIONS": json.dumps(questions),
        "NO_PROXY": "*",
        "LLM_USER_PATH": str(find_clients_home() / "llm-home"),
    }
    done = subprocess.run(
        client.build_command(),
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout_s,
    )
    rows = [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("row ")]
    if done.returncode or not rows:
        return [ClientAnswer(client.name, "", "*", "*", "", "", None, done.stderr[-500:] or "no rows")]
    return [_read_answer_row(client.name, row) for row in rows]


def _read_answer_row(name: str, row: Mapping[str, object]) -> ClientAnswer:
    usage = row["usage"]
    tokens = tuple(usage) if isinstance(usage, list) and None not in usage else None
    texts = {key: str(row[key] or "") for key in ("version", "question", "mode", "text", "finish", "error")}
    return ClientAnswer(client=name, usage=tokens, **texts)


def _run_command(command: list[str], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stderr[-2000:]}")
