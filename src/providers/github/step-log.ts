import type { WireStep } from './scm-schema.ts';

/** One line of a job's log, with the time at its beginning taken off. */
interface LogLine {
  readonly at: number;
  readonly text: string;
}

/**
 * The part of a job's log that its failing step wrote, up to the error it ended with. The log is one text for all steps:
 * what belongs to a step is found by the times of its lines. Where it cannot be found, all up to the last error.
 */
export function failingStepLog(log: string, steps: readonly WireStep[]): string {
  const lines = readLines(log);
  const step = failingStep(steps);
  const own = step ? linesOf(step, steps, lines) : [];
  return untilLastError(own.length > 0 ? own : lines)
    .map(({ text }) => text)
    .join('\n');
}

/** A job that ran out of time has no failed step, but one that was cancelled. */
const FAILING_FIRST = ['failure', 'timed_out', 'cancelled'];

export function failingStep(steps: readonly WireStep[]): WireStep | undefined {
  const inOrder = steps.toSorted((a, b) => a.number - b.number);
  return FAILING_FIRST.flatMap((conclusion) => inOrder.find((step) => step.conclusion === conclusion) ?? [])[0];
}

const STAMPED = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z) ?/;

// A line without a time of its own goes with the one before it.
function readLines(log: string): readonly LogLine[] {
  let at = Number.NEGATIVE_INFINITY;
  return log
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => {
      const stamp = STAMPED.exec(line);
      if (stamp) at = Date.parse(stamp[1] ?? '');
      return { at, text: stamp ? line.slice(stamp[0].length) : line };
    });
}

/** Steps tell whole seconds and lines parts of them, so that a step's last second is the first of the next one. */
const SECOND = 1000;

function linesOf(step: WireStep, steps: readonly WireStep[], lines: readonly LogLine[]): readonly LogLine[] {
  const from = Date.parse(step.started_at);
  const lastSecond = Date.parse(step.completed_at);
  const span = lines.filter(({ at }) => at >= from && at < lastSecond + SECOND);
  const own = span.slice(ownStart(step, steps, span));
  const next = own.findIndex(({ at, text }, index) => index > 0 && at >= lastSecond && isStepStart(text) && hasError(own, index));
  return next === -1 ? own : own.slice(0, next);
}

// The steps before it that began in the same second wrote their beginnings into it too.
function ownStart(step: WireStep, steps: readonly WireStep[], span: readonly LogLine[]): number {
  const named = span.findIndex(({ text }) => text === `${GROUP}${step.name}`);
  if (named !== -1) return named;
  const starts = [...span.keys()].filter((index) => isStepStart(span[index]?.text ?? ''));
  const earlier = steps.filter((one) => one.number < step.number);
  if (!earlier.some((one) => Date.parse(one.completed_at) >= Date.parse(step.started_at))) return 0;
  const skipped = earlier.filter((one) => one.started_at === step.started_at && !isSetUp(one)).length;
  return starts[skipped] ?? 0;
}

const GROUP = '##[group]';

function isStepStart(text: string): boolean {
  return text.startsWith(`${GROUP}Run `) || text.startsWith('Post job cleanup.');
}

// The runner's own first step has no beginning of that kind.
function isSetUp({ number }: WireStep): boolean {
  return number === 1;
}

function hasError(lines: readonly LogLine[], before: number): boolean {
  return lines.slice(0, before).some(isError);
}

function untilLastError(lines: readonly LogLine[]): readonly LogLine[] {
  const last = lines.findLastIndex(isError);
  return last === -1 ? lines : lines.slice(0, last + 1);
}

function isError({ text }: LogLine): boolean {
  return text.startsWith('##[error]');
}
