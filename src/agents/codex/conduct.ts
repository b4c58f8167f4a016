import { AgentError } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { JsonRpcError, JsonRpcTimeoutError } from '../../lib/json-rpc/index.ts';
import { turnErrorOf } from './classify.ts';
import type { Connection } from './connection.ts';
import { judge, type Circumstances } from './judge.ts';
import type { Listener } from './listener.ts';
import type { CodexOptions } from './options.ts';
import { turnAnswer } from './parse.ts';
import type { TurnWatch } from './turn.ts';

/** Everything a turn needs. */
export interface Stage {
  readonly connection: Connection;
  readonly listener: Listener;
  readonly watch: TurnWatch;
  readonly threadId: string;
  readonly workspacePath: string;
  readonly options: CodexOptions;
  readonly settings: AgentSettings;
  readonly now: () => number;
}

/** How long Codex may take over what needs its servers and models to be loaded. */
export function startPatience({ readTimeoutMs }: AgentSettings): number {
  return Math.max(readTimeoutMs, 60_000);
}

/**
 * Takes one turn to its end. Null when it counts. Our own word comes first: a turn that was told to stop is cancelled,
 * and one that asked for a person needs one, whatever Codex says later.
 */
export async function conductTurn(stage: Stage, prompt: string, signal: AbortSignal): Promise<AgentError | null> {
  const { connection, listener, watch } = stage;
  const stopped = aborted(signal);
  try {
    const result = await Promise.race([
      watch.ended.then((end) => judge(end, watch.evidence(), circumstances(stage))),
      refusedStart(stage, prompt),
      connection.over,
      listener.asked.then(() => null),
      stopped.promise,
    ]);
    if (!signal.aborted && listener.question() === null) return result;
    await interrupt(stage);
    if (!signal.aborted) return needsPerson(listener.question() ?? '');
    await connection.stop();
    return cancelled();
  } finally {
    stopped.forget();
  }
}

function circumstances({ listener, options, now }: Stage): Circumstances {
  return { limits: listener.limits, now: now(), sandbox: options.sandbox };
}

export function cancelled(): AgentError {
  return new AgentError({ kind: 'turn_cancelled', detail: 'the turn was told to stop' });
}

export function needsPerson(question: string): AgentError {
  return new AgentError({ kind: 'agent_needs_person', detail: `codex asks what only a person can answer: ${question}` });
}

/** Asks for the turn, and resolves only if that fails. */
function refusedStart(stage: Stage, prompt: string): Promise<AgentError> {
  const { connection, listener, watch, settings, now } = stage;
  return new Promise((resolve) => {
    connection.peer.request('turn/start', turnParams(stage, prompt), { timeoutMs: startPatience(settings) }).then(
      (answer) => {
        const read = turnAnswer.safeParse(answer);
        if (read.success) watch.named(read.data.turn.id);
      },
      (error: unknown) => {
        if (error instanceof JsonRpcError) resolve(turnErrorOf({ message: error.message }, listener.limits, now()));
        // A turn that was announced has begun, whatever became of the answer.
        if (error instanceof JsonRpcTimeoutError && watch.turnId() === null) resolve(notStarted(error));
      },
    );
  });
}

function notStarted(error: Error): AgentError {
  return new AgentError({ kind: 'agent_protocol_error', detail: `codex did not start the turn: ${error.message}`, cause: error });
}

function turnParams({ threadId, workspacePath, options }: Stage, prompt: string): Record<string, unknown> {
  return {
    threadId,
    input: [{ type: 'text', text: prompt, text_elements: [] }],
    cwd: workspacePath,
    approvalPolicy: options.approval_policy,
    sandboxPolicy: sandboxPolicy(options, workspacePath),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
  };
}

/** A thread knows its sandbox by name only; whether it may use the network is told with the turn. */
function sandboxPolicy({ sandbox, network_access: networkAccess }: CodexOptions, workspacePath: string): Record<string, unknown> {
  switch (sandbox) {
    case 'read-only':
      return { type: 'readOnly', networkAccess };
    case 'workspace-write':
      return { type: 'workspaceWrite', writableRoots: [workspacePath], networkAccess };
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
  }
}

/** Asks Codex to end the turn, and waits a bounded time until it has. */
async function interrupt({ connection, watch, threadId, settings }: Stage): Promise<void> {
  const turnId = watch.turnId();
  if (turnId === null) return;
  const late = aborted(AbortSignal.timeout(settings.readTimeoutMs));
  connection.peer.request('turn/interrupt', { threadId, turnId }, { timeoutMs: settings.readTimeoutMs }).catch(() => {});
  await Promise.race([watch.ended, connection.over, late.promise]);
  late.forget();
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal): { readonly promise: Promise<null>; forget(): void } {
  let tell = (): void => {};
  const promise = new Promise<null>((resolve) => (tell = () => resolve(null)));
  if (signal.aborted) tell();
  signal.addEventListener('abort', tell, { once: true });
  return { promise, forget: () => signal.removeEventListener('abort', tell) };
}
