import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { providerDeps, readBoardOrIssues } from '../../app/adapters/board.ts';
import { AGENT_NAMES, draftOf, kindNamed, startsProgram, TRACKER_NAMES, type WorkflowDraft } from '../../app/init/init.ts';
import { DEFAULT_AGENT_KIND } from '../../config/agent-schema.ts';
import { valueIn } from '../../config/expand.ts';
import { proposeStates } from '../../app/init/propose.ts';
import { createKnownSecrets } from '../../app/secrets.ts';
import type { Answers } from '../../app/init/workflow-text.ts';
import type { Board, ProviderFacts } from '../../ports/provider.ts';
import { makeDirectories } from '../../lib/make-directories.ts';
import { didYouMean } from '../../lib/nearest-word.ts';
import { notOneOf } from '../args.ts';
import { askFor, NEEDED, type FaultOf } from '../ask.ts';
import { UsageError, type Args } from '../command.ts';
import { oneLine, printLine } from '../output.ts';
import { printErrors, printProblems } from '../problems.ts';
import { onInterrupt, toldWhileWaiting } from '../reading.ts';
import { stderrLog } from '../stderr-log.ts';
import { errorText } from '../../lib/error-text.ts';

/** Writes a workflow file. Asks for what is missing, but only a person at a terminal. */
export async function init(args: Args, file: string): Promise<number> {
  if (existsSync(file) && !args.has('force')) return fail(`${file} exists already: --force overwrites it`);
  const terminal = process.stdin.isTTY && process.stdout.isTTY && !args.has('yes');
  const person = terminal ? createInterface({ input: process.stdin, output: process.stdout }) : null;
  person?.once('SIGINT', () => {
    person.close();
    process.stderr.write('\nforay: interrupted\n');
    process.exit(INTERRUPTED);
  });
  try {
    return await write(args, file, person);
  } finally {
    person?.close();
  }
}

/** What shells expect of a command that Ctrl+C ended. */
const INTERRUPTED = 130;

async function write(args: Args, file: string, person: Interface | null): Promise<number> {
  const base = await basicAnswers(args, person);
  const first = firstDraft(file, base);
  if (first.settings === null) {
    printErrors(first.problems);
    return fail('nothing was written');
  }
  const secrets = createKnownSecrets();
  secrets.add(first.secrets);
  const reading = readBoardOrIssues(first.settings.tracker, providerDeps(file, deps(secrets.mask)), onInterrupt());
  const board = await toldWhileWaiting(reading, 'the tracker has not answered yet, still trying').catch((error: unknown) => {
    process.stderr.write(`foray: ${oneLine(secrets.mask(errorText(error)))}\n`);
    return null;
  });
  if (board === null) return fail('the tracker was not read; nothing was written');
  printLine(`${board.what} found: ${board.states.map(({ name }) => name).join(', ') || 'none'}`);
  const answers = { ...base, ...(await chooseStates(args, board, person)) };
  warnOfMissing(board, answers);
  const { text, problems, settings } = draftOf(file, answers, process.env);
  printProblems(problems);
  if (settings === null) return fail('nothing was written');
  await makeDirectories(path.dirname(path.resolve(file)), 0o755);
  await writeFile(file, text, { flag: args.has('force') ? 'w' : 'wx' });
  warnOfUnlabelled(answers);
  const suffix = file === 'WORKFLOW.md' ? '' : ` ${file}`;
  printLine(`${file} written. Next: foray validate${suffix}, foray doctor${suffix}, foray --dry-run${suffix}, foray${suffix}`);
  return 0;
}

type BasicAnswers = Omit<Answers, 'active' | 'terminal' | 'handoff'>;

/** To read the tracker with, before its states are known: those of the kind, or any where it has none. */
function firstDraft(file: string, base: BasicAnswers): WorkflowDraft {
  const byKind = draftOf(file, { ...base, active: null, terminal: null, handoff: null }, process.env);
  if (byKind.settings !== null) return byKind;
  return draftOf(file, { ...base, active: ['todo'], terminal: ['done'], handoff: null }, process.env);
}

/** Everything but the states. What nobody can be asked for is named by its flag, all at once. */
async function basicAnswers(args: Args, person: Interface | null): Promise<BasicAnswers> {
  const missing: string[] = [];
  const answer: Answer = async (flag, question, fallback, faultOf = () => null) => {
    const given = args.value(flag)?.trim();
    if (given === undefined && person !== null) return askFor(person, question, fallback ?? '', faultOf);
    if (given === undefined && fallback === null) missing.push(`--${flag} (${question})`);
    const fault = given === undefined ? null : faultOf(given);
    if (fault !== null) throw new UsageError(fault);
    return given ?? fallback ?? '';
  };
  const tracker = (await answer('tracker', `which tracker: ${TRACKER_NAMES.join(', ')}`, null, trackerFault)).toLowerCase();
  const kind = kindNamed(tracker);
  const project = await answer('project', kind?.place?.words ?? 'which project', null);
  const endpoint =
    kind?.requires.endpoint === true ? await answer('endpoint', 'address of the site', null) : args.value('endpoint');
  const agent = await answer('agent', `which agent: ${AGENT_NAMES.join(', ')}`, DEFAULT_AGENT_KIND, agentFault);
  const tokenVariable = kind?.requires.apiKey === true ? await tokenOf(args, kind, answer) : null;
  if (missing.length > 0) throw new UsageError(`init needs ${missing.join(', ')}`);
  return {
    tracker,
    project,
    endpoint,
    agent,
    tokenVariable,
    repo: args.value('repo') ?? (startsProgram(agent) ? repoOf(kind, project, endpoint) : null),
  };
}

