import { AgentError } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { JsonRpcError, JsonRpcTimeoutError } from '../../lib/json-rpc/index.ts';
import { within } from '../../lib/within.ts';
import { departureError, type AgentConnection } from '../shared/connection.ts';
import { cancelled, needsPerson } from '../shared/failures.ts';
import { LATE_FIGURES_MS, startPatience, stopPatience } from '../shared/patience.ts';
import { sandboxPolicy, turnParams } from './args.ts';
import { turnErrorOf } from './classify.ts';
import { judge, mayHaveLostCalls } from './judge.ts';
import type { Listener } from './listener.ts';
import type { Options } from './options.ts';
import { commandAnswer, turnAnswer, type TurnEnd } from './parse.ts';
import type { TurnWatch } from './turn-watch.ts';

/** Everything a turn needs. */
export interface TurnParts {
  readonly connection: AgentConnection;
  readonly listener: Listener;
  readonly watch: TurnWatch;
  readonly threadId: string;
  readonly workspacePath: string;
  readonly options: Options;
  readonly settings: AgentSettings;
  readonly now: () => number;
  readonly changedBefore: boolean;
}

/**
 * Takes one turn to its end. Null when it counts. Our own word comes first: a turn that was told to stop is cancelled,
 * and one that asked for a person needs one, whatever Codex says later.
 */
export async function takeTurn(parts: TurnParts, prompt: string, signal: AbortSignal): Promise<AgentError | null> {
  const { connection, listener, watch } = parts;
  const stopped = aborted(signal);
  try {
    const result = await Promise.race([
      watch.ended.then((end) => judgeTurn(parts, end)),
      refusedStart(parts, prompt),
      connection.over.then((departure) => departureError(departure, 'codex')),
      listener.asked.then(() => null),
      stopped.promise,
    ]);
    if (!signal.aborted && listener.question() === null) {
      // They may come a moment after the end, and those of the last turn would be lost.
      await within(LATE_FIGURES_MS, Promise.race([watch.figures(), connection.peer.closed, stopped.promise]));
      return result;
    }
    await interrupt(parts);
    if (!signal.aborted) return askedPerson(listener.question() ?? '');
    await connection.stop(stopPatience(parts.settings).leaveMs);
    return cancelled();
  } finally {
    stopped.forget();
  }
}

export function askedPerson(question: string): AgentError {
  return needsPerson(`codex asks what only a person can answer: ${question}`);
}

async function judgeTurn(parts: TurnParts, end: TurnEnd): Promise<AgentError | null> {
  const { listener, options, now, watch, changedBefore } = parts;
  const evidence = watch.evidence();
  const { sandbox } = options;
  const isDoubtful = end.status === 'completed' && mayHaveLostCalls(evidence, sandbox);
  const sandboxWorks = !isDoubtful || (await trySandbox(parts));
  return judge(end, evidence, { limits: listener.limits, now: now(), sandbox, sandboxWorks, changedBefore });
}

/** No start: a machine under load may take its time. */
const SANDBOX_MS = 60_000;

/** Has Codex run a command that does nothing, in the sandbox of the turn. */
async function trySandbox({ connection, options, workspacePath, settings }: TurnParts): Promise<boolean> {
  const timeoutMs = Math.max(settings.readTimeoutMs, SANDBOX_MS);
  const params = { command: ['true'], cwd: workspacePath, sandboxPolicy: sandboxPolicy(options, workspacePath), timeoutMs };
  try {
    return commandAnswer.parse(await connection.peer.request('command/exec', params, { timeoutMs })).exitCode === 0;
  } catch {
    return false;
  }
}

/** Asks for the turn, and resolves only if that fails. */
function refusedStart(parts: TurnParts, prompt: string): Promise<AgentError> {
  const { connection, listener, watch, settings, now } = parts;
  return new Promise((resolve) => {
    connection.peer.request('turn/start', turnParams(parts, prompt), { timeoutMs: startPatience(settings) }).then(
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

/** Asks Codex to end the turn, and waits a bounded time until it has. */
async function interrupt({ connection, watch, threadId, settings }: TurnParts): Promise<void> {
  const turnId = watch.turnId();
  if (turnId === null) return;
  const { interruptMs: timeoutMs } = stopPatience(settings);
  const late = aborted(AbortSignal.timeout(timeoutMs));
  connection.peer.request('turn/interrupt', { threadId, turnId }, { timeoutMs }).catch(() => {});
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
