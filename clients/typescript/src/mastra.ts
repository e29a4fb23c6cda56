/** Tools and models of Mastra behind hooks. */

import { findRun } from "./model.js";
import { NotRun, type Run } from "./run.js";

export { governedModel } from "./model.js";

/** A tool made with `createTool`, or one of the AI SDK. */
export interface MastraTool {
  readonly id?: string;
  // Each tool has input and context of its own.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  execute?: ((input: any, context: any) => any) | undefined;
}

interface Context {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
  readonly agent?: { readonly toolCallId?: string };
}

/**
 * The same tools, each call of which is judged before it runs, and its result before the model
 * reads it. A call that is denied fails with the reason.
 *
 * Without a run, a call belongs to that of the `guard.session(...)` it is made from; outside of one
 * it fails. A tool without `execute` runs elsewhere, where nobody could stop it: TypeError.
 */
export function governed<T extends Record<string, MastraTool>>(tools: T, run?: Run): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, governTool(name, tool, run)]);
  return Object.fromEntries(wrapped) as T;
}

function governTool(name: string, tool: MastraTool, run: Run | undefined): MastraTool {
  const execute = tool.execute?.bind(tool);
  if (execute === undefined) {
    throw new TypeError(
      `The tool ${name} has no execute: it runs elsewhere, and no hook can stop it. ` +
        "Leave it out of governed(...) if that is what you want",
    );
  }
  const made = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool)) as MastraTool;
  made.execute = async (input: object, context: Context = {}) => {
    const id = context.agent?.toolCallId ?? context.toolCallId;
    const options = { id, signal: context.abortSignal };
    // Mastra's own execute checks what hooks left of the input against the tool's schema.
    const use = (left: object): unknown => execute(left, context);
    const result = await findRun(run, `The tool ${name}`).call(name, input, use, options);
    if (result instanceof NotRun) throw result;
    return result;
  };
  return made;
}
