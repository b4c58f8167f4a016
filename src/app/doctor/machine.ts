import { AGENT_FACTS } from '../../agents/facts.ts';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { OperatorPause } from '../../domain/model/operator.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { pauseDetail } from '../../domain/rules/eligibility.ts';
import { checkPlace } from '../../store/sqlite/errors.ts';
import { finding, ok, type Finding } from './finding.ts';
import { environmentOf } from '../../lib/process/index.ts';
import { tryRoot } from '../../workspace/root.ts';
import { agentEnv } from '../adapters/adapter-deps.ts';
import { databaseName } from '../daemon/own-store.ts';
import { withRecords, type Records } from '../commands/read-records.ts';
import { idleAdapters, type SurveyDeps } from '../commands/survey.ts';
import type { GoodWorkflow } from '../workflow.ts';
import { checkPlaces } from './places.ts';
import { placedCommand } from '../adapters/placed-command.ts';
import { errorText } from '../../lib/error-text.ts';

/** As in package.json. */
const LEAST_NODE = [20, 18, 1] as const;
/** No machine that runs this version can truly be older. */
const RELEASED = Date.UTC(2026, 0, 1);
const COMMAND_MS = 10_000;

export function checkEnvironment(): readonly Finding[] {
  const { node: version } = process.versions;
  const node = isOldNode(version)
    ? finding('error', 'node', `Node ${version} is too old`, `install Node ${LEAST_NODE.join('.')} or newer`)
    : ok('node', `Node ${version}`);
  const clock =
    Date.now() > RELEASED
      ? ok('clock', new Date().toISOString())
      : finding(
          'error',
          'clock',
          `the clock says ${new Date().toISOString()}`,
          'set the clock: due times and tokens depend on it',
        );
  return [node, clock];
}

export function isOldNode(version: string): boolean {
  const parts = version.split('.').map(Number);
  const at = LEAST_NODE.findIndex((least, index) => parts[index] !== least);
  return at >= 0 && (parts[at] ?? 0) < (LEAST_NODE[at] ?? 0);
}

/** A clock that is further off than this makes due times and rate limits wrong. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Holds the clock against that of the tracker; null where it did not tell the time. */
export function checkClock(now: number, told: number | null): readonly Finding[] {
  if (told === null || Math.abs(now - told) <= CLOCK_TOLERANCE_MS) return [];
  const seconds = Math.round(Math.abs(now - told) / 1000);
  const message = `the clock is ${seconds} s ${now > told ? 'ahead of' : 'behind'} that of the tracker, which says ${new Date(told).toISOString()}`;
  return [finding('warning', 'clock', message, 'set the clock, best by NTP: due times and waits for rate limits depend on it')];
}

/** The program of the agent, and where its login is kept by convention. Elsewhere both are the matter of that machine. */
export async function checkAgentProgram(workflow: GoodWorkflow, deps: SurveyDeps): Promise<readonly Finding[]> {
  const { agent } = await idleAdapters(workflow, deps);
  const problem = await agent.findProblem();
  if (problem !== null) return [finding('error', 'agent', problem, 'install the program, or set agent.command to where it is')];
  const { settings } = workflow;
  if (settings.worker.sshHosts.length > 0 || settings.agent.runOn !== null) return checkPlaces(workflow, deps);
  return [await checkVersion(workflow, deps), ...checkLogin(settings, deps)];
}

/** A program that is there may be broken all the same: one that tells its version is asked for it. */
async function checkVersion(workflow: GoodWorkflow, { env }: SurveyDeps): Promise<Finding> {
  const { kind, command, user } = workflow.settings.agent;
  const facts = AGENT_FACTS.find((candidate) => candidate.kind === kind);
  const placed = placedCommand(command, path.dirname(workflow.path), env['HOME']);
  const [program, ...rest] = placed ?? facts?.defaultCommand ?? [];
  const isOwn = command === null || rest.length === 0;
  if (program === undefined || facts?.tellsVersion !== true || !isOwn) return ok('agent', `${kind} can be started`);
  if (program.includes('/') && !path.isAbsolute(program)) return ok('agent', `${program} is looked for in each workspace`);
  try {
    const inherited = agentEnv(workflow, env);
    const options = user === null ? { env: inherited } : { env: environmentOf(user, inherited), uid: user.uid, gid: user.gid };
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: COMMAND_MS, ...options });
    return ok('agent', `${kind} can be started: ${program} ${stdout.trim().split('\n')[0] ?? ''}`);
  } catch (error) {
    const { stderr = '', code } = error as { stderr?: string; code?: number | string };
    const said = stderr.trim().split('\n')[0] || (typeof code === 'number' ? `exit code ${code}` : errorText(error));
    return finding('warning', 'agent', `${program} --version failed: ${said}`, 'try it as this user; install the program again');
  }
}

function checkLogin({ agent }: Settings, { env }: SurveyDeps): readonly Finding[] {
  const login = AGENT_FACTS.find(({ kind }) => kind === agent.kind)?.login;
  if (login === undefined) return [];
  const home = env['HOME'] ?? os.homedir();
  const has =
    login.variables.some((name) => (env[name] ?? '') !== '') || login.files.some((file) => existsSync(path.join(home, file)));
  return [
    has
      ? ok('agent.login', 'a login is there')
      : finding('warning', 'agent.login', `no login of ${agent.kind} was found`, login.remedy),
  ];
}

