import type { ParkReason } from './claim.ts';
import { isAgentErrorKind, isTrackerErrorKind, type AgentErrorKind, type FaultKind, type TrackerErrorKind } from './errors.ts';

/** A start ends with it where the kind has to be proved first. */
export const LASTING_LIMIT = 'the tracker limits requests and does not say for how long: start again later';

/** What a person can do about a tracker that cannot be read, by the kind of the error. */
const TRACKER_REMEDIES: Readonly<Record<TrackerErrorKind, string>> = {
  tracker_auth_error: 'renew the token, or give it the right that it lacks; foray doctor tells more',
  tracker_payload_error: 'check tracker.endpoint, states, labels and filter of the workflow file; foray doctor tells more',
  tracker_not_found: 'the project may be gone, renamed or hidden from the token: check tracker.project and tracker.endpoint',
  tracker_api_error: 'it is asked again by itself; raise polling.interval_ms where this stays',
  tracker_transport_error: 'it is asked again by itself; check tracker.endpoint and the network where this stays',
  tracker_missing_end_cursor: 'it is asked again by itself',
  missing_tracker_project: 'set tracker.project',
};

/** What a person can do about one that says nothing at all. */
export const IF_SILENT = 'check tracker.endpoint, the network and the proxy where this stays';

/** Why an edit of the workflow file is not in force yet, where its tracker says nothing. */
export const EDIT_WAITS = `the last edit waits for its tracker, which has not answered yet; ${IF_SILENT}`;

/** The file of the `file` kind says in its own words what to do about it. */
const OF_FILE = /\btracker: \w+: (?:READ|WRITE) /;

/** No waiting mends an address that only leads on. */
const REDIRECTED = /\bredirected to (?:another origin|an address that is none)|\bmore than \d+ redirects/;

/** Neither does it shorten what people write. */
const TOO_LONG = /\bthe answer is longer than \d+ bytes/;

export function remedyFor(kind: FaultKind, error: string): string | null {
  if (OF_FILE.test(error)) return 'it is read again at every poll; foray doctor tells more';
  const lasting = remedyWhereWaitingFails(error);
  if (lasting !== null) return lasting;
  return isTrackerErrorKind(kind) ? TRACKER_REMEDIES[kind] : null;
}

/** What a person can do about an answer that stays as it is, however often it is asked for; null for any other. */
export function remedyWhereWaitingFails(error: string): string | null {
  if (REDIRECTED.test(error)) return 'check tracker.endpoint: that address leads somewhere else';
  if (TOO_LONG.test(error))
    return 'issues or comments with very long texts: shorten or close them, or leave them out by tracker.query_filter';
  return null;
}

/** What a person can do about what ended a run, read from the words it is kept in; null where only time helps. */
export function remedyForRun(error: string): string | null {
  const hook = /\bworkspace: hook (\w+):/.exec(error)?.[1];
  if (hook !== undefined) return `mend hooks.${hook} of the workflow file`;
  const step = /\bworkspace: (\w+): /.exec(error)?.[1];
  if (step !== undefined) return remedyForStep(step, error);
  const [, area, kind = ''] = /\b(agent|tracker): (\w+): /.exec(error) ?? [];
  if (area === 'tracker') return isTrackerErrorKind(kind) ? remedyFor(kind, error) : null;
  if (/\btemplate: line \d/.test(error))
    return 'correct the prompt of the workflow file at that line, with if around what may be missing';
  return area === 'agent' && isAgentErrorKind(kind) ? AGENT_REMEDIES[kind] : null;
}

function remedyForStep(step: string, error: string): string | null {
  const bySsh = SSH_REMEDIES.find(([sign]) => sign.test(error))?.[1];
  return bySsh ?? (Object.hasOwn(WORKSPACE_REMEDIES, step) ? (WORKSPACE_REMEDIES[step] ?? null) : null);
}

/** By the step that failed. */
const WORKSPACE_REMEDIES: Readonly<Record<string, string>> = {
  prepare: 'let the user of the service make directories in workspace.root, or change it; foray doctor tells more',
  clone: 'check workspace.repo and the credential for it',
  fetch: 'check workspace.repo and the credential for it',
};

/** What no other address or credential mends. */
const SSH_REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/host key verification failed/i, 'write the key of the server to ~/.ssh/known_hosts of the user of the service'],
  [/cannot run ssh|\bssh: (?:command )?not found/i, 'install an SSH client, or write workspace.repo as an https address'],
];

/** What a person can do about an issue that waits for one; null for a reason of another version. */
export function remedyForPark(reason: string, detail: string): string | null {
  // No agent asks there: the remote, or the workspace, does, and the words it is kept in say for what.
  if (reason === 'needs_person' && detail.startsWith('delivery: ')) return 'mend what the detail says';
  return Object.entries(PARK_REMEDIES).find(([known]) => known === reason)?.[1] ?? null;
}

const PARK_REMEDIES: Readonly<Record<ParkReason, string>> = {
  blocked: 'read what the agent said and do what it lacks',
  needs_review: 'review the work; tracker.handoff_state would move such issues by itself',
  needs_person: 'answer the agent in the issue',
  refused: 'rewrite the issue: the model declined it',
  session_budget: 'raise agent.max_sessions, or give it another budget',
  token_budget: 'raise agent.max_tokens, or give it another budget',
  cost_budget: 'raise agent.max_cost_usd, or give it another budget',
  out_of_attempts: 'mend what the last attempt failed of',
  escalated: 'look at the merge request',
  stopped_by_operator: 'somebody stopped it on purpose',
};

/** Null where nobody has to do anything, or where a person is asked for in another way. */
const AGENT_REMEDIES: Readonly<Record<AgentErrorKind, string | null>> = {
  agent_not_found: 'install the program, or set agent.command to where it is',
  agent_not_logged_in: 'log the program in as the user of the service',
  agent_usage_limit: null,
  agent_refused: null,
  agent_needs_person: null,
  agent_protocol_error: 'update the program of the agent: foray doctor tells its version',
  agent_exited: 'read its last words; an option or subcommand that it does not know asks for a newer version of the program',
  agent_did_nothing: 'look at the prompt and at the login of the agent',
  agent_no_evidence: 'let the agent say no-change-needed where that is right',
  verification_failed: 'read the output of the command in foray logs',
  turn_failed: null,
  turn_timeout: 'raise agent.turn_timeout_ms, or make the issue smaller',
  turn_stalled: 'raise agent.stall_timeout_ms where tools run long',
  turn_cancelled: null,
};
