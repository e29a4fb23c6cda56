// @ts-check
// One approval in a list.

import { make } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { linkTo } from "../kit/router.js";
import { describeEnd, formatAge, nameStatus } from "../kit/words.js";
import { readPrompt } from "./prompt.js";
import { makeTimeLeft } from "./time_left.js";

/** @typedef {import("../types.js").Approval} Approval */

/**
 * @param {Approval} approval
 * @param {...import("../kit/dom.js").Child} before  such as a box to select it
 */
export function makeCard(approval, ...before) {
  const { request } = approval;
  const headline = getFirstLine(readPrompt(request).headline);
  const waits = approval.status === "pending";
  return make(
    "li",
    { class: `card ${approval.status}` },
    ...before,
    make(
      "div",
      { class: "about" },
      make("a", { class: "headline", href: linkTo("approvals", approval.id) }, headline),
      showGist(approval),
      make("p", { class: "meta" }, listOrigins(approval).join(" · ")),
      !waits && make("p", { class: "how" }, describeEnd(approval)),
      approval.comment && make("p", { class: "comment" }, getFirstLine(approval.comment)),
    ),
    make("div", { class: "side" }, waits ? makeTimeLeft(approval) : makeChip(approval.status), make("span", { class: "quiet" }, formatAge(approval.decided_at ?? approval.created))),
  );
}

/** @param {string} status */
export function makeChip(status) {
  return make("span", { class: `chip ${status}` }, nameStatus(status));
}

/**
 * What a text in the search field is compared with.
 * @param {Approval} approval
 */
export function collectText(approval) {
  const { request } = approval;
  const input = JSON.stringify(request.tool_input).slice(0, 20_000);
  return [request.prompt, request.reason, input, ...listOrigins(approval), request.session_id, request.requester]
    .concat(approval.decided_by, approval.comment)
    .join("\n")
    .toLowerCase();
}

/** @param {Approval} approval */
function listOrigins({ request }) {
  return [request.tool_name, request.hook, request.machine, request.working_dir].filter(Boolean);
}

/** @param {Approval} approval */
function showGist({ request }) {
  const { command, file_path: path } = request.tool_input;
  const gist = typeof command === "string" ? command : typeof path === "string" ? path : "";
  return gist && make("code", { class: "gist" }, getFirstLine(gist, 160));
}
