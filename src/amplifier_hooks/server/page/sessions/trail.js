// @ts-check
// <session-trail>: whether the session's audit trail is what was written.

import { make } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { View } from "../kit/view.js";
import { countNoun, formatCount } from "../kit/words.js";
import { get, getText } from "../link/api.js";

/** @type {Record<string, [string, string]>} */
const VERDICTS = {
  proven: ["good", "Proven: the trail is what was written"],
  consistent: ["fair", "Consistent: nothing contradicts, but no key or anchor proves its end"],
  recovered: ["fair", "Recovered: a crash cut the end, and everything else is in order"],
  tampered: ["bad", "Tampered with: the trail is not what was written"],
  witnessed: ["fair", "Witnessed: this server has seen its checkpoints"],
  unknown: ["fair", "Not verified"],
};

class SessionTrail extends View {
  show() {
    this.replaceChildren(make("p", { class: "quiet", role: "status" }, "Verifying…"));
    this.#load();
  }

  async #load() {
    try {
      this.#showReport(await get(`/sessions/${encodeURIComponent(this.dataset.id ?? "")}/trail`, {}, this.life.signal));
    } catch (error) {
      if (this.life.signal.aborted) return;
      const words = error instanceof Error ? error.message : String(error);
      const again = make("button", { type: "button", onclick: () => this.show() }, "Try again");
      this.replaceChildren(make("p", { class: "error", role: "alert" }, `Not verified: ${words}`), make("p", { class: "actions" }, again));
    }
  }

  /** @param {any} report */
  #showReport(report) {
    const [look, words] = VERDICTS[report.verdict] ?? ["fair", String(report.verdict)];
    const findings = Array.isArray(report.findings) ? report.findings : [];
    const proven = typeof report.proven === "number" ? `, ${formatCount(report.proven)} of them proven` : "";
    const size = typeof report.size === "number" && make("p", {}, `${countNoun(report.size, "record")}${proven}.`);
    this.replaceChildren(
      make(
        "section",
        { class: `verdict ${look}` },
        make("h2", {}, words),
        size,
        make("p", { class: "quiet" }, String(report.message ?? "")),
        findings.length > 0 && make("ul", {}, findings.map((/** @type {unknown} */ one) => make("li", {}, getFirstLine(formatFinding(one), 400)))),
        showHead(report.head),
      ),
      make("p", { class: "actions" }, this.#listActions(report.source === "folder")),
    );
  }

  /** @param {boolean} isHere  whether the trail is on the server's machine */
  #listActions(isHere) {
    const again = make("button", { type: "button", onclick: () => this.show() }, "Verify again");
    const note = make("span", { class: "quiet", role: "status" });
    const report = make("button", { type: "button", onclick: () => this.#download(note) }, "Download report");
    return isHere ? [again, " ", report, " ", note] : [again];
  }

  /** @param {HTMLElement} note  where to say how it goes */
  async #download(note) {
    const id = this.dataset.id ?? "";
    note.textContent = "Reading the trail…";
    try {
      const page = await getText(`/sessions/${encodeURIComponent(id)}/report`, this.life.signal);
      const short = /^(?:[A-Za-z_]+-)*.{0,8}/u.exec(id)?.[0] ?? id;
      save(page, `report-${short.replace(/[^A-Za-z0-9]/g, "-")}.html`);
      note.textContent = "";
    } catch (error) {
      if (!this.life.signal.aborted) note.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}

/**
 * Hand a file over to the browser, which saves it.
 * @param {string} page
 * @param {string} name
 */
function save(page, name) {
  const address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  make("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/** @param {any} finding */
function formatFinding(finding) {
  return typeof finding === "string" ? finding : (finding?.message ?? JSON.stringify(finding));
}

/** @param {any} head */
function showHead(head) {
  const note = typeof head === "string" ? head : head?.note;
  return note && make("details", {}, make("summary", {}, "Newest checkpoint"), make("pre", { class: "code" }, ...note.split("\n").map((/** @type {string} */ one) => make("div", {}, one))));
}

customElements.define("session-trail", SessionTrail);
