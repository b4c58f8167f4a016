import { context, SpanKind, SpanStatusCode, trace, type Attributes, type Span, type Tracer } from '@opentelemetry/api';
import { NO_TOKENS, type TokenUsage } from '../domain/model/agent-event.ts';
import type { IssueRef } from '../domain/model/issue.ts';
import type { Notice, NoticeName, Notices } from '../domain/model/notice.ts';
import type { RunEventDetails } from '../domain/model/run.ts';
import type { NoticeBus } from '../ports/events.ts';

export interface SpanDeps {
  readonly notices: NoticeBus;
}

/** What is being traced now. */
interface Traces extends SpanDeps {
  readonly tracer: Tracer;
  readonly issues: Map<string, Span>;
  readonly runs: Map<string, TracedRun>;
}

/** One session of one issue. */
interface TracedRun {
  readonly span: Span;
  turn: Span | null;
  readonly tools: Map<string, Span>;
  tokens: TokenUsage;
}

/**
 * Spans out of notices: an issue from its claim to its release, in it each run, in that each turn, in that each tool
 * call; a merge stands in the issue. Names and attributes of runs and tools are those of the OpenTelemetry conventions
 * for generative AI. Prompts, inputs and outputs are not sent.
 */
export function traceNotices(tracer: Tracer, deps: SpanDeps): { stop(): void } {
  const traces: Traces = { ...deps, tracer, issues: new Map(), runs: new Map() };
  const stopListening = deps.notices.listen((notice) => hear(traces, notice));
  return {
    stop() {
      stopListening();
      for (const run of traces.runs.values()) endAll(run);
      for (const span of traces.issues.values()) span.end();
    },
  };
}

function hear<Name extends NoticeName>(traces: Traces, notice: Extract<Notice, { name: Name }>): void {
  const handler = HANDLERS[notice.name] as ((traces: Traces, facts: Notices[Name]) => void) | undefined;
  handler?.(traces, notice.facts as Notices[Name]);
}

const HANDLERS: { readonly [Name in NoticeName]?: (traces: Traces, facts: Notices[Name]) => void } = {
  'issue:dispatch:started': startRun,
  'run:session:started': ({ runs }, { runId, sessionId }) =>
    runs.get(runId)?.span.setAttribute('gen_ai.conversation.id', sessionId),
  'run:turn:started': startTurn,
  'run:turn:completed': ({ runs }, { runId }) => endTurn(runs.get(runId)),
  'run:agent:spoke': traceTool,
  'run:tokens:counted': countTokens,
  'run:worker:exited': endRun,
  // What somebody else merged is no work of ours.
  'reaction:merge:succeeded': (traces, { issue, number, byUs }) => byUs && traceMerge(traces, issue, number, null),
  'reaction:merge:failed': (traces, { issue, number, error }) => traceMerge(traces, issue, number, error),
  'issue:claim:released': (traces, { issue, reason }) => endIssue(traces, issue, reason),
  'issue:park:entered': (traces, { issue, reason }) => endIssue(traces, issue, `parked: ${reason}`),
};

function startRun(traces: Traces, { issue, runId, attempt, trigger, agentKind: agent }: Notices['issue:dispatch:started']): void {
  const attributes = {
    ...issueAttributes(issue),
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'foray.run.id': runId,
    'foray.run.attempt': attempt,
    'foray.run.trigger': trigger,
  };
  const span = startChild(traces, issueSpan(traces, issue), `invoke_agent ${agent}`, attributes, SpanKind.CLIENT);
  traces.runs.set(runId, { span, turn: null, tools: new Map(), tokens: NO_TOKENS });
}

function startTurn(traces: Traces, { runId, turn }: Notices['run:turn:started']): void {
  const run = traces.runs.get(runId);
  if (!run) return;
  endTurn(run);
  run.turn = startChild(traces, run.span, `turn ${turn}`, { 'foray.turn.number': turn });
}

function endTurn(run: TracedRun | undefined): void {
  run?.turn?.end();
  if (run) run.turn = null;
}

function traceTool(traces: Traces, { runId, details }: Notices['run:agent:spoke']): void {
  const run = traces.runs.get(runId);
  if (!run) return;
  if (details?.kind === 'call') startTool(traces, run, details);
  if (details?.kind === 'result') endTool(run, details);
}

function startTool(traces: Traces, run: TracedRun, call: Extract<RunEventDetails, { kind: 'call' }>): void {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.toolId,
  };
  run.tools.set(call.toolId, startChild(traces, run.turn ?? run.span, `execute_tool ${call.name}`, attributes));
}

function endTool(run: TracedRun, result: Extract<RunEventDetails, { kind: 'result' }>): void {
  const span = run.tools.get(result.toolId);
  run.tools.delete(result.toolId);
  if (!result.ok) span?.setStatus({ code: SpanStatusCode.ERROR, message: 'the tool failed' });
  span?.end();
}

/** Notices tell what was added; the span carries the sum. */
function countTokens({ runs }: Traces, { runId, tokens }: Notices['run:tokens:counted']): void {
  const run = runs.get(runId);
  if (!run) return;
  run.tokens = {
    inputTokens: run.tokens.inputTokens + tokens.inputTokens,
    outputTokens: run.tokens.outputTokens + tokens.outputTokens,
    totalTokens: run.tokens.totalTokens + tokens.totalTokens,
    cacheReadTokens: run.tokens.cacheReadTokens + tokens.cacheReadTokens,
  };
  run.span.setAttributes({
    'gen_ai.usage.input_tokens': run.tokens.inputTokens,
    'gen_ai.usage.output_tokens': run.tokens.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': run.tokens.cacheReadTokens,
  });
}

function endRun({ runs }: Traces, { runId, status, turns, error }: Notices['run:worker:exited']): void {
  const run = runs.get(runId);
  if (!run) return;
  runs.delete(runId);
  run.span.setAttributes({ 'foray.run.status': status, 'foray.run.turns': turns });
  if (error !== null) run.span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  endAll(run);
}

function endAll({ span, turn, tools }: TracedRun): void {
  for (const open of [...tools.values(), ...(turn ? [turn] : []), span]) open.end();
}

function traceMerge(traces: Traces, issue: IssueRef, number: number, failure: string | null): void {
  const attributes = { ...issueAttributes(issue), 'foray.merge_request.number': number };
  const open = traces.issues.get(issue.id);
  const span = open
    ? startChild(traces, open, 'merge', attributes)
    : traces.tracer.startSpan('merge', { attributes, root: true });
  if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end();
}

function issueSpan({ tracer, issues }: Traces, issue: IssueRef): Span {
  const known = issues.get(issue.id);
  if (known) return known;
  const span = tracer.startSpan(`issue ${issue.identifier}`, { attributes: issueAttributes(issue), root: true });
  issues.set(issue.id, span);
  return span;
}

function endIssue({ issues }: Traces, issue: IssueRef, outcome: string): void {
  const span = issues.get(issue.id);
  issues.delete(issue.id);
  span?.setAttribute('foray.issue.outcome', outcome).end();
}

function startChild({ tracer }: Traces, parent: Span, name: string, attributes: Attributes, kind = SpanKind.INTERNAL): Span {
  return tracer.startSpan(name, { attributes, kind }, trace.setSpan(context.active(), parent));
}

function issueAttributes({ id, identifier }: IssueRef): Attributes {
  return { 'foray.issue.id': id, 'foray.issue.identifier': identifier };
}
