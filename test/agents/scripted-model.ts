import path from 'node:path';
import type { Call, Entry, Failing, ModelRequest, OfferedTool, Utterance } from './dialects/dialect.ts';

/** What the model does when it is asked. */
export type Move = Utterance | { readonly fail: Failing } | { readonly hang: true };

/** Where in a script a request stands: the line of the prompt that says so. */
export interface Cue {
  readonly scenario: ScenarioName;
  readonly attempt: number;
  readonly turn: number;
  /** The workspace, for programs that want absolute paths. */
  readonly folder: string;
}

type Step =
  | Writing
  /** Several at once. */
  | { readonly writes: readonly Writing[] }
  /** A tool of ours. */
  | { readonly use: string; readonly input: Input }
  /** A tool that the program brings itself, by its name. */
  | { readonly own: string; readonly input: Input }
  | { readonly say: string; readonly overMs?: number }
  | { readonly fail: Failing }
  | { readonly hang: true };

type Input = Readonly<Record<string, unknown>>;

interface Writing {
  readonly write: string;
  readonly content: string;
  /** The model asks for permission by itself, where a program leaves that to it. */
  readonly asks?: true;
}

export type ScenarioName = keyof typeof SCENARIOS;

/** What the model does in one turn of each script, step by step: the next one follows the result of a tool. */
export const SCENARIOS = {
  edit: () => [write('hello.txt', 'hello'), say('I wrote hello.txt.')],
  turns: ({ turn }) => [write(`turn-${turn}.txt`, `turn ${turn}`), say(`I wrote turn-${turn}.txt.`)],
  tools: () => [
    { use: 'comment', input: { text: 'The cause is found.' } },
    { use: 'finish', input: { outcome: 'needs-human-review', statement: 'Please look at it.' } },
    say('I told what I found.'),
  ],
  moves: () => [{ use: 'move_issue', input: { state: 'review' } }, write('moved.txt', 'moved'), say('I moved it.')],
  // The second step is never asked for: two results come back at once.
  parallel: () => [{ writes: [write('a.txt', 'a'), write('b.txt', 'b')] }, say('never'), say('I wrote both.')],
  slow: () => [write('slow.txt', 'slow'), { say: 'word '.repeat(24).trim(), overMs: 12_000 }],
  question: () => [say('Which of the two files do you want me to change?')],
  endless: () => [...Array.from({ length: 12 }, (_, n) => write(`n-${n}.txt`, 'n')), say('I am done.')],
  refused: () => [{ ...write('hello.txt', 'hello'), asks: true }, say('I was not allowed to write hello.txt.')],
  // Calls of Codex that it shows no item for.
  readsGoal: () => [{ own: 'get_goal', input: {} }, say('There is no goal.')],
  setsGoal: () => [{ own: 'create_goal', input: { objective: 'Mend it' } }, say('The goal is set.')],
  viewsNothing: () => [{ own: 'view_image', input: { path: '/nowhere.png' } }, say('There is no such image.')],
  writesNowhere: () => [{ own: 'write_stdin', input: { session_id: 99, chars: 'x' } }, say('There is no such session.')],
  asksUser: () => [{ own: 'request_user_input', input: { questions: [QUESTION] } }, say(QUESTION.question)],
  unauthorized: () => [{ fail: 'login' }],
  limited: () => [{ fail: 'used-up' }],
  hurried: () => [{ fail: 'slow-down' }],
  broken: () => [{ fail: 'broken' }],
  silent: () => [{ hang: true }],
  interrupted({ attempt, turn }) {
    if (attempt > 0) return [write('after.txt', 'after the restart'), say('I wrote after.txt.')];
    return turn === 1 ? [write('before.txt', 'before the restart'), say('I wrote before.txt.')] : [{ hang: true }];
  },
} satisfies Record<string, (cue: Cue) => readonly Step[]>;

/** The line that a workflow's body puts into every prompt. The title names the scenario. */
export function cueLine(workspaces: string): string {
  return `[[{{ .issue.title }} attempt={{ .attempt }} turn={{ .run.turn_number }} folder=${workspaces}/{{ .issue.identifier }}]]`;
}

