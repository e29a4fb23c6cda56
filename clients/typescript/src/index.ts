/** Have hooks judge what an agent does: see docs/typescript.md of Amplifier Hooks. */

export { Guard, type GuardOptions, type SessionOptions } from "./guard.js";
export { type Note, type Question, type Shown } from "./judgement.js";
export {
  type CallContext,
  type CallOptions,
  type ModelCall,
  type ModelReply,
  NotRun,
  Refused,
  Run,
  type Tool,
  currentRun,
} from "./run.js";
export { type EndReason } from "./session.js";
