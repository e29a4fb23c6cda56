/** Values as JSON: what can be judged as it is, and what an answer says. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What in a value JSON cannot hold, in words; undefined if it holds all of it.
 *
 * Hooks judge JSON. A Date or a Map would be judged as something else than what a tool gets.
 */
export function findNotJson(value: unknown, path = "", within: unknown[] = []): string | undefined {
  const place = path === "" ? "it" : path;
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : `${place} is ${value}`;
  }
  if (typeof value !== "object") return `${place} is a ${typeof value}`;
  if (within.includes(value)) return `${place} contains itself`;
  if ("toJSON" in value || !isPlain(value)) return `${place} is a ${nameKind(value)}`;
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, part] of parts) {
    if (part === undefined && !Array.isArray(value)) continue; // the same as if it were not there
    const found = findNotJson(part, path === "" ? `${key}` : `${path}.${key}`, [...within, value]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPlain(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value);
  // An object of another realm (a vm, a frame) has another Object.prototype, without one above it.
  return Array.isArray(value) || kind === null || Object.getPrototypeOf(kind) === null;
}

function nameKind(value: object): string {
  return value.constructor?.name || "value of its own kind";
}

/** What a function returned, as the JSON that hooks judge; what JSON cannot hold becomes a text. */
export function toJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return String(value);
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/g;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** An answer of the server; throws if it is no object, or has numbers that would change here. */
export function parseAnswer(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new SyntaxError("it is no object");
  for (const written of text.replace(STRING, "").match(NUMBER) ?? []) {
    // JavaScript would read 9007199254740993 as 9007199254740992, and run that.
    if (/^-?\d+$/.test(written) && String(Number(written)) !== written && written !== "-0") {
      throw new SyntaxError(`it has the number ${written}, which JavaScript cannot hold`);
    }
  }
  return value;
}
