// The official JavaScript SDK: plain, streaming, and the stream helper.
import OpenAI from "openai";
import { URL_, ask, version } from "./question_runner.mjs";

const client = (q) => new OpenAI({ baseURL: URL_, apiKey: q.key, maxRetries: 0 });
const request = (q) => ({ model: q.model, messages: [{ role: "user", content: q.question }] });
const usage = { stream_options: { include_usage: true } };
const tokens = (u) => (u ? [u.prompt_tokens, u.completion_tokens] : null);

const plain = async (q) => {
  const done = await client(q).chat.completions.create(request(q));
  const [choice] = done.choices;
  return { text: choice.message.content, finish: choice.finish_reason, usage: tokens(done.usage) };
};

const stream = async (q) => {
  const shown = { text: "", finish: null, usage: null };
  for await (const chunk of await client(q).chat.completions.create({ ...request(q), stream: true, ...usage })) {
    for (const choice of chunk.choices) {
      shown.text += choice.delta.content ?? "";
      shown.finish = choice.finish_reason ?? shown.finish;
    }
    shown.usage = tokens(chunk.usage) ?? shown.usage;
  }
  return shown;
};

const helper = async (q) => {
  const done = await client(q).chat.completions.stream({ ...request(q), ...usage }).finalChatCompletion();
  const [choice] = done.choices;
  return { text: choice.message.content, finish: choice.finish_reason, usage: tokens(done.usage) };
};

await ask(version("openai"), { plain, stream, helper });
