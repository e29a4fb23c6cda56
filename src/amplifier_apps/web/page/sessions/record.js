// @ts-check
// One record of a trail in words: what happened, which hook said what.

import { make, showText } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { formatJson } from "../kit/json.js";
import { formatClock } from "../kit/words.js";
import { showCode } from "../approvals/long_text.js";

/** @typedef {import("../types.js").SessionRecord} SessionRecord */

const QUIET = new Set(["hook_started", "hook_finished", "checkpoint", "writer_connected", "log_opened", "sealed"]);

/** @type {Record<string, (body: any) => string>} */
const WORDS = {
  tool_started: (body) => `${body.tool} starts${body.gated ? ", as allowed" : ""}`,
  tool_finished: (body) => `${body.tool} ${describeOutcome(body)} after ${body.ms} ms`,
  injection_accepted: (body) => `Injected: ${body.text ?? ""}`,
  injection_dropped: (body) => `Not injected: ${body.why ?? ""}`,
  approval_requested: (body) => `Asked: ${body.prompt ?? ""}`,
  approval_decided: (body) => `Decided: ${[body.decision ?? body.answer, body.by && `by ${body.by}`].filter(Boolean).join(" ")}`,
  approval_expired: () => "Nobody answered in time",
  approval_cancelled: () => "The question was withdrawn",
  approval_cache_hit: (body) => `Remembered answer used: ${body.decision ?? ""}`,
  approval_cache_stored: (body) => `Answer remembered: ${body.decision ?? ""}`,
  digest_mismatch: () => "The input is not what was approved; the call was refused",
  user_message: (body) => body.text ?? "",
  output_suppressed: () => "Output was suppressed",
  hook_failed: (body) => `Failed: ${body.error ?? ""}`,
  error: (body) => body.error ?? body.why ?? "",
  session_started: (body) => `The session started${body.shadow ? " in shadow mode: hooks have no effect" : ""}`,
  shadowed: (body) => `Shadow: ${body.would ?? body.action}`,
  session_ended: (body) => `The session ended: ${body.reason ?? ""}`,
};

/**
 * Whether a record tells more than that nobody had anything to say.
 * @param {SessionRecord} record
 */
export function isTelling(record) {
  if (QUIET.has(record.type)) return false;
  if (record.type !== "dispatch") return true;
  return record.body.action !== "continue" || listAnswers(record).some((one) => one.action !== "continue" || one.error);
}

/** @param {SessionRecord} record */
export function makeRecord(record) {
  const action = findAction(record);
  return make(
    "li",
    { class: `record ${action}` },
    make("time", {}, formatClock(record.time)),
    make("div", { class: "what" }, make("p", {}, make("b", {}, nameRecord(record)), " ", showText(getFirstLine(describe(record)))), showAnswers(record), showBody(record)),
  );
}

/** @param {SessionRecord} record */
function nameRecord(record) {
  const name = record.type === "dispatch" || record.type === "action_resolved" ? record.event : record.type.replaceAll("_", " ");
  return record.hook ? `${name} · ${record.hook}` : name;
}

/** @param {SessionRecord} record */
function describe(record) {
  const { body, type } = record;
  if (type === "action_resolved") return "";
  if (type !== "dispatch") return String(WORDS[type]?.(body) ?? "");
  const data = body.data ?? {};
  const input = data.tool_input ?? {};
  const about = [data.tool_name, input.command ?? input.file_path ?? data.prompt].filter((one) => typeof one === "string");
  return about.join(": ");
}

/** @param {SessionRecord} record */
function findAction({ type, body }) {
  if (type === "hook_failed" || type === "error" || type === "digest_mismatch") return "deny";
  if (type === "injection_accepted") return "inject_context";
  if (type.startsWith("approval")) return "ask_user";
  return typeof body.action === "string" ? body.action.replace(/\W/g, "") : "plain";
}

/**
 * @param {SessionRecord} record
 * @returns {any[]}
 */
function listAnswers(record) {
  if (record.type === "action_resolved") return [record.body];
  return Array.isArray(record.body.hooks) ? record.body.hooks.filter((one) => one && typeof one === "object") : [];
}

/** @param {SessionRecord} record */
function showAnswers(record) {
  const answers = listAnswers(record);
  return answers.length > 0 && make("ul", { class: "answers" }, answers.map(showAnswer));
}

/** @param {any} answer */
function showAnswer(answer) {
  const action = String(answer.action ?? "");
  const why = answer.error ?? answer.reason ?? "";
  const spent = typeof answer.ms === "number" ? `${answer.ms} ms` : "";
  return make("li", {}, make("span", { class: `action ${action.replace(/\W/g, "")}` }, action), ` ${answer.hook ?? ""} `, make("span", { class: "quiet" }, spent), why && make("span", { class: "why" }, getFirstLine(String(why), 400)));
}

/** @param {SessionRecord} record */
function showBody(record) {
  if (!Object.keys(record.body).length) return null;
  const details = make("details", {}, make("summary", {}, `Record ${record.number}`));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length < 2) details.append(showCode(formatJson(record), `Record ${record.number}`));
  });
  return details;
}

/** @param {any} body */
function describeOutcome(body) {
  if (body.outcome !== "returned") return String(body.outcome);
  return body.success === false ? "failed" : "succeeded";
}
