// LangChain's ChatOpenAI in JavaScript.
import { ChatOpenAI } from "@langchain/openai";
import { URL_, ask, version } from "./question_runner.mjs";

const model = (q) =>
  new ChatOpenAI({ model: q.model, apiKey: q.key, maxRetries: 0, streamUsage: true, configuration: { baseURL: URL_ } });
const shown = (message) => {
  const usage = message.usage_metadata;
  return {
    text: message.content,
    finish: message.response_metadata.finish_reason,
    usage: usage ? [usage.input_tokens ?? 0, usage.output_tokens ?? 0] : null, // it leaves zeros out
  };
};

const plain = async (q) => shown(await model(q).invoke(q.question));

const stream = async (q) => {
  let whole;
  for await (const chunk of await model(q).stream(q.question)) whole = whole ? whole.concat(chunk) : chunk;
  return shown(whole);
};

await ask(version("@langchain/openai"), { plain, stream });