const CUE = /\[\[(?<scenario>\w+) attempt=(?<attempt>\d+) turn=(?<turn>\d+) folder=(?<folder>[^\]]+)\]\]/g;

/** Every cue of the conversation, oldest first. */
export function cuesIn(entries: readonly Entry[]): readonly Cue[] {
  return entries.flatMap((entry) => cueOf(entry) ?? []);
}

/** The last one of a text: some programs put a prompt that was not answered and the next one into one. */
function cueOf(entry: Entry): Cue | null {
  const groups = entry.by === 'person' ? [...entry.text.matchAll(CUE)].at(-1)?.groups : undefined;
  if (!groups || !Object.hasOwn(SCENARIOS, groups['scenario'] ?? '')) return null;
  const { scenario, attempt, turn, folder = '' } = groups;
  return { scenario: scenario as ScenarioName, attempt: Number(attempt), turn: Number(turn), folder };
}

/** The next move in the script. A request without tools, such as one for a title, stands outside of it. */
export function nextMove({ entries, tools }: ModelRequest, cue: Cue): Move {
  const last = entries.findLastIndex((entry) => cueOf(entry) !== null);
  const results = entries.slice(last).filter((entry) => entry.by === 'tool' && entry.name !== SEARCH).length;
  const steps: readonly Step[] = SCENARIOS[cue.scenario](cue);
  const step = steps[results] ?? say('I am done.');
  const placed = (one: Writing): Writing => ({ ...one, write: path.join(cue.folder, one.write) });
  if ('write' in step) return { calls: [writing(tools, placed(step))] };
  if ('writes' in step) return { calls: step.writes.map((one) => writing(tools, placed(one))) };
  if ('own' in step) return { calls: [{ call: offered(tools, ({ name }) => name === step.own, step.own), input: step.input }] };
  return 'use' in step ? using(tools, step.use, step.input) : step;
}

const QUESTION = {
  id: 'database',
  header: 'Database',
  question: 'Which database do you want?',
  options: ['SQLite', 'PostgreSQL'].map((label) => ({ label, description: `Use ${label}.` })),
};

function write(file: string, content: string): Writing {
  return { write: file, content };
}

function say(text: string): { readonly say: string } {
  return { say: text };
}

/** How each program lets its model write a file. */
const WRITERS: Readonly<Record<string, (writing: Writing) => Input>> = {
  Write: ({ write: file_path, content }) => ({ file_path, content }),
  write: ({ write: filePath, content }) => ({ filePath, content }),
  create: ({ write: file, content }) => ({ path: file, file_text: content }),
  write_file: ({ write: file_path, content }) => ({ file_path, content }),
  exec_command: ({ write: file, content, asks }) => ({
    cmd: `printf '%s' '${content}' > '${file}'`,
    ...(asks ? { sandbox_permissions: 'require_escalated', justification: 'May I write this file?' } : {}),
  }),
};

function writing(tools: readonly OfferedTool[], step: Writing): Call {
  const call = offered(tools, ({ name }) => Object.hasOwn(WRITERS, name), 'that writes a file');
  return { call, input: WRITERS[call.name]?.(step) ?? {} };
}

function offered(tools: readonly OfferedTool[], isIt: (tool: OfferedTool) => boolean, what: string): OfferedTool {
  const found = tools.find(isIt);
  if (!found) throw new Error(`no tool ${what} among ${tools.map(({ name }) => name).join(', ')}`);
  return found;
}

/** A tool of ours. Where tools are kept back until the model looks for them, it does that first. */
function using(tools: readonly OfferedTool[], wanted: string, input: Input): Utterance {
  const call = tools.find((tool) => isOwn(tool, wanted));
  if (call) return { calls: [{ call, input }] };
  const search = offered(tools, ({ name }) => name === SEARCH, `${wanted} of foray`);
  return { calls: [{ call: search, input: { query: `select:mcp__foray__${wanted}` } }] };
}

const SEARCH = 'ToolSearch';

/** Every program marks the tools of a server in a way of its own: `mcp__foray__comment`, `mcp_foray_comment`. */
function isOwn({ name, namespace = '' }: OfferedTool, wanted: string): boolean {
  return new RegExp(`foray_+${wanted}$`).test(`${namespace}_${name}`);
}
