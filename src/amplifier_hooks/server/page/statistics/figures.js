// @ts-check
// Figures of hooks, added up for charts and tables.

/** @typedef {import("../types.js").HookFigures} HookFigures */
/** @typedef {{start: number, counts: Record<string, number>, calls: number, milliseconds: number, slowest: number,
 *   failures: number, timeouts: number, handed_over: number, not_run: number, not_known: number,
 *   contradicted: number, timed: number, within: number[], shadowed: Record<string, number>}} Bucket */

const HOUR = 3600;
const MOST_BUCKETS = 60;

/** What stands before an action that shadow mode kept from happening. */
const SHADOW = "shadow:";

/** Milliseconds: for each it is known how many calls took no longer. */
const BOUNDS = /** @type {const} */ ([1, 5, 25, 100, 500, 2500]);

const SUMS = /** @type {const} */ (["failures", "timeouts", "timed", "handed_over", "not_run", "not_known", "contradicted"]);

/** How actions are stacked, from the ground up; others follow. */
export const ACTIONS = ["continue", "inject_context", "modify", "ask_user", "deny"];

/** @param {HookFigures[]} figures */
export function listHooks(figures) {
  return [...new Set(figures.map((one) => one.hook))].sort();
}

/**
 * How many hours make a column of a chart.
 * @param {number} hours
 */
export function chooseBucket(hours) {
  return Math.ceil(hours / MOST_BUCKETS);
}

/**
 * The time since `hours` ago in equal parts, each with what fell into it.
 * @param {HookFigures[]} figures
 * @param {number} hours
 * @param {number} now  seconds since 1970
 * @returns {Bucket[]}
 */
export function fillBuckets(figures, hours, now) {
  const size = chooseBucket(hours) * HOUR;
  const end = Math.ceil(now / size) * size;
  const count = Math.ceil((hours * HOUR) / size);
  const buckets = Array.from({ length: count }, (_, at) => makeBucket(end - (count - at) * size));
  for (const one of figures) {
    const bucket = buckets[Math.floor((one.hour - buckets[0].start) / size)];
    if (bucket) addTo(bucket, one);
  }
  return buckets;
}

/** @param {HookFigures[]} figures */
export function sumUp(figures) {
  const total = makeBucket(0);
  for (const one of figures) addTo(total, one);
  return total;
}

/**
 * The shortest known time that so large a share of the calls did not exceed, in words.
 * @param {Bucket} total
 * @param {number} share
 */
export function describeQuantile(total, share) {
  const at = total.within.findIndex((one) => one >= share * total.timed);
  return at < 0 ? `over ${BOUNDS[BOUNDS.length - 1]} ms` : `within ${BOUNDS[at]} ms`;
}

/** @param {Record<string, number>[]} counts */
export function listActions(counts) {
  const found = new Set(counts.flatMap((one) => Object.keys(one)));
  const others = [...found].filter((one) => !ACTIONS.includes(one)).sort();
  return [...ACTIONS.filter((one) => found.has(one)), ...others];
}

/**
 * @param {number} start
 * @returns {Bucket}
 */
function makeBucket(start) {
  const questions = { handed_over: 0, not_run: 0, not_known: 0, contradicted: 0 };
  const none = { calls: 0, milliseconds: 0, slowest: 0, failures: 0, timeouts: 0, timed: 0, ...questions };
  return { start, counts: {}, ...none, within: BOUNDS.map(() => 0), shadowed: {} };
}

/**
 * @param {Bucket} bucket
 * @param {HookFigures} figures
 */
function addTo(bucket, figures) {
  const shadowed = figures.action.startsWith(SHADOW) ? figures.action.slice(SHADOW.length) : "";
  // What shadow mode kept from happening had the effect of a continue.
  if (figures.count) count(bucket.counts, shadowed ? "continue" : figures.action, figures.count);
  if (shadowed) count(bucket.shadowed, shadowed, figures.count);
  for (const key of SUMS) bucket[key] += figures[key];
  for (const [at, bound] of BOUNDS.entries()) bucket.within[at] += figures[`within_${bound}`];
  bucket.calls += figures.count;
  bucket.milliseconds += figures.milliseconds;
  bucket.slowest = Math.max(bucket.slowest, figures.slowest);
}

/**
 * @param {Record<string, number>} counts
 * @param {string} name
 * @param {number} number
 */
function count(counts, name, number) {
  counts[name] = (counts[name] ?? 0) + number;
}
