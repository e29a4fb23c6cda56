/** Tools and models of Vercel's AI SDK behind hooks. */

import { type ToolSet, asSchema } from "ai";
import { findRun } from "./model.js";
import { type CallContext, NotRun, type Run } from "./run.js";

export { governedModel } from "./model.js";

interface ExecuteOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
}

/**
 * The same tools, each call of which is judged before it runs, and its result before the model
 * reads it. A call that is denied fails with the reason.
 *
 * Without a run, a call belongs to that of the `guard.session(...)` it is made from; outside of one
 * it fails. A tool without `execute` runs elsewhere, where nobody could stop it: TypeError.
 */
export function governed<T extends ToolSet>(tools: T, run?: Run): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, governTool(name, tool, run)]);
  return Object.fromEntries(wrapped) as T;
}

function governTool(name: string, tool: ToolSet[string], run: Run | undefined): unknown {
  const execute = tool.execute?.bind(tool) as ((input: unknown, options: unknown) => unknown) | undefined;
  if (execute === undefined) {
    throw new TypeError(
      `The tool ${name} has no execute: it runs elsewhere, and no hook can stop it. ` +
        "Leave it out of governed(...) if that is what you want",
    );
  }
  return {
    ...tool,
    async execute(input: object, options: ExecuteOptions = {}) {
      const use = async (left: object, context: CallContext) => {
        if (context.changed) await checkInput(tool, left, context);
        return finish(execute(left, options));
      };
      const { toolCallId: id, abortSignal: signal } = options;
      const result = await findRun(run, `The tool ${name}`).call(name, input, use, { id, signal });
      if (result instanceof NotRun) throw result;
      return result;
    },
  };
}

/** What hooks leave of an input is checked as what a model sends. */
async function checkInput(tool: ToolSet[string], input: object, context: CallContext): Promise<void> {
  const checked = await asSchema(tool.inputSchema).validate?.(input);
  if (checked?.success === false) context.refuse(`hooks left an input that it does not take: ${checked.error.message}`);
}

/** The last of the results that a tool yields: those before it would be seen before they are judged. */
async function finish(made: unknown): Promise<unknown> {
  const value = await made;
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const one of value as AsyncIterable<unknown>) last = one;
  return last;
}
