// Each event is told to a process of its own, as one object on its standard input. It answers with
// nothing, or with an object: deny (a sentence: what was about to happen does not happen), or args,
// output, prompt (in the place of what was there) and context (more texts for the model).
// Anything else, and every failure, is a denial at the events of OpenCode that can be denied.
import { spawn } from "node:child_process";

const NOT_JUDGED = "amplifier: this was not judged, so it is not allowed";
const OF_MAIN_SESSIONS = ["session.created", "session.idle", "session.error"];
const parents = new Map(); // of the sessions that other sessions have started
const seen = new Set();

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const getTexts = (parts) => (parts ?? []).filter((one) => one.type === "text" && !one.synthetic);

function findRoot(session) {
  while (parents.has(session)) session = parents.get(session);
  return session;
}

function describe(event, input, output) {
  switch (event) {
    case "tool.execute.before":
      return { tool_name: input.tool, tool_input: output.args ?? {}, tool_use_id: input.callID };
    case "tool.execute.after":
      return {
        tool_name: input.tool,
        tool_input: input.args ?? {},
        tool_use_id: input.callID,
        tool_response: output.output ?? output.content ?? null,
      };
    case "chat.message":
      return { prompt: getTexts(output.parts).map((one) => one.text).join("\n"), agent: input.agent };
    case "session.error":
      return { error: input.error?.data?.message ?? input.error?.name ?? "error" };
    default:
      return { ...input, ...(isObject(output) ? output : {}) };
  }
}

function run({ line, seconds }, payload) {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", line], { stdio: ["pipe", "pipe", "pipe"] });
    const written = { stdout: [], stderr: [] };
    const read = (name) => Buffer.concat(written[name]).toString().trim();
    const timer = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
    for (const name of Object.keys(written)) child[name].on("data", (one) => written[name].push(one));
    child.on("error", reject);
    child.stdin.on("error", () => {}); // it may end before it has read everything
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(read("stdout"));
      else reject(new Error(read("stderr") || NOT_JUDGED));
    });
    child.stdin.end(JSON.stringify(payload));
  });
}

function parse(text) {
  const answer = text ? JSON.parse(text) : {};
  if (!isObject(answer)) throw new Error(NOT_JUDGED);
  if (answer.deny !== undefined && answer.deny !== null) throw new Error(answer.deny || NOT_JUDGED);
  return answer;
}

function obey(event, answer, output) {
  if (answer.args) setArgs(output.args, answer.args);
  if (typeof answer.output === "string") setOutput(output, answer.output);
  if (typeof answer.prompt === "string") setPrompt(output, answer.prompt);
  for (const text of answer.context ?? []) addContext(event, output, String(text));
}

// In place: OpenCode runs the tool with the object that it handed out, whatever `output.args` is now.
function setArgs(args, wanted) {
  for (const key of Object.keys(args)) delete args[key];
  Object.assign(args, wanted);
}

// Tools of MCP servers return a list of parts, and all others a text.
function setOutput(output, text) {
  if (Array.isArray(output.content)) output.content = [{ type: "text", text }];
  else output.output = text;
}

function setPrompt(output, prompt) {
  const [first, ...others] = getTexts(output.parts);
  if (!first) throw new Error(NOT_JUDGED);
  first.text = prompt;
  for (const one of others) one.text = "";
}

function addContext(event, output, text) {
  if (event === "tool.execute.after" && Array.isArray(output.content)) output.content.push({ type: "text", text });
  else if (event === "tool.execute.after") output.output = `${output.output ?? ""}\n\n${text}`;
  else if (Array.isArray(output.context)) output.context.push(text);
  else if (Array.isArray(output.parts)) {
    const like = output.parts.at(-1);
    const id = `${like.id}a`; // behind the last one: they are put in order by this
    output.parts.push({ id, sessionID: like.sessionID, messageID: like.messageID, type: "text", text, synthetic: true });
  }
}

async function judge(cwd, event, input, output) {
  const row = LINES[event];
  if (!row) return;
  const own = input.sessionID ?? input.info?.id ?? "";
  const session_id = findRoot(own);
  if (own !== session_id && OF_MAIN_SESSIONS.includes(event)) return;
  if (session_id) seen.add(session_id);
  const common = { session_id, cwd, hook_event_name: event };
  if (own !== session_id) common.agent_id = own;
  try {
    const text = await run(row, { ...describe(event, input, output), ...common });
    obey(event, parse(text), output);
  } catch (error) {
    if (row.gate) throw error instanceof SyntaxError ? new Error(NOT_JUDGED) : error;
  }
}

export const Amplifier = async ({ directory }) => {
  const hooks = {
    async event({ event }) {
      const { info } = event.properties ?? {};
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID);
      await judge(directory, event.type, event.properties ?? {}, {});
    },
    async dispose() {
      await Promise.all([...seen].map((sessionID) => judge(directory, "dispose", { sessionID }, {})));
    },
  };
  for (const name of Object.keys(LINES)) {
    if (/^(session|permission)\./.test(name)) continue; // those come as an `event`
    hooks[name] ??= (input, output) => judge(directory, name, input ?? {}, output ?? {});
  }
  return hooks;
};
