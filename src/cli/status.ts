import { setTimeout as delay } from 'node:timers/promises';
import { troublesSince, type Trouble } from '../app/chronicle.ts';
import { costText, NO_COST, type CostSum } from '../domain/model/cost.ts';
import type { HandoffClaim, RunningClaim, WaitingClaim } from '../domain/model/claim.ts';
import { NOTHING_DURABLE, type Durable } from '../domain/model/durable.ts';
import type { IssueRef } from '../domain/model/issue.ts';
import { shownHostOf } from '../domain/model/host-path.ts';
import type { Run } from '../domain/model/run.ts';
import { shownName, waitIn } from '../runners/queue/known-workers.ts';
import type { LifetimeTotals } from '../ports/store.ts';
import type { Fleet } from '../store/postgres/index.ts';
import { dollars, duration, iso, utcMoment, printJson, printLine, printTable, printTitle } from './output.ts';
import { onInterrupt, openReading, serviceFacts, serviceLine, type ReadWorkflow } from './reading.ts';

const WATCH_EVERY_MS = 1_000;
/** What is seen; what has scrolled away is the reader's. */
const CLEAR_SCREEN = '\u001B[H\u001B[2J';

export interface StatusSettings {
  readonly workflowPath: string;
  readonly watch: boolean;
  readonly asJson: boolean;
}

/** Shows what the service of a workflow file is doing; with `watch` again and again. */
export async function showStatus({ workflowPath, watch, asJson }: StatusSettings): Promise<number> {
  const interrupted = onInterrupt();
  for (let isFirst = true; ; isFirst = false) {
    const reading = await openReading(workflowPath, asJson, isFirst);
    if (reading === null) return 1;
    const report = await gather(reading).finally(() => reading.records?.close());
    if (watch && !asJson && process.stdout.isTTY) process.stdout.write(CLEAR_SCREEN);
    if (asJson) printJson(factsOf(report));
    else print(report);
    if (!watch || interrupted.aborted) return 0;
    await delay(WATCH_EVERY_MS, undefined, { signal: interrupted }).catch(() => {});
    if (interrupted.aborted) return 0;
  }
}

interface RunningIssue {
  readonly claim: RunningClaim | HandoffClaim;
  readonly run: Run | null;
  /** Null for the machine of the service. */
  readonly host: string | null;
  /** What it waits for in the queue of the workers; null for one that was given to one of them, or runs elsewhere. */
  readonly waits: string | null;
}

interface Report {
  readonly reading: ReadWorkflow;
  readonly durable: Durable;
  readonly running: readonly RunningIssue[];
  readonly waiting: readonly WaitingClaim[];
  readonly troubles: readonly Trouble[];
  readonly totals: Pick<LifetimeTotals, 'runs' | 'totalTokens' | 'seconds' | keyof CostSum>;
}

const NO_TOTALS = { runs: 0, totalTokens: 0, seconds: 0, ...NO_COST };

async function gather(reading: ReadWorkflow): Promise<Report> {
  const { records } = reading;
  const durable = (await records?.load()) ?? NOTHING_DURABLE;
  const held = durable.claims.filter((claim) => claim.phase !== 'waiting');
  const fleet = held.length === 0 ? null : ((await records?.fleet()) ?? null);
  const waitOf = waitIn(fleet, reading.loaded.settings?.agent.runOn ?? null, FORAY_VERSION);
  const running = await Promise.all(
    held.map(async (claim) => {
      const runId = claim.phase === 'running' ? claim.runId : claim.handoff.runId;
      const waits = claim.phase === 'running' ? waitOf(runId) : null;
      const host = waits === null ? (workerOf(runId, fleet) ?? hostOf(claim, durable)) : null;
      return { claim, run: (await records?.findRun(runId))?.run ?? null, host, waits };
    }),
  );
  const waiting = durable.claims.filter((claim) => claim.phase === 'waiting').toSorted((a, b) => a.dueAt - b.dueAt);
  // Of a service that has ended nobody needs to know what kept it back.
  const troubles = records?.daemon ? await troublesSince(records.daemon.startedAt, records) : [];
  return { reading, durable, running, waiting, troubles, totals: (await records?.totals()) ?? NO_TOTALS };
}

/** What keeps everything back first, then a table of each thing that goes on or waits. */
function print(report: Report): void {
  const { reading, durable, troubles, totals } = report;
  const now = Date.now();
  printLine(serviceLine(reading.records));
  for (const { what, since, text, nextTryAt } of troubles)
    printLine(`PROBLEM (${what}) since ${utcMoment(since)}: ${text}${nextTryText(nextTryAt, now)}`);
  printPauses(durable);
  printRunning(report, now);
  printWaiting(report, now);
  printParked(durable);
  printWatches(durable);
  printLine('');
  const cost = costText(totals, dollars);
  printLine(`finished runs: ${totals.runs}, ${duration(totals.seconds * 1000)}, ${totals.totalTokens} tokens, cost ${cost}`);
}

/** When it is tried again, where that is known. */
function nextTryText(at: number | null, now: number): string {
  if (at === null) return '';
  return at > now ? `; tried again at ${utcMoment(at)}` : `; being tried again since ${utcMoment(at)}`;
}

/** Why nothing new starts, where somebody or a usage limit keeps it back. */
function printPauses({ operatorPause, pauses }: Durable): void {
  if (operatorPause) {
    const { by, reason, since } = operatorPause;
    printLine(`PAUSED by ${by} since ${utcMoment(since)}${reason === '' ? '' : `: ${reason}`} ("foray resume" lets it go on)`);
  }
  for (const pause of pauses) printLine(`agent ${pause.agentKind} rests until ${utcMoment(pause.until)}: ${pause.reason}`);
}

