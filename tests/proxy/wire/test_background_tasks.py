"""A chat window's errands are recognised; a person's question about the same things is not."""

import pytest

from proxy.domain.types import ChatRequest
from proxy.wire.background_tasks import match_background_task


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
            "title",
        ),
        ("Provide a concise, 5-word-or-less title for the conversation, using its same language", "title"),
        (
            "Please generate a four to five word title summarizing our conversation without any lead-in",
            "title",
        ),
        ("You are a title generator. You output ONLY a thread title.", "title"),
        ("### Task:\nGenerate a concise title summarizing the chat history.\n### Guidelines:", "title"),
        ("Analyze this conversation and provide:\n1. The detected language of the conversation", "title"),
        ("You are a conversation summarizer. Generate a title that captures the conversation.", "title"),
        ("Based on the chat history, give this conversation a name.\nKeep it short.", "title"),
        ("Based on the following conversation, create a short, concise title.", "title"),
        ("Summarize in a 10-word Title. Give the title only. Here is the message:", "title"),
        ("You are skilled in talk and need to summarize user conversations into titles", "title"),
        ("Summarise this user message as a short conversation title.", "title"),
        ("- you will generate a short title based on the first message a user begins with", "title"),
        ("Please generate a concise title (max 40 characters) for a conversation that starts", "title"),
        ("You are a chat thread titling assistant.\nGoal: a very short title", "title"),
        ("你需要将用户的会话总结为 10 个字以内的标题", "title"),
        ("请总结上述对话为10个字以内的标题，不需要包含标点符号", "title"),
        ("使用四到五个字直接返回这句话的简要主题，不要解释", "title"),
        ("### Task:\nSummarize the conversation history that will be compacted out of", "summary"),
        ("Progressively summarize the lines of conversation provided, adding onto", "summary"),
        ("Given this talk, rephrase the follow up question to be a standalone question", "queries"),
        ("Your task is to choose and return the correct tool(s) from the list of available tools", "tools"),
        ("You have been given a set of responses from various models to the latest user query", "merge"),
        ("### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history", "tags"),
        (
            "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might ask",
            "follow_ups",
        ),
        (
            "### Task:\nAnalyze the chat history to determine the necessity of generating search queries",
            "queries",
        ),
        ("### Task:\nGenerate a detailed prompt for am image generation task", "image_prompt"),
        ("### Task:\nYou are an autocompletion system. Continue the text", "autocomplete"),
    ],
)
@pytest.mark.parametrize("place", ["question", "instructions"])
def test_errands(text: str, name: str, place: str) -> None:
    texts = {"question": "USER: hello"} | {place: text}
    assert match_background_task(ChatRequest(model="ada", **texts)) == name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        "What is the title of her thesis?",
        "Give me a concise summary of the project.",
        "Which tags does the article on broad themes have?",
        "Does the handbook suggest follow-up questions?",
        "Write a short title for this job posting.",
        "What is the task of the emoji team?",
        "How does the search generate queries?",
        "Is there a conversation about the title of the book?",
        "Give me the title of her article about chat bots.",
        "How do I generate a title for the conversation log?",
        "Please give the name of the person who leads the discussion on maps.",
        "Can you summarise the conversation between her and the museum?",
        "Summarize the discussion of conservation in her titles.",
        "Does the handbook suggest a title for the message to members?",
        "Which thread of the workshop has a title?",
        "Provide a list of the titles she published about the session in Orzan.",
        "What is a follow-up question in the survey?",
        "Create an overview of what the chat says. What is its title?",
        "请问她论文的标题是什么？",
        "对话录的标题怎么写？",
    ],
)
def test_questions(question: str) -> None:
    assert match_background_task(ChatRequest(model="ada", question=question)) is None


@pytest.mark.parametrize(
    "instructions",
    [
        "You are a friendly conversation assistant for members. Give titles in italics.",
        "You are a helpful assistant. Answer in the language of the message.",
        "Respond to the query using the provided context, with inline citations.",
        "You are a friendly, concise voice assistant. Everything you say will be spoken aloud.",
        "If the user asks for it, put a title above the answer.",
    ],
)
def test_the_usual_system_text_of_a_client_is_no_errand(instructions: str) -> None:
    assert match_background_task(ChatRequest(model="ada", question="Who?", instructions=instructions)) is None


def test_a_conversation_quoted_far_below_is_not_looked_at() -> None:
    quoted = "Who? " * 400 + "Generate 1-3 broad tags categorizing the main themes"
    assert match_background_task(ChatRequest(model="ada", question=quoted)) is None
