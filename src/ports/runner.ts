import type { AgentStatus } from '../domain/model/agent-event.ts';
import type { StopReason, TemplateInput } from '../domain/model/run.ts';
import type { RunPlan } from '../domain/model/effect.ts';
import type { RunReport } from '../domain/model/event.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { Agent, ToolServer } from './agent.ts';
import type { Tracker } from './tracker.ts';
import type { Workspaces } from './workspace.ts';

/**
 * Where runs live. The core starts a run from its plan, may stop it, and hears its reports; on which machine it works is
 * none of the core's business. Plan and reports are plain data.
 */
export interface Runner {
  /** Starts a run. Its last report is `run-exited`, exactly once, however it ends. */
  start(plan: RunPlan, hear: RunListener): void;
  /** Tells a run to end. One that is not known here any more is answered by its exit too, as the caller sees it. */
  stop(runId: string, reason: StopReason): StopAnswer;
}

/** A host that runs are given to, as it is seen from here. */
export interface HostView {
  readonly name: string;
  /** How it is reached: over SSH from here, or it takes runs from the queue itself. */
  readonly kind: 'ssh' | 'worker';
  readonly labels: readonly string[];
  /** Runs at the same time; null for no limit of its own. */
  readonly slots: number | null;
  readonly running: number;
  /** Of the last minute, as the system counts it; null where it is not told. */
  readonly load: number | null;
  /** Of Foray there; null where there is none. */
  readonly version: string | null;
  /** When it was last heard of, in epoch milliseconds; null for never. */
  readonly heardAt: number | null;
  /** Why it gets no run now, or null. */
  readonly problem: string | null;
}

/** Whether the run was there to be told. */
export type StopAnswer = 'told' | 'unknown';

export interface RunListener {
  report(report: RunReport): void;
  announce(notice: Notice): void;
}

/** What a run on this machine works with. It keeps those it started with, whatever is edited meanwhile. */
export interface RunAdapters {
  readonly tracker: Tracker;
  readonly agent: Agent;
  readonly workspaces: Workspaces;
  /** The prompt of one turn. Throws a TemplateError. */
  readonly promptFor: (input: TemplateInput) => string;
  readonly tools: RunTools;
}

/** The tools of a run's agent. */
export interface RunTools {
  /** Opens them and says how the agent starts them; null when there are none. */
  open(plan: RunPlan, tracker: Tracker): ToolServer | null;
  /** What the agent said through them about the outcome, or null. */
  statusOf(runId: string): AgentStatus | null;
  close(runId: string): void;
  /** The calls of a run whose agent is on another machine, carried out here under the same limits; null for none. */
  callsOf(plan: RunPlan, tracker: Tracker): ToolCalls | null;
}

/** Carries out what one run's agent asks for by its tools. */
export interface ToolCalls {
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>;
}

export type ToolAnswer =
  /** With the outcome that the agent told by this call, or null. */
  | { readonly ok: true; readonly data: unknown; readonly status: AgentStatus | null }
  /** A text for the agent. */
  | { readonly ok: false; readonly error: string };
