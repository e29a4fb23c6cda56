// @ts-check
// Who asks, why, where, and who may allow it.

import { make } from "../kit/dom.js";
import { linkTo } from "../kit/router.js";
import { countNoun, formatMoment } from "../kit/words.js";
import { readReason } from "./prompt.js";

/** @typedef {import("../types.js").Approval} Approval */

/**
 * @param {Approval} approval
 * @param {boolean} linked  whether the session is a link; from a dialog nobody should be led away
 */
export function showFacts(approval, linked) {
  const { request } = approval;
  const event = request.event ? ` (${request.event})` : "";
  /** @type {[string, import("../kit/dom.js").Child][]} */
  const facts = [
    ["Asked by", `${request.hook}${event}`],
    ["Because", readReason(request)],
    ["Session", linked ? linkSession(request.session_id) : request.session_id],
    ["Machine", request.machine],
    ["Folder", request.working_dir],
    ["Requester", request.requester],
    ["Asked at", formatMoment(approval.created)],
    ["Needs", describeRequirement(approval)],
    ["Allowed so far", approval.votes.map((one) => `${one.by} (${one.option})`).join(", ")],
  ];
  const shown = facts.filter(([, value]) => value);
  return make("dl", { class: "facts" }, ...shown.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** @param {Approval} approval */
export function showNotes(approval) {
  const { notes } = approval.request;
  return notes.length > 0 && make("ul", { class: "notes" }, ...notes.map((one) => make("li", {}, one)));
}

/** @param {string} id */
function linkSession(id) {
  return id && make("a", { href: linkTo("sessions", id) }, id);
}

/** @param {Approval} approval */
function describeRequirement(approval) {
  const { persons, requester_may_approve, scope } = approval.request.requirement;
  const parts = [];
  if (persons > 1) parts.push(`${countNoun(persons, "person").replace("persons", "people")} who allow it; one is enough to refuse`);
  if (scope) parts.push(`the right “${scope}” to allow it`);
  if (!requester_may_approve) parts.push("somebody other than who requested it");
  return parts.join("; ");
}
