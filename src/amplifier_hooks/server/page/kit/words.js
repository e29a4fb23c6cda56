// @ts-check
// Times, counts and states in words.

/** @typedef {import("../types.js").Approval} Approval */

const UNITS = /** @type {const} */ ([
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
]);
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const COUNT = new Intl.NumberFormat("en-GB");

/** @type {Record<string, string>} */
const STATUS = {
  pending: "Waiting",
  approved: "Allowed",
  denied: "Refused",
  expired: "Expired",
  cancelled: "Withdrawn",
  executing: "Running",
  executed: "Done",
  failed: "Failed",
  unknown: "Outcome unknown",
};

/** @type {Record<string, string>} */
const VIA = { web: "in the browser", terminal: "at the terminal", cli: "by command line", api: "through the API" };

/** @param {string} status */
export function nameStatus(status) {
  return STATUS[status] ?? status;
}

/** @param {number} count */
export function formatCount(count) {
  return COUNT.format(count);
}

/**
 * "1 day", "3 days".
 * @param {number} count
 * @param {string} noun
 */
export function countNoun(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** @param {number} seconds since 1970 */
export function formatMoment(seconds) {
  return MOMENT.format(seconds * 1000);
}

/** @param {number} seconds since 1970 */
export function formatClock(seconds) {
  return CLOCK.format(seconds * 1000);
}

/**
 * A duration as its largest unit: "3 hours".
 * @param {number} seconds
 */
export function formatDuration(seconds) {
  for (const [unit, size] of UNITS) {
    if (seconds >= size) return countNoun(Math.floor(seconds / size), unit);
  }
  return countNoun(Math.max(0, Math.floor(seconds)), "second");
}

/** @param {number} seconds since 1970 */
export function formatAge(seconds) {
  const age = Date.now() / 1000 - seconds;
  if (age < 5) return "just now";
  return age < 86_400 ? `${formatDuration(age)} ago` : formatMoment(seconds);
}

/**
 * What is left, as a clock shows it: 4:59, 1:02:03, or days.
 * @param {number} milliseconds
 */
export function formatTimeLeft(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds >= 2 * 86_400) return formatDuration(seconds);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (!parts[0]) parts.shift();
  return parts.map((part, at) => String(part).padStart(at ? 2 : 1, "0")).join(":");
}

/** @param {string} via */
function nameChannel(via) {
  return VIA[via] ? ` ${VIA[via]}` : "";
}

/**
 * How an approval ended, or stands.
 * @param {Approval} approval
 */
export function describeEnd(approval) {
  const who = `${approval.decided_by || "somebody"}${nameChannel(approval.decided_via)}`;
  const answer = approval.option ? `: ${approval.option}` : "";
  switch (approval.status) {
    case "pending":
      return "Waiting for an answer";
    case "denied":
      return `Refused by ${who}${answer}`;
    case "expired":
      return approval.request.default === "allow"
        ? "Nobody answered in time; allowed by default"
        : "Nobody answered in time; refused";
    case "cancelled":
      return approval.decided_by
        ? `Answered by ${approval.decided_by}${nameChannel(approval.decided_via || "terminal")}${answer}`
        : "The agent stopped asking";
    default:
      return `Allowed by ${who}${answer}${describeOutcome(approval.status)}`;
  }
}

/** @param {string} status */
function describeOutcome(status) {
  if (status === "executing") return ". It is running";
  if (status === "executed") return ". It ran";
  if (status === "failed") return ". It ran and failed";
  return status === "unknown"
    ? ". The agent was lost while it ran: nobody knows whether it finished, and it will not run again"
    : "";
}
