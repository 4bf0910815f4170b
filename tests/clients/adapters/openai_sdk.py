"""The official Python SDK, any version from 1 on: plain, streaming, the stream helper, async."""

import asyncio

import openai
from told import URL, Question, Shown, ask, tokens


def client(question: Question) -> openai.OpenAI:
    return openai.OpenAI(base_url=URL, api_key=question.key, max_retries=0)


def plain(question: Question) -> Shown:
    done = client(question).chat.completions.create(model=question.model, messages=question.messages)
    choice = done.choices[0]
    assert choice.message.refusal is None
    return Shown(choice.message.content, choice.finish_reason, tokens(done.usage))


def take(shown: Shown, chunk: openai.types.chat.ChatCompletionChunk) -> None:
    for choice in chunk.choices:
        assert choice.index == 0
        shown.text += choice.delta.content or ""
        shown.finish = choice.finish_reason or shown.finish
    shown.usage = tokens(chunk.usage) or shown.usage


def stream(question: Question) -> Shown:
    shown = Shown()
    for chunk in client(question).chat.completions.create(
        model=question.model,
        messages=question.messages,
        stream=True,
        stream_options={"include_usage": True},
    ):
        take(shown, chunk)
    return shown


def helper(question: Question) -> Shown:
    completions = client(question).chat.completions
    if not hasattr(completions, "stream"):
        completions = client(question).beta.chat.completions
    with completions.stream(
        model=question.model, messages=question.messages, stream_options={"include_usage": True}
    ) as events:
        done = events.get_final_completion()
    choice = done.choices[0]
    assert choice.message.role == "assistant"
    return Shown(choice.message.content, choice.finish_reason, tokens(done.usage))


def later(question: Question) -> Shown:
    async def run() -> Shown:
        shown = Shown()
        async with openai.AsyncOpenAI(base_url=URL, api_key=question.key, max_retries=0) as client:
            async for chunk in await client.chat.completions.create(
                model=question.model,
                messages=question.messages,
                stream=True,
                stream_options={"include_usage": True},
            ):
                take(shown, chunk)
        return shown

    return asyncio.run(run())


def models(question: Question) -> Shown:
    """Not an answer: the list must hold the model; then the plain answer is shown."""
    assert question.model in [model.id for model in client(question).models.list()]
    return plain(question)


ask(
    openai.__version__,
    {"plain": plain, "stream": stream, "helper": helper, "async": later, "models": models},
)
