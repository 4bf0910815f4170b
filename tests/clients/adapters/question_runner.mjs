// What the JavaScript adapters share: the questions from the environment, one printed row for each.
import { readFileSync } from "node:fs";

export const URL_ = process.env.FIADOR_URL;

export const version = (name) =>
  JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url))).version;

// Every question in every mode; an exception is a row as well.
export async function ask(version, modes) {
  for (const [name, question] of Object.entries(JSON.parse(process.env.FIADOR_QUESTIONS))) {
    for (const [mode, run] of Object.entries(modes)) {
      let shown = { text: "", finish: null, usage: null };
      let error = "";
      try {
        shown = await run(question);
      } catch (fault) {
        error = `${fault.name}: ${fault.message}`;
      }
      console.log("row " + JSON.stringify({ version, question: name, mode, error, ...shown }));
    }
  }
}