/** Sessions under way and issues that are being handed off. */
function printRunning({ running }: Report, now: number): void {
  printTitle(`\nRunning (${running.length})`);
  printTable(
    ['ISSUE', 'STATE', 'ATTEMPT', 'HOST', 'FOR', 'TURNS', 'TOKENS', 'COST', 'TITLE'],
    running.map(({ claim, run, host }) => [
      claim.issue.identifier,
      claim.phase === 'running' ? claim.issue.state : 'handing off',
      String(claim.attempt),
      host ?? '-',
      duration(now - (run?.startedAt ?? claim.since)),
      String(run?.turns ?? 0),
      run?.tokensMeasured === true ? String(run.tokens.totalTokens) : '-',
      run?.costUsd == null ? '-' : dollars(run.costUsd),
      claim.issue.title,
    ]),
  );
  for (const { claim, waits } of running) if (waits !== null) printLine(`${claim.issue.identifier} ${waits}`);
}

/** The retry queue. */
function printWaiting({ waiting }: Report, now: number): void {
  printTitle(`\nWaiting (${waiting.length})`);
  printTable(
    ['ISSUE', 'ATTEMPT', 'DUE IN', 'WHY'],
    waiting.map(({ issue, attempt, dueAt, error }) => [
      issue.identifier,
      String(attempt),
      dueAt <= now ? 'now' : duration(dueAt - now),
      error || 'continues',
    ]),
  );
}

/** Issues that wait for a person. */
function printParked({ parked }: Durable): void {
  printTitle(`\nParked (${parked.length})`);
  printTable(
    ['ISSUE', 'REASON', 'SINCE', 'DETAIL'],
    parked.map(({ issue, reason, parkedAt, detail }) => [issue.identifier, reason, utcMoment(parkedAt), detail]),
  );
}

/** Merge requests that reactions look after; no heading where there are none. */
function printWatches({ watches }: Durable): void {
  if (watches.length === 0) return;
  printTitle(`\nMerge requests watched (${watches.length})`);
  printTable(
    ['ISSUE', 'REQUEST', 'BRANCH', 'SINCE'],
    watches.map(({ issue, mergeRequest: { owner, repo, number, branch }, armedAt }) => [
      issue.identifier,
      `${owner}/${repo}#${number}`,
      branch,
      utcMoment(armedAt),
    ]),
  );
}

function factsOf({ reading, durable, running, waiting, troubles, totals }: Report) {
  const pause = durable.operatorPause;
  return {
    service: serviceFacts(reading.records),
    workflow_path: reading.loaded.path,
    problems: troubles.map(({ what, since, text, place, nextTryAt }) => ({
      what,
      since: iso(since),
      message: text,
      ...(place ?? NO_PLACE),
      next_try_at: iso(nextTryAt),
    })),
    paused: pause && { reason: pause.reason, by: pause.by, since: iso(pause.since) },
    agent_pauses: durable.pauses.map(({ agentKind, until, reason }) => ({ agent: agentKind, until: iso(until), reason })),
    running: running.map(({ claim, run, host, waits }) => ({
      ...nameOf(claim.issue),
      phase: claim.phase === 'running' ? 'running' : 'handing_off',
      attempt: claim.attempt,
      run_id: run?.id ?? null,
      host,
      waits,
      started_at: iso(run?.startedAt ?? claim.since),
      turns: run?.turns ?? 0,
      total_tokens: run?.tokensMeasured === true ? run.tokens.totalTokens : null,
      cost_usd: run?.costUsd ?? null,
    })),
    retrying: waiting.map(({ issue, attempt, dueAt, error }) => ({ ...nameOf(issue), attempt, due_at: iso(dueAt), error })),
    parked: durable.parked.map(({ issue, reason, detail, parkedAt }) => ({
      ...nameOf(issue),
      reason,
      detail,
      parked_at: iso(parkedAt),
    })),
    watched: durable.watches.map(({ issue, mergeRequest, armedAt }) => ({
      ...nameOf(issue),
      owner: mergeRequest.owner,
      repo: mergeRequest.repo,
      number: mergeRequest.number,
      branch: mergeRequest.branch,
      since: iso(armedAt),
    })),
    totals: {
      runs: totals.runs,
      seconds: totals.seconds,
      total_tokens: totals.totalTokens,
      cost_usd: totals.costUsd,
      unpriced_runs: totals.unpricedRuns,
    },
  };
}

const NO_PLACE = { file: null, line: null, column: null };

/** The worker that a run was given to, from the first moment on. */
function workerOf(runId: string, fleet: Fleet | null): string | null {
  const holder = fleet?.holders.get(runId);
  const worker = fleet?.workers.find(({ id }) => id === holder);
  return worker === undefined || fleet === null ? null : shownName(worker, fleet.workers);
}

/** Where its workspace is; null for the machine of the service. */
function hostOf({ issue }: RunningClaim | HandoffClaim, { workspaces }: Durable): string | null {
  const own = workspaces.filter(({ issueId }) => issueId === issue.id);
  const [last] = own.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt);
  return last === undefined ? null : shownHostOf(last.path);
}

function nameOf(issue: IssueRef) {
  return { issue_id: issue.id, issue_identifier: issue.identifier, title: issue.title, state: issue.state, url: issue.url };
}
