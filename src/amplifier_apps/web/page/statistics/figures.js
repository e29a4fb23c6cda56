// @ts-check
// Figures of hooks, added up for charts and tables.

/** @typedef {import("../types.js").HookFigures} HookFigures */
/** @typedef {{start: number, counts: Record<string, number>, calls: number, milliseconds: number, slowest: number}} Bucket */

const HOUR = 3600;
const MOST_BUCKETS = 60;

/** How actions are stacked, from the ground up; others follow. */
export const ACTIONS = ["continue", "inject_context", "modify", "ask_user", "deny"];

/** @param {HookFigures[]} figures */
export function listHooks(figures) {
  return [...new Set(figures.map((one) => one.hook))].sort();
}

/**
 * The time since `hours` ago in equal parts, each with what fell into it.
 * @param {HookFigures[]} figures
 * @param {number} hours
 * @param {number} now  seconds since 1970
 * @returns {Bucket[]}
 */
export function fillBuckets(figures, hours, now) {
  const size = Math.ceil(hours / MOST_BUCKETS) * HOUR;
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
  return { start, counts: {}, calls: 0, milliseconds: 0, slowest: 0 };
}

/**
 * @param {Bucket} bucket
 * @param {HookFigures} figures
 */
function addTo(bucket, figures) {
  bucket.counts[figures.action] = (bucket.counts[figures.action] ?? 0) + figures.count;
  bucket.calls += figures.count;
  bucket.milliseconds += figures.milliseconds;
  bucket.slowest = Math.max(bucket.slowest, figures.slowest);
}
