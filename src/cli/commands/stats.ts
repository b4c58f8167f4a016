import { FORMAT_FLAG, isJson, UsageError, workflowOf, type Args, type Command } from '../command.ts';

const GROUPS = ['day', 'agent', 'state', 'issue'] as const;

export const command: Command = {
  name: 'stats',
  summary: 'runs by outcome, durations, tokens and cost',
  usage: '[--since 7d] [--by day|agent|state|issue] [--format text|json] [WORKFLOW.md]',
  flags: [
    { name: 'since', value: 'T', summary: 'how far back: 30m, 12h, 7d (default), 4w, or a date such as 2026-03-01' },
    { name: 'by', value: 'G', choices: GROUPS, summary: 'one row per day (default), agent, state or issue' },
    FORMAT_FLAG,
  ],
  example: 'foray stats --since 30d --by issue',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { showStats } = await import('../actions/stats.ts');
    return showStats({
      workflowPath: workflowOf(args, 0),
      since: readSince(args.value('since') ?? '7d', Date.now()),
      by: GROUPS.find((group) => group === args.value('by')) ?? 'day',
      asJson: isJson(args),
    });
  },
};

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time span before now, or a date. */
function readSince(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const date = isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(date))
    throw new UsageError(`--since must be a span such as 12h or 7d, or a date such as 2026-03-01, got "${text}"`);
  return date;
}

/** Whether the calendar has it: of the 30th of February a date would be made too. */
function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