export async function checkWorkspaceRoot(workflow: GoodWorkflow, deps: SurveyDeps): Promise<readonly Finding[]> {
  const { root } = workflow.settings.workspace;
  const problem = (await (await idleAdapters(workflow, deps)).workspaces.findProblem()) ?? (await tryRoot(root));
  return [
    problem === null
      ? ok('workspace.root', root)
      : finding('error', 'workspace.root', problem, 'make the directory writable for this user, or change workspace.root'),
  ];
}

export async function checkDatabase(workflow: GoodWorkflow): Promise<readonly Finding[]> {
  const { settings } = workflow;
  try {
    const place = databaseName(settings);
    if (settings.storeUrl === null) checkPlace(settings.dbPath);
    const found = await withRecords(settings, workflow, async (records) => {
      const pause = (await records?.load())?.operatorPause ?? null;
      return [useOf(settings, records), ...pauseFindings(pause)];
    });
    const lacking = settings.storeUrl === null ? null : await lackingSchema(settings.storeUrl, settings.agent.runOn !== null);
    if (lacking !== null) return [finding('error', 'database', `${place}: ${lacking}`, MAY_CREATE)];
    return found;
  } catch (error) {
    return [finding('error', 'database', errorText(error), 'see the message; db_path or store.url names another place')];
  }
}

/** Who is at work on the database. */
function useOf(settings: Settings, records: Records | null): Finding {
  const place = databaseName(settings);
  if (records === null) return ok('database', `${place} is made at the first start`);
  const { daemon, otherFile } = records;
  if (daemon === null) return ok('database', place);
  if (otherFile === null) return ok('database', `${place}, in use by the running service (pid ${daemon.pid} on ${daemon.host})`);
  const [key, fate] =
    settings.storeUrl === null
      ? ['db_path', 'could not start']
      : ['store.url', 'would stand by while nobody watches its tracker'];
  const message = `${place} is used by the running service of ${otherFile}; a service of this file ${fate}`;
  return finding('error', 'database', message, `set ${key} in this file to a database of its own`);
}

const MAY_CREATE = 'let the role of store.url create schemas in this database, as docs/shared-database.md says';

/** Why the service could not make its tables there, or null. */
async function lackingSchema(url: string, hasQueue: boolean): Promise<string | null> {
  const { openPostgres, missingSchema } = await import('../../store/postgres/index.ts');
  const db = await openPostgres(url);
  try {
    const schema = await db.read(missingSchema(hasQueue));
    return schema && `its role may not create the schema ${schema}`;
  } finally {
    await db.close();
  }
}

/** Everything a run needs may be there, and still none starts. */
function pauseFindings(pause: OperatorPause | null): readonly Finding[] {
  if (pause === null) return [];
  return [finding('warning', 'paused', `nothing is dispatched: ${pauseDetail(pause)}`, 'foray resume lets it go on')];
}

/** Whether the port is free, unless our own service has it. */
export async function checkPort(workflow: GoodWorkflow): Promise<readonly Finding[]> {
  const { settings } = workflow;
  const { port, host } = settings.server;
  if (port === 0) return [ok('server.port', 'any free port')];
  const isServed = (records: Records | null): boolean => records?.daemon != null && records.otherFile === null;
  const isOurs = await withRecords(settings, workflow, isServed).catch(() => false);
  if (port === null) return [isOurs ? ok('server.port', LEFT_TO_FLAG) : NO_SERVER];
  if (isOurs) return [ok('server.port', `${port}, served by the running service`)];
  const problem = await listenProblem(port, host);
  return [
    problem === null
      ? ok('server.port', `${host}:${port} is free`)
      : finding(
          'error',
          'server.port',
          `${host}:${port} cannot be used: ${problem}`,
          'end what listens there, or change server.port',
        ),
  ];
}

const NO_SERVER = finding(
  'warning',
  'server.port',
  'no HTTP server: no dashboard, API or metrics',
  'set server.port, or start with --port',
);
/** With which flags a service was started nobody wrote down. */
const LEFT_TO_FLAG = 'not set: the running service has an HTTP server if it was started with --port';

function listenProblem(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/** Git is needed by hooks that call it, and for `workspace.repo`. */
export async function checkGit({ settings }: GoodWorkflow): Promise<readonly Finding[]> {
  const scripts = Object.values(settings.hooks).filter((script) => typeof script === 'string');
  const isCalled = scripts.some((script) => /\bgit\b/.test(script));
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], { timeout: COMMAND_MS });
    return [ok('git', stdout.trim())];
  } catch {
    const remedy = 'install git';
    return [
      isCalled || settings.workspace.repo !== null
        ? finding('error', 'git', `${isCalled ? 'a hook calls' : 'workspace.repo needs'} git, which is not there`, remedy)
        : finding('warning', 'git', 'git is not there; most agents want it', remedy),
    ];
  }
}
