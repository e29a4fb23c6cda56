// @ts-check
// JSON as it was sent: a number that JavaScript cannot hold keeps its digits, so that what a
// person sees and sends back is what the agent asked about.

const INPUTS = new Set(["tool_input", "edited_input"]);

/**
 * Like JSON.parse, but exact inside the inputs of tools.
 * @param {string} text
 * @returns {any}
 */
export function parseExactly(text) {
  const value = JSON.parse(text);
  return keepsDigits() ? takeInputs(value, JSON.parse(text, keepDigits)) : value;
}

/**
 * JSON for people: indented, or on one line as Python writes it.
 * @param {unknown} value
 */
export function formatJson(value) {
  return JSON.stringify(value, null, 2) ?? String(value);
}

/**
 * Python's json.dumps without escapes, which hooks put into their prompts.
 * @param {unknown} value
 * @returns {string}
 */
export function formatLikePython(value) {
  if (Array.isArray(value)) return `[${value.map(formatLikePython).join(", ")}]`;
  if (isPlainObject(value)) {
    const members = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${formatLikePython(v)}`);
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value);
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isPlainObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRaw(value);
}

function keepsDigits() {
  return "rawJSON" in JSON;
}

/** @param {unknown} value */
function isRaw(value) {
  return keepsDigits() && /** @type {any} */ (JSON).isRawJSON(value);
}

/**
 * @this {any}
 * @param {string} _key
 * @param {unknown} value
 * @param {{source?: string}} [context]
 */
function keepDigits(_key, value, context) {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  return /** @type {any} */ (JSON).rawJSON(source);
}

/**
 * Replace the inputs in a value by their exact form.
 * @param {any} value
 * @param {any} exact
 * @returns {any}
 */
function takeInputs(value, exact) {
  if (typeof value !== "object" || value === null) return value;
  for (const key of Object.keys(value)) {
    if (INPUTS.has(key)) value[key] = exact[key];
    else takeInputs(value[key], exact[key]);
  }
  return value;
}
