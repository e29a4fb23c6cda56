/** Models that say what a script says. */

import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";

type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

export interface Call {
  id: string;
  name: string;
  input: unknown;
}
export type Step = string | Call[];

export const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 },
};

export function describe(step: Step) {
  const content =
    typeof step === "string"
      ? [{ type: "text" as const, text: step }]
      : step.map((call) => ({
          type: "tool-call" as const,
          toolCallId: call.id,
          toolName: call.name,
          input: typeof call.input === "string" ? call.input : JSON.stringify(call.input),
        }));
  const unified = typeof step === "string" ? ("stop" as const) : ("tool-calls" as const);
  return { content, finishReason: { unified, raw: undefined } };
}

/** A model that says what a script says, whole or in pieces. */
export function scripted(...script: Step[]): MockLanguageModelV4 {
  const left = [...script];
  const next = () => describe(left.shift() ?? "Nothing left.");
  return new MockLanguageModelV4({
    doGenerate: async () => ({ ...next(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = next();
      const parts: StreamPart[] = [{ type: "stream-start", warnings: [] }];
      for (const part of content) {
        if (part.type === "text") {
          const deltas = part.text.split(/(?<= )/);
          parts.push({ type: "text-start", id: "1" });
          parts.push(...deltas.map((delta) => ({ type: "text-delta" as const, id: "1", delta })));
          parts.push({ type: "text-end", id: "1" });
        } else {
          parts.push({ type: "tool-input-start", id: part.toolCallId, toolName: part.toolName });
          parts.push({ type: "tool-input-delta", id: part.toolCallId, delta: part.input });
          parts.push({ type: "tool-input-end", id: part.toolCallId }, part);
        }
      }
      parts.push({ type: "finish", finishReason, usage });
      return { stream: simulateReadableStream({ chunks: parts }) };
    },
  });
}
