// @ts-check
// One record of a trail in words: what happened, which hook said what.

import { make, showText } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { formatJson } from "../kit/json.js";
import { formatClock } from "../kit/words.js";
import { showCode } from "../approvals/long_text.js";

/** @typedef {import("../types.js").SessionRecord} SessionRecord */

const QUIET = new Set(["hook_started", "hook_finished", "hook_registered", "hook_unregistered", "checkpoint", "writer_connected", "log_opened", "sealed"]);

/** @type {Record<string, (body: any) => string>} */
const WORDS = {
  tool_started: (body) => `${body.tool} starts${body.gated ? ", as allowed" : ""}`,
  tool_finished: (body) => `${body.tool} ${describeOutcome(body)} after ${body.ms} ms`,
  injection_accepted: (body) => `Injected: ${body.text ?? ""}`,
  injection_dropped: (body) => `Not injected: ${body.why ?? ""}`,
  injection_unused: (body) => `The agent was not told: ${body.why ?? ""}`,
  approval_requested: (body) => `Asked: ${body.prompt ?? ""}`,
  approval_handed_over: (body) => sayHandedOver(body.to),
  approval_outcome: (body) => (body.state === "allowed" ? `Allowed where ${body.to} asked: it ran` : `Did not run after ${body.to} was to ask: ${body.evidence ?? ""}`),
  denial_contradicted: (body) => `${body.tool} ran although it was denied: ${body.agent} shows ${body.shown === "failure" ? "that it failed" : "a result"}`,
  approval_decided: (body) => (isHandedOver(body) ? sayHandedOver(body.by.slice(OLDER_HANDOVER.length)) : sayDecided(body)),
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
  guard_alarm: (body) => `The guard (${body.kind ?? ""}): ${[body.found ?? []].flat().join("; ")}`,
  answer_ignored: (body) => `No effect of ${body.action ?? "an answer"}: ${body.why ?? ""}`,
  session_ended: (body) => `The session ended: ${body.reason ?? ""}`,
};

/** Who "decided", in older records, what was only handed over. */
const OLDER_HANDOVER = "rule:handed over to ";

/** @param {any} body */
function isHandedOver(body) {
  return typeof body.by === "string" && body.by.startsWith(OLDER_HANDOVER);
}

/** @param {unknown} to */
function sayHandedOver(to) {
  return `Handed over to ${to}, which asks its person`;
}

/** @param {any} body */
function sayDecided(body) {
  return `Decided: ${[body.decision ?? body.answer, body.by && `by ${body.by}`].filter(Boolean).join(" ")}`;
}

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
  if (type === "hook_failed" || type === "error" || type === "digest_mismatch" || type === "denial_contradicted") return "deny";
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
