import { remedyFor } from '../domain/model/remedies.ts';
import type { IssueRef } from '../domain/model/issue.ts';
import { issueArgument } from '../domain/model/issue-name.ts';
import type { Notice, NoticeName, Notices } from '../domain/model/notice.ts';
import { HOLDS } from '../domain/model/hold.ts';
import type { NoticeBus } from '../ports/events.ts';
import type { Logger } from '../ports/runtime.ts';
import { debug, error, info, record, warn, type LogRecord } from './log-record.ts';

/** One log record for each notice that deserves one. Static messages; the facts are attributes. */
export function logNotices(notices: NoticeBus, logger: Logger): () => void {
  return notices.listen((notice) => {
    const record = recordOf(notice);
    if (record) logger[record.level](record.message, record.attributes);
  });
}

export function recordOf(notice: Notice): LogRecord | null {
  const make = RECORDS[notice.name] as ((facts: Notices[NoticeName]) => LogRecord | null) | undefined;
  return make?.(notice.facts) ?? null;
}

const RECORDS: { readonly [Name in NoticeName]?: (facts: Notices[Name]) => LogRecord | null } = {
  'poll:tick:completed': ({ candidates, dispatched, running, retrying }) =>
    info('tick completed', { candidates, dispatched, running, retrying }),
  'poll:tick:failed': ({ error, kind, retryInMs }) =>
    warn('poll failed, nothing dispatched until the next one', {
      error,
      error_kind: kind,
      retry_in_ms: retryInMs,
      remedy: remedyFor(kind, error) ?? undefined,
    }),
  'tracker:answer:awaited': ({ kind }) => warn('the tracker has not answered yet, still trying', { tracker_kind: kind }),
  // The first one is enough: while they last, the others say the same.
  'tracker:start:failed': ({ error, kind, retryInMs, tries }) =>
    tries > 1
      ? null
      : warn('the tracker cannot be read yet, trying again', {
          error,
          error_kind: kind,
          retry_in_ms: retryInMs,
          remedy: remedyFor(kind, error) ?? undefined,
        }),
  'tracker:start:postponed': ({ error, kind, retryInMs }) =>
    warn('the tracker asks to wait, polling begins later', {
      error,
      error_kind: kind,
      retry_in_ms: retryInMs,
      remedy: remedyFor(kind, error) ?? undefined,
    }),
  'poll:tick:postponed': ({ reason, resource, until }) =>
    warn('poll waits for the quota of the tracker', { reason, resource, until: new Date(until).toISOString() }),
  'poll:tick:resumed': () => info('polls no longer wait for the quota of the tracker', {}),
  'poll:pace:slowed': ({ intervalMs }) =>
    warn('polls are slowed to stay within the quota of the tracker', { interval_ms: intervalMs }),
  'poll:pace:restored': ({ intervalMs }) => info('polls come as configured again', { interval_ms: intervalMs }),
  'poll:states:failed': ({ error, running }) => warn('states could not be read, running issues keep running', { error, running }),
  'poll:preflight:failed': ({ problem }) => error('dispatch preflight failed, nothing is dispatched', { problem }),
  'poll:preflight:passed': () => info('dispatch preflight passed', {}),
  'issue:dispatch:started': ({ issue, runId, attempt, trigger }) =>
    debug('issue dispatched', { ...of(issue), run_id: runId, attempt, trigger }),
  'issue:candidate:held': ({ issue, reason, detail }) =>
    record(HOLDS[reason].isPassing ? 'debug' : 'info', 'candidate held', { ...of(issue), reason, detail }),
  'poll:candidates:held': ({ reason, candidates }) =>
    record(HOLDS[reason].isPassing ? 'debug' : 'info', 'more candidates held for the same reason', { reason, candidates }),
  'issue:claim:released': ({ issue, reason }) => debug('claim released', { ...of(issue), reason }),
  'issue:park:entered': ({ issue, reason, detail }) =>
    warn('issue parked until a person acts', {
      ...of(issue),
      reason,
      detail,
      release: `foray unpark ${issueArgument(issue.identifier)}`,
    }),
  'issue:park:released': ({ issue, reason }) => info('issue released from park', { ...of(issue), reason }),
  'issue:in-progress:succeeded': ({ issue, state }) =>
    info('in-progress transition succeeded', { ...of(issue), in_progress_state: state }),
  'issue:in-progress:refused': ({ issue, state, error: reason }) =>
    warn('in-progress transition refused, the run goes on', { ...of(issue), in_progress_state: state, error: reason }),
  'issue:state:unreadable': ({ issue, error: reason }) =>
    warn('state could not be read after the turn, the run goes on', { ...of(issue), error: reason }),
  'run:workspace:prepared': ({ issue, workspace }) => info('workspace prepared', { ...of(issue), workspace }),
  'run:session:started': ({ issue, sessionId }) => info('agent session started', { ...of(issue), session_id: sessionId }),
  'run:turn:started': ({ issue, turn, maxTurns }) =>
    info('turn started', { ...of(issue), turn_number: turn, max_turns: maxTurns }),
  'run:turn:completed': ({ issue, turn, maxTurns }) =>
    info('turn completed', { ...of(issue), turn_number: turn, max_turns: maxTurns }),
  'run:agent:spoke': ({ issue, type, text }) => debug('agent event', { ...of(issue), event: type, text: text.slice(0, 200) }),
  'run:ceiling:blind': ({ issue, keys }) =>
    warn('the agent tells no figures, a ceiling has no effect', { ...of(issue), keys: keys.join(', ') }),
  'run:stop:requested': ({ issue, reason }) => info('stopping the run', { ...of(issue), reason }),
  'run:review:failed': ({ issue, command, output, iteration, isLast }) =>
    warn(isLast ? 'verification failed, no turn is left to mend it' : 'verification failed, the agent gets another turn', {
      ...of(issue),
      command,
      iteration,
      output,
    }),
  'run:worker:exited': ({ issue, exitKind, turns, error: reason }) =>
    record(exitKind === 'error' ? 'warn' : 'info', 'worker exiting', {
      ...of(issue),
      exit_kind: exitKind,
      turns_completed: turns,
      error: reason ?? undefined,
    }),
  'handoff:transition:succeeded': ({ issue, state }) =>
    info('handoff transition succeeded, releasing claim', { ...of(issue), handoff_state: state }),
  'handoff:transition:refused': ({ issue, state, error: reason }) =>
    warn('handoff transition refused, continuing', { ...of(issue), handoff_state: state, error: reason }),
  'handoff:transition:failed': ({ issue, state, error: reason }) =>
    warn('handoff transition failed, it is tried again', { ...of(issue), handoff_state: state, error: reason }),
  'handoff:transition:skipped': ({ issue, state, reason }) =>
    info('handoff skipped', { ...of(issue), handoff_state: state, reason }),
  'retry:entry:scheduled': ({ issue, attempt, trigger, delayMs, error: reason }) =>
    info('retry scheduled', { ...of(issue), attempt, trigger, delay_ms: delayMs, error: reason || undefined }),
  'retry:entry:deferred': ({ issue, attempt, delayMs, reason }) =>
    debug('retry deferred', { ...of(issue), attempt, delay_ms: delayMs, reason }),
  'retry:entry:dropped': ({ issue, attempt, reason }) => info('retry dropped', { ...of(issue), attempt, reason }),
  'reconcile:issue:stopped': ({ issue, reason, state }) => info('reconciliation stops the run', { ...of(issue), reason, state }),
  'workspace:directory:removed': ({ issueId, identifier, workspace, why }) =>
    info('workspace removed', { issue_id: issueId, issue_identifier: identifier, workspace, reason: why }),
  'workspace:directory:aside': ({ issueId, identifier, workspace, aside }) =>
    warn('directory without a mark moved aside', { issue_id: issueId, issue_identifier: identifier, workspace, aside }),
  'workspace:directory:kept': ({ issueId, identifier, workspace, error: reason }) =>
    warn('workspace could not be removed', { issue_id: issueId, issue_identifier: identifier, workspace, error: reason }),
  'cleanup:read:failed': ({ error: reason, retryInMs }) =>
    warn('terminal issues could not be read for cleanup, tried again later', { error: reason, retry_in_ms: retryInMs }),
  'cleanup:root:failed': ({ error: reason, retryInMs }) =>
    warn('workspace root could not be listed for cleanup, tried again later', { error: reason, retry_in_ms: retryInMs }),
  'outbox:write:sent': ({ issue, kind }) => debug('tracker write sent', { ...of(issue), kind }),
  'outbox:write:failed': ({ issue, kind, error: reason, gaveUp }) =>
    warn(gaveUp ? 'tracker write failed and is given up' : 'tracker write failed, it is tried again', {
      ...of(issue),
      kind,
      error: reason,
    }),
  'notification:message:sent': ({ target, event }) => debug('notification sent', { target, event }),
  'notification:message:failed': ({ target, event, error: reason, tries, gaveUp }) =>
    record(
      gaveUp || tries === 1 ? 'warn' : 'debug',
      gaveUp ? 'notification failed and is given up' : 'notification failed, it is tried again',
      { target, event, tries, error: reason },
    ),
  'notification:message:dropped': ({ target, event }) =>
    warn('notification left out, too many wait for the target', { target, event }),
  'agent:kind:paused': ({ agentKind, until, reason }) =>
    warn('agent paused until its limit lifts', { agent: agentKind, until: new Date(until).toISOString(), reason }),
  'agent:kind:resumed': ({ agentKind }) => info('agent resumed', { agent: agentKind }),
  'tracker:records:left': ({ label, ...counts }) =>
    warn('records of another tracker are left alone', { identity: label, ...counts }),
  'workflow:file:reloaded': ({ path }) => info('workflow reloaded', { workflow_path: path }),
  'workflow:file:awaited': ({ path, kind }) =>
    warn('workflow edit waits for its tracker, the last good one stays in force', { workflow_path: path, tracker_kind: kind }),
  'workflow:file:rejected': ({ path, problems, faults: [first] }) =>
    error('workflow edit rejected, the last good one stays in force', {
      workflow_path: path,
      problems: problems.join(' | '),
      check: first?.check,
      file: first?.file,
      line: first?.line ?? undefined,
      column: first?.column ?? undefined,
    }),
  'reaction:watch:armed': ({ issue, owner, repo, number }) =>
    info('merge request watched', { ...of(issue), owner, repo, number }),
  'reaction:request:refused': ({ issue, owner, repo, number, why }) =>
    warn("merge request is not this issue's", { ...of(issue), owner, repo, number, reason: why }),
  'reaction:request:closed': ({ issue, owner, repo, number }) =>
    info('merge request closed, watched again once it is opened again', { ...of(issue), owner, repo, number }),
  'reaction:issue:closed': ({ issue, owner, repo, number }) =>
    info('issue closed, its merge request waits until it is opened again', { ...of(issue), owner, repo, number }),
  'reaction:issue:gone': ({ issue, owner, repo, number }) =>
    warn('issue is gone, its merge request waits', {
      ...of(issue),
      owner,
      repo,
      number,
      reason: 'the tracker no longer has the issue: merge or close the request by hand',
    }),
  'reaction:request:gone': ({ issue, owner, repo, number }) =>
    warn('merge request is gone', {
      ...of(issue),
      owner,
      repo,
      number,
      reason: 'the forge did not have it at two looks in a row',
    }),
  'reaction:read:failed': ({ issue, number, error: reason }) =>
    warn('merge request could not be read', { ...of(issue), number, error: reason }),
  'reaction:account:unknown': ({ error: reason }) =>
    warn('own account is not known, what it says counts as said by others', {
      error: reason,
      consequence: 'its approvals count for a merge, its labels are commands, and its comments are given to the agent',
      remedy: 'let the token read its own account (GET /user), or take the token of a user who may',
    }),
  'reaction:merge:queued': ({ issue, number, headSha }) =>
    info('merge request queued for its merge', { ...of(issue), number, head_sha: headSha }),
  'reaction:merge:postponed': ({ issue, number, headSha, why }) =>
    info('merge postponed by the forge', { ...of(issue), number, head_sha: headSha, reason: why }),
  'reaction:watch:ended': ({ issue, why }) => info('merge request no longer watched', { ...of(issue), reason: why }),
  'reaction:check:completed': ({ issue, kind, result, detail }) =>
    debug('reaction checked', { ...of(issue), reaction: kind, result, detail }),
  'reaction:turn:dropped': ({ issue, kind, why }) => info('queued turn dropped', { ...of(issue), reaction: kind, reason: why }),
  'reaction:turn:queued': ({ issue, kind, attempt }) =>
    info('reaction queued a turn', { ...of(issue), reaction: kind, turns_used: attempt }),
  'reaction:escalation:raised': ({ issue, kind, action, why }) =>
    warn('a person is needed for the merge request', { ...of(issue), reaction: kind, escalation: action, reason: why }),
  'reaction:merge:succeeded': ({ issue, number, headSha, byUs }) =>
    info('merge request merged', { ...of(issue), number, head_sha: headSha, by_us: byUs }),
  'reaction:merge:failed': ({ issue, number, error: reason }) => warn('merge refused', { ...of(issue), number, error: reason }),
  'reaction:merge:would': ({ issue, number, headSha, strategy }) =>
    info('merge request would be merged', { ...of(issue), number, head_sha: headSha, strategy }),
  'reaction:merge:disabled': ({ why }) => error('auto-merge is off for this process', { reason: why }),
  'reaction:branch:deleted': ({ issue, branch }) => info('branch deleted', { ...of(issue), branch }),
  'reaction:branch:kept': ({ issue, branch, error: reason }) =>
    warn('branch could not be deleted', { ...of(issue), branch, error: reason }),
  'reaction:completion:succeeded': ({ issue, state }) =>
    info('issue completed after its merge', { ...of(issue), target_state: state }),
  'reaction:completion:failed': ({ issue, state, error: reason }) =>
    warn('issue could not be completed after its merge', { ...of(issue), target_state: state, error: reason }),
  'reaction:label:kept': ({ issue, label, error: reason }) =>
    warn('command label could not be removed', { ...of(issue), label, error: reason }),
  'daemon:drain:cut': ({ running, writes }) =>
    warn('stopping without what did not end in time', { running, writes: writes.join(', ') || undefined }),
  'daemon:effect:failed': ({ effect, error: reason }) => error('an effect failed unexpectedly', { effect, error: reason }),
  'operator:request:answered': ({ request, by, answer }) => {
    const facts = {
      request: request.kind,
      issue_identifier: 'identifier' in request ? request.identifier : undefined,
      reason: request.kind === 'pause' && request.reason !== '' ? request.reason : undefined,
      by,
      answer: answer.message,
    };
    if (answer.outcome === 'taken') return info('operator request taken', facts);
    return answer.outcome === 'refused' ? warn('operator request refused', facts) : warn('operator request unknown', facts);
  },
  'daemon:drain:started': ({ running }) => info('draining', { running }),
};

function of(issue: IssueRef): { issue_id: string; issue_identifier: string } {
  return { issue_id: issue.id, issue_identifier: issue.identifier };
}