type Answer = (flag: string, question: string, fallback: string | null, faultOf?: FaultOf) => Promise<string>;

/** The variable by convention, unless another one is named. Nobody is asked for one that is set. */
async function tokenOf(args: Args, kind: ProviderFacts, answer: Answer): Promise<string> {
  const { tokenVariables = [], tokenForm } = kind;
  const set = tokenVariables.find((name) => (process.env[name] ?? '') !== '');
  if (set !== undefined && args.value('token-env') === null) return set;
  const form = tokenForm === undefined ? '' : `, as ${tokenForm}`;
  const question = `variable that holds the token${form}; none of ${tokenVariables.join(', ')} is set`;
  const name = await answer('token-env', question, null, (said) =>
    /^[A-Za-z_]\w*$/.test(said) ? null : '--token-env is the name of a variable, never the token itself',
  );
  if (name !== '' && args.value('token-env') !== null && valueIn(process.env, name) === '')
    throw new Error(`the variable ${name} is not set: put the token into it; nothing was written`);
  return name;
}

function trackerFault(tracker: string): string | null {
  return kindNamed(tracker) === null ? notOneOf('tracker', tracker.toLowerCase(), TRACKER_NAMES) : null;
}

function agentFault(agent: string): string | null {
  return AGENT_NAMES.includes(agent) ? null : notOneOf('agent', agent, AGENT_NAMES);
}

/** The repository of a project on a forge: beside the API, whatever the address of that ends with. */
function repoOf(kind: ProviderFacts | null, project: string, endpoint: string | null): string | null {
  if (!kind?.roles.includes('requests') || !/^[\w.-]+(?:\/[\w.-]+)+$/.test(project)) return null;
  const server = endpoint?.replace(/\/(?:api\/v\d+\/?)?$/, '') ?? kind.homeUrl ?? '';
  return server === '' ? null : `${server}/${project}.git`;
}

function statesOf(args: Args): Pick<Answers, 'active' | 'terminal' | 'handoff'> {
  return { active: listOf(args.value('active')), terminal: listOf(args.value('terminal')), handoff: args.value('handoff') };
}

/** What was given, else what a person says, else what is proposed. */
async function chooseStates(
  args: Args,
  board: Board,
  person: Interface | null,
): Promise<Pick<Answers, 'active' | 'terminal' | 'handoff'>> {
  const proposed = proposeStates(board);
  const given = statesOf(args);
  const missing: string[] = [];
  const choose = async (flag: string, question: string, proposal: readonly string[]): Promise<readonly string[]> => {
    const shown = proposal.join(', ');
    const faultOf: FaultOf = (text) => (listOf(text)?.length === 0 ? NEEDED : null);
    const said = person === null ? shown : await askFor(person, question, shown, faultOf);
    const chosen = said === shown ? proposal : (listOf(said) ?? []);
    if (chosen.length === 0) missing.push(`--${flag} (${question})`);
    return chosen;
  };
  const active = given.active ?? (await choose('active', `${board.what} to work on`, proposed.active));
  const terminal = given.terminal ?? (await choose('terminal', `${board.what} that are over`, proposed.terminal));
  const handoff =
    given.handoff ??
    (await choose('handoff', 'where finished work goes', proposed.handoff === null ? [] : [proposed.handoff]))[0] ??
    null;
  if (missing.length > 0) throw new UsageError(`none of the ${board.what} looks right: init needs ${missing.join(', ')}`);
  printLine(`active: ${active.join(', ')}; terminal: ${terminal.join(', ')}; handoff: ${handoff ?? 'none'}`);
  return { active, terminal, handoff };
}

/** A state that the tracker does not have yet is no reason to stop; the person should know. */
function warnOfMissing(board: Board, { active, terminal, handoff }: Pick<Answers, 'active' | 'terminal' | 'handoff'>): void {
  const known = board.states.map(({ name }) => name.toLowerCase());
  const absent = [...(active ?? []), ...(terminal ?? []), ...(handoff === null ? [] : [handoff])].filter(
    (name) => !known.includes(name.toLowerCase()),
  );
  const isLabel = board.what === 'labels';
  for (const name of absent) {
    const hint = didYouMean(
      name,
      board.states.map((state) => state.name),
    );
    const made = board.createsMissing ? ' (it is made when it is first needed)' : isLabel ? ' (foray doctor --fix makes it)' : '';
    process.stderr.write(`foray: the tracker has no ${isLabel ? 'label' : 'state'} "${name}"${oneLine(hint)}${made}\n`);
  }
}

/** Issues that nobody marked may be worked on. */
function warnOfUnlabelled({ tracker, active }: Pick<Answers, 'tracker' | 'active'>): void {
  const [first] = active ?? [];
  if (first === undefined || kindNamed(tracker)?.takesUnlabelled !== true) return;
  process.stderr.write(
    `foray: every open issue without a state label counts as "${first}": tracker.query_filter or tracker.approval_label narrows that\n`,
  );
}

function listOf(text: string | null): readonly string[] | null {
  return text === null
    ? null
    : text
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== '');
}

function deps(mask: (text: string) => string) {
  return { version: FORAY_VERSION, clock: { now: Date.now }, logger: stderrLog({ level: 'warn', format: 'text', mask }) };
}

function fail(message: string): number {
  process.stderr.write(`foray: ${message}\n`);
  return 1;
}
