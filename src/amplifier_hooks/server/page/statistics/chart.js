// @ts-check
// Charts as inline SVG, each with the same figures as a table.

import { draw, make } from "../kit/dom.js";
import { formatCount, formatMoment } from "../kit/words.js";

const WIDTH = 600;
const HEIGHT = 120;

/**
 * Stacked columns.
 * @param {{start: number, counts: Record<string, number>}[]} buckets
 * @param {string[]} series  from the ground up
 * @param {string} label
 */
export function drawColumns(buckets, series, label) {
  const top = Math.max(1, ...buckets.map((one) => sum(Object.values(one.counts))));
  const step = WIDTH / buckets.length;
  const columns = buckets.flatMap((bucket, at) => {
    let height = 0;
    return series.filter((name) => bucket.counts[name]).map((name) => {
      const size = (bucket.counts[name] / top) * HEIGHT;
      height += size;
      const words = `${formatMoment(bucket.start)}: ${formatCount(bucket.counts[name])} × ${name}`;
      return drawBar(at * step, HEIGHT - height, step, size, name, words);
    });
  });
  return makeFrame(label, formatCount(top), columns, buckets);
}

/**
 * A line for each series over the same buckets; buckets without a value leave a gap.
 * @param {{start: number}[]} buckets
 * @param {[string, (number | null)[]][]} series
 * @param {string} label
 * @param {string} unit
 */
export function drawLines(buckets, series, label, unit) {
  const values = series.flatMap(([, all]) => all).filter((one) => one !== null);
  const top = Math.max(0.001, ...values);
  const step = WIDTH / buckets.length;
  const marks = series.flatMap(([name, all]) =>
    all.flatMap((value, at) => {
      if (value === null) return [];
      const y = HEIGHT - (value / top) * (HEIGHT - 6) - 3;
      const x = (at + 0.5) * step;
      const words = draw("title", {}, `${formatMoment(buckets[at].start)}: ${formatNumber(value)} ${unit} ${name}`);
      const before = at > 0 ? all[at - 1] : null;
      const dot = draw("path", { class: `dot ${name}`, d: `M${x} ${y}h0` }, words);
      if (before === null) return [dot];
      const from = HEIGHT - (before / top) * (HEIGHT - 6) - 3;
      return [draw("line", { class: `line ${name}`, x1: x - step, y1: from, x2: x, y2: y }), dot];
    }),
  );
  return makeFrame(label, `${formatNumber(top)} ${unit}`, marks, buckets);
}

/**
 * One bar, divided.
 * @param {[string, number][]} parts
 * @param {string} label
 */
export function drawShares(parts, label) {
  const all = sum(parts.map(([, count]) => count)) || 1;
  let x = 0;
  const bars = parts.map(([name, count]) => {
    const width = (count / all) * WIDTH;
    x += width;
    return drawBar(x - width, 0, width, 16, name, `${formatCount(count)} ${name}`);
  });
  return draw("svg", { class: "chart shares", viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...bars);
}

/**
 * The figures of a chart for who cannot see it, or wants them exactly.
 * @param {string} caption
 * @param {string[]} columns
 * @param {(string | number)[][]} rows
 */
export function makeTable(caption, columns, rows) {
  const head = make("tr", {}, ...columns.map((one) => make("th", { scope: "col" }, one)));
  const body = rows.map(([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((one) => make("td", {}, one))));
  const table = make("table", {}, make("caption", { class: "unseen" }, caption), make("thead", {}, head), make("tbody", {}, ...body));
  return make("details", { class: "figures" }, make("summary", {}, `${caption}: table`), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, table));
}

/** @param {string[]} names */
export function makeLegend(names) {
  return make("ul", { class: "legend" }, ...names.map((one) => make("li", { class: one.replace(/\W/g, "") }, one.replaceAll("_", " "))));
}

/** @param {number} value */
export function formatNumber(value) {
  return value >= 100 ? formatCount(Math.round(value)) : String(Number(value.toPrecision(2)));
}

/**
 * @param {string} label
 * @param {string} top
 * @param {Element[]} marks
 * @param {{start: number}[]} buckets
 */
function makeFrame(label, top, marks, buckets) {
  const ground = draw("line", { class: "ground", x1: 0, y1: HEIGHT, x2: WIDTH, y2: HEIGHT });
  const chart = draw("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...marks, ground);
  const axis = make("div", { class: "axis", "aria-hidden": "true" }, make("span", {}, formatMoment(buckets[0].start)), make("span", {}, `top: ${top}`), make("span", {}, "now"));
  return make("div", { class: "plot" }, chart, axis);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} name
 * @param {string} words
 */
function drawBar(x, y, width, height, name, words) {
  const gap = Math.min(2, width / 5);
  const attributes = { class: `bar ${name.replace(/\W/g, "")}`, x: x + gap / 2, y, width: Math.max(0, width - gap), height };
  return draw("rect", attributes, draw("title", {}, words));
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, one) => total + one, 0);
}
