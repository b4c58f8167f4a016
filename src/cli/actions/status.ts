import { setTimeout as delay } from 'node:timers/promises';
import type { LastPoll, Trouble } from '../../app/pages/chronicle.ts';
import { costText } from '../../domain/model/cost.ts';
import type { Durable } from '../../domain/model/durable.ts';
import { SHOWN_ELSEWHERE, type HoldCounts, type HoldReason, type HoldVerdict } from '../../domain/model/hold.ts';
import type { IssueRef } from '../../domain/model/issue.ts';
import { stopText } from '../../domain/rules/eligibility.ts';
import { dollars, duration, iso, utcMoment, printJson, printLine, printTable, printTitle } from '../output.ts';
import { onInterrupt, serviceFacts, serviceLine, withReading } from '../reading.ts';
import { gather, type Report } from './status-report.ts';

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
    const report = await withReading({ workflowPath, asJson, isFirst }, gather);
    if (report === null) return 1;
    if (watch && !asJson && process.stdout.isTTY) process.stdout.write(CLEAR_SCREEN);
    if (asJson) printJson(factsOf(report));
    else print(report);
    if (!watch || interrupted.aborted) return 0;
    await delay(WATCH_EVERY_MS, undefined, { signal: interrupted }).catch(() => {});
    if (interrupted.aborted) return 0;
  }
}

/** What keeps everything back first, then a table of each thing that goes on or waits. */
function print(report: Report): void {
  const { reading, durable, troubles, totals } = report;
  const now = Date.now();
  printLine(serviceLine(reading.records, report.isStopping));
  for (const { what, since, text, nextTryAt } of troubles)
    printLine(`PROBLEM (${what}) since ${utcMoment(since)}: ${text}${nextTryText(what, nextTryAt, now)}`);
  printPauses(durable);
  printLastPoll(report);
  printRunning(report, now);
  printWaiting(report, now);
  printParked(durable);
  printWatches(durable);
  printLine('');
  const cost = costText(totals, dollars);
  printLine(`finished runs: ${totals.runs}, ${duration(totals.seconds * 1000)}, ${totals.totalTokens} tokens, cost ${cost}`);
}

/** When it is tried again, where that is known. */
function nextTryText(what: Trouble['what'], at: number | null, now: number): string {
  if (at === null) return '';
  if (at <= now) return `; being tried again since ${utcMoment(at)}`;
  return what === 'tracker_quota' ? `; polls wait until ${utcMoment(at)}` : `; tried again at ${utcMoment(at)}`;
}

/** Why nothing new starts, where somebody or a usage limit keeps it back. */
function printPauses({ operatorPause, pauses }: Durable): void {
  if (operatorPause) {
    const { by, reason, since } = operatorPause;
    printLine(`PAUSED by ${by} since ${utcMoment(since)}${reason === '' ? '' : `: ${reason}`} ("foray resume" lets it go on)`);
  }
  for (const pause of pauses) printLine(`agent ${pause.agentKind} rests until ${utcMoment(pause.until)}: ${pause.reason}`);
}

/** What the service found at the tracker, and what of it it keeps back without a list of its own. */
function printLastPoll({ lastPoll }: Report): void {
  if (lastPoll === null) return;
  const { at, candidates } = lastPoll;
  printLine(`last poll ${utcMoment(at)}: ${candidates} candidate${candidates === 1 ? '' : 's'}`);
  const held = Object.entries(heldIn(lastPoll)).toSorted(([, one], [, other]) => other - one);
  const sum = held.reduce((total, [, count]) => total + count, 0);
  const counts = held.map(([reason, count]) => `${count} ${reason}`).join(', ');
  if (sum > 0) printLine(`Held (${sum}): ${counts}; foray explain tells more`);
}

function heldIn({ held }: LastPoll): HoldCounts {
  return Object.fromEntries(Object.entries(held).filter(([reason]) => !SHOWN_ELSEWHERE.has(reason as HoldReason)));
}

/** Sessions under way and issues that are being handed off; of a service that died, what was when it did. */
function printRunning({ reading, running }: Report, now: number): void {
  const isOver = reading.records?.daemon == null;
  printTitle(`\n${isOver && running.length > 0 ? 'Running when the service ended' : 'Running'} (${running.length})`);
  printTable(
    ['ISSUE', 'STATE', 'ATTEMPT', 'HOST', 'FOR', 'TURNS', 'TOKENS', 'COST', 'TITLE'],
    running.map(({ claim, run, host }) => [
      claim.issue.identifier,
      claim.phase === 'running' ? claim.issue.state : 'handing off',
      String(claim.attempt),
      host ?? '-',
      isOver ? '-' : duration(now - (run?.startedAt ?? claim.since)),
      String(run?.turns ?? 0),
      run?.tokensMeasured === true ? String(run.tokens.totalTokens) : '-',
      run?.costUsd == null ? '-' : dollars(run.costUsd),
      claim.issue.title,
    ]),
  );
  for (const { claim, waits } of running) {
    const stop = isOver ? null : stopText(claim);
    if (stop !== null) printLine(`${claim.issue.identifier} is ${stop}`);
    else if (waits !== null) printLine(`${claim.issue.identifier} ${waits}`);
  }
}

/** The retry queue. */
function printWaiting({ waiting }: Report, now: number): void {
  printTitle(`\nWaiting (${waiting.length})`);
  printTable(
    ['ISSUE', 'ATTEMPT', 'DUE IN', 'WHY'],
    waiting.map(({ claim: { issue, attempt, dueAt, error }, held }) => [
      issue.identifier,
      String(attempt),
      dueAt <= now ? 'now' : duration(dueAt - now),
      held === null ? error || 'continues' : heldText(held, error),
    ]),
  );
}

function heldText({ reason, detail }: HoldVerdict, error: string): string {
  const isTold = error === '' || error.includes(detail);
  return `held, ${reason}: ${detail}${isTold ? '' : ` (${error})`}`;
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

function factsOf({ reading, durable, running, waiting, troubles, lastPoll, totals }: Report) {
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
    running: running.map(runningFacts),
    retrying: waiting.map(retryFacts),
    parked: durable.parked.map(({ issue, reason, detail, parkedAt }) => ({
      ...nameOf(issue),
      reason,
      detail,
      parked_at: iso(parkedAt),
    })),
    watched: durable.watches.map(watchFacts),
    totals: {
      runs: totals.runs,
      seconds: totals.seconds,
      total_tokens: totals.totalTokens,
      cost_usd: totals.costUsd,
      unpriced_runs: totals.unpricedRuns,
    },
    holds: lastPoll && heldIn(lastPoll),
    last_poll_at: iso(lastPoll?.at ?? null),
  };
}

function runningFacts({ claim, run, host, waits }: Report['running'][number]) {
  return {
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
  };
}

function retryFacts({ claim: { issue, attempt, dueAt, error }, held }: Report['waiting'][number]) {
  return { ...nameOf(issue), attempt, due_at: iso(dueAt), error, held };
}

function watchFacts({ issue, mergeRequest: { owner, repo, number, branch }, armedAt }: Durable['watches'][number]) {
  return { ...nameOf(issue), owner, repo, number, branch, since: iso(armedAt) };
}

const NO_PLACE = { file: null, line: null, column: null };

function nameOf(issue: IssueRef) {
  return { issue_id: issue.id, issue_identifier: issue.identifier, title: issue.title, state: issue.state, url: issue.url };
}
