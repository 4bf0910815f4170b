// Vercel's AI SDK, with either provider: `node ai_sdk.mjs openai|compatible`.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { URL_, ask, version } from "./question_runner.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const compatible = process.argv[2] === "compatible";

const model = (q) =>
  compatible
    ? createOpenAICompatible({ name: "fiador", baseURL: URL_, apiKey: q.key, includeUsage: true })(q.model)
    : createOpenAI({ baseURL: URL_, apiKey: q.key }).chat(q.model);
const request = (q) => ({ model: model(q), prompt: q.question, maxRetries: 0 });
const tokens = (u) => (u?.inputTokens === undefined ? null : [u.inputTokens, u.outputTokens]);

const plain = async (q) => {
  const done = await generateText(request(q));
  return { text: done.text, finish: done.finishReason, usage: tokens(done.usage) };
};

const stream = async (q) => {
  let fault;
  const done = streamText({ ...request(q), onError: ({ error }) => (fault = error) });
  let text = "";
  for await (const piece of done.textStream) text += piece;
  if (fault) throw fault;
  return { text, finish: await done.finishReason, usage: tokens(await done.usage) };
};

await ask(version(compatible ? "@ai-sdk/openai-compatible" : "@ai-sdk/openai"), { plain, stream });
