// @ts-check
// <statistics-view>: what each hook answered, how long it took, and how often people overruled it.

import { make } from "../kit/dom.js";
import { ListState } from "../kit/list_state.js";
import { View } from "../kit/view.js";
import { countNoun, formatCount, formatMoment } from "../kit/words.js";
import { get } from "../link/api.js";
import { model } from "../link/model.js";
import { drawColumns, drawLines, drawShares, formatNumber, makeLegend, makeTable } from "./chart.js";
import { chooseBucket, describeQuantile, fillBuckets, listActions, listHooks, sumUp } from "./figures.js";

/** @typedef {import("../types.js").HookFigures} HookFigures */
/** @typedef {import("../types.js").Overruling} Overruling */

const SPANS = /** @type {[number, string][]} */ ([
  [24, "Last 24 hours"],
  [7 * 24, "Last 7 days"],
  [30 * 24, "Last 30 days"],
]);

class StatisticsView extends View {
  #span = make("select", { "aria-label": "Time" }, ...SPANS.map(([hours, name]) => make("option", { value: hours }, name)));
  #note = make("p", { class: "error", role: "status" });
  #content = make("div", { class: "hooks" });
  #state = new ListState(() => this.#load());

  show() {
    const heading = make("div", { class: "heading" }, make("h1", { tabindex: -1 }, "Statistics"), this.#span);
    this.replaceChildren(heading, this.#state.element, this.#note, this.#content);
    this.listen(this.#span, "change", () => {
      // Figures of another time would stand below the name of this one.
      this.#content.replaceChildren();
      this.#note.replaceChildren();
      this.#load();
    });
    this.listen(model.live, "state", () => this.#state.hasFailed && model.live.isOpen && this.#load());
    this.repeat(60_000, () => this.#load());
    this.#load();
  }

  async #load() {
    const hours = Number(this.#span.value);
    if (!this.#content.children.length) this.#state.showLoading();
    try {
      const { figures, overrulings, cut, complete_since } = await get("/statistics", { hours, bucket: chooseBucket(hours) }, this.life.signal);
      if (hours !== Number(this.#span.value)) return;
      this.#showFigures(figures, overrulings, hours);
      this.#note.textContent = cut ? `There are more figures than can be shown: these are all since ${formatMoment(complete_since)}.` : "";
    } catch (error) {
      if (!this.life.signal.aborted && hours === Number(this.#span.value)) this.#state.showFailure(error);
    }
  }

  /**
   * @param {HookFigures[]} figures
   * @param {Overruling[]} overrulings
   * @param {number} hours
   */
  #showFigures(figures, overrulings, hours) {
    const opened = new Set([...this.querySelectorAll("details[open]")].map((one) => one.getAttribute("data-key")));
    const hooks = [...new Set([...listHooks(figures), ...overrulings.map((one) => one.hook)])].sort();
    const cards = hooks.map((hook) => {
      const own = figures.filter((one) => one.hook === hook);
      return makeCard(hook, own, overrulings.find((one) => one.hook === hook), hours);
    });
    this.#content.replaceChildren(...cards);
    if (cards.length) this.#state.hide();
    else this.#state.showEmpty("No figures yet", "They come from the records that agents send.");
    for (const [at, one] of this.querySelectorAll("details").entries()) {
      one.dataset.key = String(at);
      one.open = opened.has(String(at));
    }
  }
}

/**
 * @param {string} hook
 * @param {HookFigures[]} figures
 * @param {Overruling | undefined} overruling
 * @param {number} hours
 */
function makeCard(hook, figures, overruling, hours) {
  const total = sumUp(figures);
  const mean = total.calls ? total.milliseconds / total.calls : 0;
  const calls = `${countNoun(total.calls, "call")}, ${formatNumber(mean)} ms on average, slowest ${formatNumber(total.slowest)} ms`;
  const charts = total.calls > 0 && makeCharts(hook, figures, hours);
  const notes = listNotes(total).map((one) => make("p", { class: "quiet" }, one));
  return make("section", { class: "hook", "aria-label": hook }, make("h2", {}, hook), make("p", { class: "quiet" }, calls), ...notes, charts, overruling && makeOverruling(overruling));
}

/**
 * What else there is to say of a hook, a sentence each.
 * @param {import("./figures.js").Bucket} total
 */
function listNotes(total) {
  const notes = [];
  if (total.contradicted) notes.push(`${countNoun(total.contradicted, "call")} that it denied ran all the same`);
  if (total.timed) notes.push(`p50 ${describeQuantile(total, 0.5)}, p95 ${describeQuantile(total, 0.95)}`);
  if (total.failures) notes.push(`${countNoun(total.failures, "failure")}, ${countNoun(total.timeouts, "time-out")}`);
  if (total.handed_over) notes.push(describeHandedOver(total));
  const shadowed = Object.entries(total.shadowed).map(([action, count]) => `${action.replaceAll("_", " ")} ${countNoun(count, "time")}`);
  if (shadowed.length) notes.push(`In shadow mode, without an effect: ${shadowed.join(", ")}`);
  return notes;
}

/**
 * @param {string} hook
 * @param {HookFigures[]} figures
 * @param {number} hours
 */
function makeCharts(hook, figures, hours) {
  const buckets = fillBuckets(figures, hours, Date.now() / 1000);
  const actions = listActions(buckets.map((one) => one.counts));
  const busy = buckets.filter((one) => one.calls);
  const means = buckets.map((one) => (one.calls ? one.milliseconds / one.calls : null));
  const slowest = buckets.map((one) => (one.calls ? one.slowest : null));
  const answers = make(
    "figure",
    {},
    make("figcaption", {}, "Answers over time"),
    drawColumns(buckets, actions, `Answers of ${hook} over time`),
    makeLegend(actions),
    makeTable("Answers over time", ["Time", ...actions], busy.map((one) => [formatMoment(one.start), ...actions.map((name) => one.counts[name] ?? 0)])),
  );
  const times = make(
    "figure",
    {},
    make("figcaption", {}, "Time per call"),
    drawLines(buckets, [["slowest", slowest], ["average", means]], `Time per call of ${hook}`, "ms"),
    makeLegend(["average", "slowest"]),
    makeTable("Time per call", ["Time", "Average, ms", "Slowest, ms"], busy.map((one) => [formatMoment(one.start), formatNumber(one.milliseconds / one.calls), formatNumber(one.slowest)])),
  );
  return make("div", { class: "charts" }, answers, times);
}

/**
 * Of questions that another program asked its own person, only what it showed is known.
 * @param {import("./figures.js").Bucket} total
 */
function describeHandedOver({ handed_over, not_run, not_known }) {
  const asked = countNoun(handed_over, "question");
  const parts = [`${formatCount(handed_over - not_run - not_known)} ran`, `${formatCount(not_run)} did not run`, `${formatCount(not_known)} not known`];
  return `${asked} handed over to the prompt of another program: ${parts.join(", ")}`;
}

/** @param {Overruling} overruling */
function makeOverruling({ asked, allowed, denied, expired }) {
  const waiting = Math.max(0, asked - allowed - denied - expired);
  const parts = /** @type {[string, number][]} */ ([["allowed", allowed], ["refused", denied], ["expired", expired], ["waiting", waiting]]);
  const share = asked ? Math.round((allowed / asked) * 100) : 0;
  const words = `It asked ${countNoun(asked, "time")}; people allowed ${formatCount(allowed)} of them (${share} %), so they overruled it that often.`;
  return make(
    "figure",
    { class: "overruling" },
    make("figcaption", {}, "What people answered"),
    make("p", {}, words),
    drawShares(parts.filter(([, count]) => count), "What people answered"),
    makeLegend(parts.filter(([, count]) => count).map(([name]) => name)),
    makeTable("What people answered", ["Answer", "Count"], parts.map(([name, count]) => [name, count])),
  );
}

customElements.define("statistics-view", StatisticsView);
