import { readFileSync } from 'node:fs';
import { SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, it } from 'vitest';
import { createNotices } from '../../test/support/fake-daemon.ts';
import type { Notice } from '../domain/model/notice.ts';
import { traceNotices } from './spans.ts';

const PAGE = readFileSync(new URL('../../docs/telemetry.md', import.meta.url), 'utf8');
const issue = { id: '1', identifier: 'ENG-7', displayIdentifier: null, title: 'T', url: '', state: 'todo' };
const run = { issue, runId: 'r-1' };
const tool = { toolId: 't-1', name: 'Bash', input: 'ls' };
const tokens = { inputTokens: 5, outputTokens: 2, totalTokens: 7, cacheReadTokens: 1 };

/** An issue from its dispatch to its merge. */
const NOTICES: readonly Notice[] = [
  { name: 'issue:dispatch:started', facts: { ...run, attempt: 0, trigger: 'fresh', agentKind: 'codex' } },
  { name: 'run:session:started', facts: { ...run, sessionId: 's-1' } },
  { name: 'run:turn:started', facts: { ...run, turn: 1, maxTurns: 2 } },
  { name: 'run:agent:spoke', facts: { ...run, type: 'tool_started', text: '', details: { kind: 'call', ...tool } } },
  {
    name: 'run:agent:spoke',
    facts: { ...run, type: 'tool_ended', text: '', details: { kind: 'result', ...tool, ok: false, durationMs: 1, output: 'no' } },
  },
  { name: 'run:tokens:counted', facts: { ...run, tokens } },
  { name: 'run:turn:completed', facts: { ...run, turn: 1, maxTurns: 2 } },
  {
    name: 'run:worker:exited',
    facts: { ...run, exitKind: 'normal', status: 'succeeded', turns: 1, durationMs: 1, error: null },
  },
  { name: 'reaction:merge:failed', facts: { issue, number: 12, error: 'refused' } },
  { name: 'issue:claim:released', facts: { issue, reason: 'handed off' } },
];

/** The rows of the page: the name of each span, where it stands, and its attributes. */
const DOCUMENTED = [...PAGE.matchAll(/^\| `([^`]+)` \| ([^|]*)\| (.*) \|$/gm)].map(
  ([, name = '', inside = '', attributes = '']) => ({
    name: name.replace('<identifier>', 'ENG-7').replace('<kind>', 'codex').replace('<n>', '1').replace('<name>', 'Bash'),
    isRoot: inside.trim() === '',
    attributes: [...attributes.matchAll(/`([^`]+)`/g)].map(([, attribute = '']) => attribute).toSorted(),
  }),
);

it('spans have the names, places and attributes of the page, and no others', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const notices = createNotices();
  const traces = traceNotices(provider.getTracer('test'), { notices });
  for (const notice of NOTICES) notices.announce(notice);
  traces.stop();
  const spans = exporter.getFinishedSpans();
  const shown = spans.map(({ name, parentSpanContext, attributes }) => ({
    name,
    isRoot: parentSpanContext === undefined,
    attributes: Object.keys(attributes).toSorted(),
  }));
  const byName = (a: { name: string }, b: { name: string }): number => a.name.localeCompare(b.name);
  expect(DOCUMENTED).toHaveLength(5);
  expect(shown.toSorted(byName)).toEqual(DOCUMENTED.toSorted(byName));
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(spans.filter(({ status }) => status.code === SpanStatusCode.ERROR).map(({ name }) => name)).toEqual([
    'execute_tool Bash',
    'merge',
  ]);
});
