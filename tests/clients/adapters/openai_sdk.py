"""The official Python SDK, any version from 1 on: plain, streaming, the stream helper, async."""

import asyncio

import openai
from question_runner import URL, ClientQuestion, ShownAnswer, answer_questions, read_token_counts


def build_client(question: ClientQuestion) -> openai.OpenAI:
    return openai.OpenAI(base_url=URL, api_key=question.key, max_retries=0)


def create_completion(question: ClientQuestion) -> ShownAnswer:
    done = build_client(question).chat.completions.create(model=question.model, messages=question.messages)
    choice = done.choices[0]
    assert choice.message.refusal is None
    return ShownAnswer(choice.message.content, choice.finish_reason, read_token_counts(done.usage))


def add_chunk(shown: ShownAnswer, chunk: openai.types.chat.ChatCompletionChunk) -> None:
    for choice in chunk.choices:
        assert choice.index == 0
        shown.text += choice.delta.content or ""
        shown.finish = choice.finish_reason or shown.finish
    shown.usage = read_token_counts(chunk.usage) or shown.usage


def stream_completion(question: ClientQuestion) -> ShownAnswer:
    shown = ShownAnswer()
    for chunk in build_client(question).chat.completions.create(
        model=question.model,
        messages=question.messages,
        stream=True,
        stream_options={"include_usage": True},
    ):
        add_chunk(shown, chunk)
    return shown


def stream_with_helper(question: ClientQuestion) -> ShownAnswer:
    completions = build_client(question).chat.completions
    if not hasattr(completions, "stream"):
        completions = build_client(question).beta.chat.completions
    with completions.stream(
        model=question.model, messages=question.messages, stream_options={"include_usage": True}
    ) as events:
        done = events.get_final_completion()
    choice = done.choices[0]
    assert choice.message.role == "assistant"
    return ShownAnswer(choice.message.content, choice.finish_reason, read_token_counts(done.usage))


def stream_async(question: ClientQuestion) -> ShownAnswer:
    async def collect_chunks() -> ShownAnswer:
        shown = ShownAnswer()
        async with openai.AsyncOpenAI(base_url=URL, api_key=question.key, max_retries=0) as client:
            async for chunk in await client.chat.completions.create(
                model=question.model,
                messages=question.messages,
                stream=True,
                stream_options={"include_usage": True},
            ):
                add_chunk(shown, chunk)
        return shown

    return asyncio.run(collect_chunks())


def check_model_list(question: ClientQuestion) -> ShownAnswer:
    """Not an answer: the list must hold the model; then the plain answer is shown."""
    assert question.model in [model.id for model in build_client(question).models.list()]
    return create_completion(question)


answer_questions(
    openai.__version__,
    {
        "plain": create_completion,
        "stream": stream_completion,
        "helper": stream_with_helper,
        "async": stream_async,
        "models": check_model_list,
    },
)
