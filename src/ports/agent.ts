import type { AgentEvent } from '../domain/model/agent-event.ts';
import type { Fault } from '../domain/model/fault.ts';
import type { ProcessHost } from './process.ts';

/** One coding agent, such as a command-line program. Sessions are independent and may run at once. */
export interface Agent {
  readonly kind: string;
  /** What keeps sessions from starting (a missing program, a bad option), or null. Reads only, no network. */
  findProblem(): Promise<string | null>;
  /** Opens a session, or resumes the one named. A failure is an AgentError. */
  startSession(request: SessionRequest, signal: AbortSignal): Promise<AgentSession>;
}

/** Plain data, so that a session could be opened on another host. */
export interface SessionRequest {
  readonly runId: string;
  readonly issueId: string;
  readonly issueIdentifier: string;
  /** Absolute; the agent's working directory. */
  readonly workspacePath: string;
  /** The conversation to go on with, or null for a new one. */
  readonly resumeSessionId: string | null;
  /** How to start this run's tool server, or null when the session has none. */
  readonly toolServer: ToolServer | null;
}

/** A Model Context Protocol server over stdio. */
export interface ToolServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentSession {
  /** The agent's own id of the conversation; may be empty until the first turn and may change with it. */
  readonly sessionId: string;
  /** Whether the session was given the tool server of the request. */
  readonly hasTools: boolean;
  /**
   * Runs one turn to its end. Events come in order and none after the promise settled. Aborting interrupts the turn,
   * ends its processes within the stop grace, and settles as `turn_cancelled`. Never rejects for a foreseeable fault.
   */
  runTurn(turn: Turn, onEvent: (event: AgentEvent) => void, signal: AbortSignal): Promise<TurnResult>;
  /** Ends the session and every process of it. Safe to repeat; resolves when all are gone. */
  stop(): Promise<void>;
}

export interface Turn {
  readonly number: number;
  readonly prompt: string;
  /** What is left of the issue's budget in US dollars; absent or null for no limit. Agents that take a budget are given it. */
  readonly budgetUsd?: number | null;
}

/** `ok` needs the agent's own word of success and a sign of work (model text or a tool call) in this turn. */
export type TurnResult = { readonly ok: true } | { readonly ok: false; readonly fault: Fault };

/** What an agent gets from its host besides settings. */
export interface AgentDeps {
  /** The environment agents inherit: without the tracker's credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that no text of an agent may show, besides the credentials of its own environment. */
  readonly secrets?: () => readonly string[];
  /** Whom agents run as, where it is not the daemon's own user. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  readonly clock: { now(): number };
  readonly logger: import('./runtime.ts').Logger;
  /** Told of every process group as it starts and ends, so that leftovers of a crash can be found. */
  readonly processes: ProcessLedger;
  /** Where its programs run; on this machine unless given. */
  readonly host?: ProcessHost;
  /** What the runs of an issue in one conversation cost so far, as they are recorded; null where there are none. */
  readonly costRecorded?: (issueIdentifier: string, sessionId: string) => Promise<number | null>;
}

/** Remembers process groups across a crash. A group is known by its leader's pid and start time, never by pid alone. */
export interface ProcessLedger {
  started(pid: number, owner: string): void;
  ended(pid: number): void;
}
