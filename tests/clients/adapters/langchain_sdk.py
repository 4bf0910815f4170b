"""LangChain's ChatOpenAI."""

from importlib.metadata import version

from langchain_openai import ChatOpenAI
from question_runner import URL, ClientQuestion, ShownAnswer, answer_questions, read_token_counts


def build_chat_openai(question: ClientQuestion) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=URL, api_key=question.key, model=question.model, max_retries=0, stream_usage=True
    )


def read_message(message: object) -> ShownAnswer:
    finish = message.response_metadata.get("finish_reason")
    return ShownAnswer(
        message.content, finish, read_token_counts(message.usage_metadata, "input_tokens", "output_tokens")
    )


def invoke_model(question: ClientQuestion) -> ShownAnswer:
    return read_message(build_chat_openai(question).invoke(question.question))


def stream_model(question: ClientQuestion) -> ShownAnswer:
    whole = None
    for chunk in build_chat_openai(question).stream(question.question):
        whole = chunk if whole is None else whole + chunk
    return read_message(whole)


answer_questions(version("langchain-openai"), {"plain": invoke_model, "stream": stream_model})
