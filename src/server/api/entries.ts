import type { TokenUsage } from '../../domain/model/agent-event.ts';
import type { Parked } from '../../domain/model/claim.ts';
import type { IssueRef } from '../../domain/model/issue.ts';
import type { Run, RunEvent } from '../../domain/model/run.ts';
import type { Hold } from '../../domain/model/hold.ts';
import type { RunningView } from '../../domain/views/running-view.ts';
import type { RetryView } from '../../domain/views/snapshot.ts';
import type { ReactionView, WatchView } from '../../domain/views/watch-view.ts';
import { problemOf } from '../../domain/model/watch.ts';
import { isoTime } from '../http/envelope.ts';
import { wireNames } from '../wire-names.ts';

/* How each record is written in an answer. */

export function runningEntry(view: RunningView) {
  return {
    issue_id: view.issueId,
    issue_identifier: view.issueIdentifier,
    ...displayIdentifier(view.displayIdentifier),
    state: view.state,
    ...assumed(view),
    session_id: view.sessionId,
    turn_count: view.turnCount,
    last_event: view.lastEvent,
    last_message: view.lastMessage,
    started_at: isoTime(view.startedAt),
    last_event_at: isoTime(view.lastEventAt),
    workspace_path: view.workspacePath,
    ...(view.host === null ? {} : { host: view.host }),
    tokens: tokenCounts(view.tokens),
    ...(view.modelName === null || view.modelName === '' ? {} : { model_name: view.modelName }),
    api_request_count: view.apiRequestCount,
    ...(Object.keys(view.requestsByModel).length === 0 ? {} : { requests_by_model: view.requestsByModel }),
    tool_time_percent: view.toolTimePercent,
    api_time_percent: view.apiTimePercent,
  };
}

export function retryEntry(view: RetryView) {
  return {
    issue_id: view.issueId,
    issue_identifier: view.issueIdentifier,
    ...displayIdentifier(view.displayIdentifier),
    attempt: view.attempt,
    due_at: isoTime(view.dueAt),
    error: view.error,
  };
}

/** Present only beside a state that no label carries. */
function assumed({ stateAssumed }: Pick<IssueRef, 'stateAssumed'>): { state_assumed?: true } {
  return stateAssumed ? { state_assumed: true } : {};
}

/** Present only where the tracker has a qualified form. */
export function displayIdentifier(value: string | null | undefined): { display_identifier?: string } {
  return value === null || value === undefined ? {} : { display_identifier: value };
}

export function tokenCounts(tokens: TokenUsage) {
  return {
    input_tokens: tokens.inputTokens,
    output_tokens: tokens.outputTokens,
    total_tokens: tokens.totalTokens,
    cache_read_tokens: tokens.cacheReadTokens,
  };
}

export function runEntry(run: Run) {
  return {
    id: run.id,
    ...issueFields(run.issue),
    attempt: run.attempt,
    trigger: run.trigger,
    agent_kind: run.agentKind,
    status: run.status,
    started_at: isoTime(run.startedAt),
    ended_at: run.endedAt === null ? null : isoTime(run.endedAt),
    turn_count: run.turns,
    session_id: run.sessionId,
    workspace_path: run.workspacePath,
    ...(run.model === null ? {} : { model_name: run.model }),
    // Null when the agent reports no figures: unknown is not zero.
    tokens: run.tokensMeasured ? tokenCounts(run.tokens) : null,
    cost_usd: run.costUsd,
    error: run.error,
  };
}

export function eventEntry(event: RunEvent) {
  return {
    at: isoTime(event.at),
    type: event.type,
    text: event.text,
    ...(event.details && { details: wireNames(event.details) }),
  };
}

export function parkedEntry(parked: Parked) {
  return {
    ...issueFields(parked.issue),
    reason: parked.reason,
    detail: parked.detail,
    parked_at: isoTime(parked.parkedAt),
  };
}

export function holdEntry(hold: Hold) {
  return { ...issueFields(hold.issue), reason: hold.reason, detail: hold.detail, since: isoTime(hold.since) };
}

export function watchEntry(watch: WatchView) {
  const { owner, repo, number, branch, sha } = watch.mergeRequest;
  const { reading } = watch;
  return {
    issue_id: watch.issue.id,
    issue_identifier: watch.issue.identifier,
    ...displayIdentifier(watch.issue.displayIdentifier),
    owner,
    repo,
    number,
    branch,
    head_sha: reading?.headSha || sha,
    watched_since: isoTime(watch.armedAt),
    managed: watch.facts.standing.is === 'unread' ? null : watch.facts.standing.is === 'managed',
    problem: problemOf(watch),
    last_look: reading && {
      at: isoTime(reading.at),
      url: reading.url,
      mergeability: reading.mergeability,
      review_decision: reading.decision,
      // The word for no checks is one for people.
      ci_status: reading.ci === 'none' ? '' : reading.ci,
      draft: reading.draft,
      merged: reading.merged,
    },
    reactions: Object.entries(watch.reactions).map(([kind, progress]) => reactionEntry(kind, progress)),
  };
}

function reactionEntry(kind: string, progress: ReactionView) {
  return {
    kind,
    attempts_used: progress.used,
    escalated: progress.escalated,
    waiting_for: progress.waitingFor,
    next_check_at: progress.nextAt === null ? null : isoTime(progress.nextAt),
  };
}

export function issueFields(issue: IssueRef) {
  return {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    ...displayIdentifier(issue.displayIdentifier),
    title: issue.title,
    url: issue.url,
    state: issue.state,
    ...assumed(issue),
  };
}
