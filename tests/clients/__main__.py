"""`python -m tests.clients [NAME…]`: real OpenAI clients against the demo server, in four situations.

Installs each client into an environment of its own on first use (needs PyPI, npm and Node ≥ 20 then).
Exit 1 if a client failed, showed another text than the wire carries, or something that it must not show.
"""

import sys
from collections.abc import Iterable

import httpx

from tests.clients.environments import CLIENTS, Client, ClientAnswer, find_clients_home, run_client
from tests.clients.sample_server import SampleServer, serve_sample
from tests.clients.situations import SITUATIONS, find_client_faults

TIMEOUT_S = 180


def main(names: list[str]) -> int:
    """All clients, or those named."""
    known = {client.name: client for client in CLIENTS}
    if unknown := [name for name in names if name not in known]:
        print(f"no such client: {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    chosen = [known[name] for name in names or known]
    for client in chosen:
        print(f"installing {client.name} below {find_clients_home()} …", file=sys.stderr)
        client.install()
    with serve_sample() as stage:
        return _ask_all_clients(chosen, stage)


def _ask_all_clients(clients: Iterable[Client], stage: SampleServer) -> int:
    questions = {
        name: {"model": one.model, "key": stage.keys[one.key], "question": one.question}
        for name, one in SITUATIONS.items()
    }
    reference = {name: _fetch_plain_text(stage.address, question) for name, question in questions.items()}
    rows = [
        seen for client in clients for seen in run_client(client, f"{stage.address}/v1", questions, TIMEOUT_S)
    ]
    wrong = [(seen, found) for seen in rows if (found := find_client_faults(seen, reference))]
    _print_results(rows, wrong)
    return 1 if wrong else 0


def _fetch_plain_text(address: str, question: dict[str, str]) -> str:
    """The text without any client in between."""
    response = httpx.post(
        f"{address}/v1/chat/completions",
        headers={"authorization": f"Bearer {question['key']}"},
        json={"model": question["model"], "messages": [{"role": "user", "content": question["question"]}]},
        trust_env=False,
    )
    return str(response.raise_for_status().json()["choices"][0]["message"]["content"])


def _print_results(rows: list[ClientAnswer], wrong: list[tuple[ClientAnswer, list[str]]]) -> None:
    failed = {id(seen) for seen, _ in wrong}
    for seen in rows:
        mark = "FAIL" if id(seen) in failed else "pass"
        shown = seen.text.replace("\n", " ")[:60]
        print(f"{mark}  {seen.client:18}{seen.version:10}{seen.question:13}{seen.mode:12}{shown}")
    for seen, found in wrong:
        print(f"\n{seen.client}, {seen.question}, {seen.mode}: {'; '.join(found)}")
    print(f"\n{len(rows) - len(wrong)} passed, {len(wrong)} failed")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
