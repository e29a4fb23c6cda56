/** A loop with OpenAI's client: hooks judge each request, each call and the answer. */

import { exec } from "node:child_process";
import { promisify } from "node:util";
import { Guard } from "@amplifier-hooks/client";
import OpenAI from "openai";

type Message = OpenAI.ChatCompletionMessageParam;

const client = new OpenAI();
const guard = new Guard();
const parameters = { type: "object", properties: { command: { type: "string" } } };
const shellTool = { type: "function" as const, function: { name: "shell", parameters } };

async function shell({ command }: { command: string }): Promise<string> {
  const { stdout, stderr } = await promisify(exec)(command);
  return stdout + stderr;
}

async function work(prompt: string): Promise<string> {
  return guard.session(prompt, async (run) => {
    const messages: Message[] = [{ role: "user", content: run.prompt }];
    for (;;) {
      const completion = await client.chat.completions.create({
        model: "gpt-5",
        messages: await run.messages(messages),
        tools: [shellTool],
      });
      const reply = completion.choices[0]!.message;
      messages.push(reply);
      if (!reply.tool_calls) return run.answer(reply.content ?? "");
      for (const call of reply.tool_calls) {
        if (call.type !== "function") continue;
        const result = await run.call("shell", call.function.arguments, shell, { id: call.id });
        messages.push({ role: "tool", tool_call_id: call.id, content: String(result) });
      }
    }
  });
}

console.log(await work(process.argv.at(-1)!));
