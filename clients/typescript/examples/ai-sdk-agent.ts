/** An agent of the AI SDK: hooks judge its requests, its replies and its calls. */

import { appendFile, readFile } from "node:fs/promises";
import { openai } from "@ai-sdk/openai";
import { Guard } from "@amplifier-hooks/client";
import { governed, governedModel } from "@amplifier-hooks/client/ai-sdk";
import { ToolLoopAgent, tool } from "ai";
import { z } from "zod";

const agent = new ToolLoopAgent({
  model: governedModel(openai("gpt-5")),
  tools: governed({
    Read: tool({
      description: "Read a file",
      inputSchema: z.object({ file_path: z.string() }),
      execute: ({ file_path }) => readFile(file_path, "utf8"),
    }),
    Append: tool({
      description: "Add a line to a file",
      inputSchema: z.object({ file_path: z.string(), line: z.string() }),
      execute: ({ file_path, line }) => appendFile(file_path, `${line}\n`),
    }),
  }),
});

const guard = new Guard();
const answer = await guard.session(process.argv.at(-1)!, async (run) => {
  const { text } = await agent.generate({ prompt: run.prompt });
  return run.answer(text);
});
console.log(answer);
