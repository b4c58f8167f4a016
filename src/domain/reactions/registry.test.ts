import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BARE_SUBJECT } from '../../../test/support/prompt-subject.ts';
import { reactionsSection } from '../../config/reaction-keys.ts';
import { DEFAULT_PROMPT } from '../../prompt/default-prompt.ts';
import { ROOT, templateData } from '../../prompt/variables.ts';
import { PROVIDER_FACTS } from '../../providers/facts.ts';
import { FAMILIES } from '../../server/metrics/families.ts';
import { ReactionsSchema, TriggerSchema } from '../../store/records/reactions.ts';
import { REACTIONS } from './registry.ts';

/** What a reaction declares of itself is all that the other folders know of it. */
describe.each(REACTIONS.map((reaction) => [reaction.kind, reaction] as const))('reaction %s', (kind, reaction) => {
  it('has the keys it declares in the workflow file', () => {
    const member = reactionsSection(PROVIDER_FACTS).shape[kind].parse({ provider: 'github' });
    const withDefault = Object.entries(reaction.keys).filter(([, key]) => 'default' in key && !('inBlock' in key));
    for (const [name, key] of withDefault) expect(member).toHaveProperty(name, (key as { default: unknown }).default);
    expect(member).toMatchObject({ poll_interval_ms: reaction.defaults.pollIntervalMs });
  });

  it('is stored with each of its marks, and with no other', () => {
    const stored = (mark: object) => ({
      [kind]: { used: 0, escalated: false, failures: 0, nextAt: 0, waitingFor: '', mark },
    });
    const marks = Object.entries(reaction.marks).map(([at, fields]) => ({ at, ...sampleOf(fields) }));
    for (const mark of marks) expect(ReactionsSchema().parse(stored(mark))).toEqual(stored(mark));
    expect(ReactionsSchema().safeParse(stored({ at: 'elsewhere' })).success).toBe(false);
  });

  it('is a label of the metrics', () => {
    const families = FAMILIES.filter(({ name }) => ['svc_reaction_turns_total', 'svc_reaction_escalations_total'].includes(name));
    expect(families.map(({ labels }) => labels['kind']?.includes(kind))).toEqual([true, true]);
  });

  it('has a page of the documentation that the overview leads to', () => {
    const page = `${kind.replaceAll('_', '-')}.md`;
    const folder = new URL('../../../docs/reactions/', import.meta.url);
    expect(existsSync(new URL(page, folder))).toBe(true);
    expect(readFileSync(new URL('README.md', folder), 'utf8')).toContain(page);
  });

  it('shows the run what it found, when it starts one', () => {
    expect(TriggerSchema().safeParse(kind).success).toBe(reaction.prompt !== null);
    if (reaction.prompt === null) return;
    const { variable, paragraph } = reaction.prompt;
    expect(templateData(BARE_SUBJECT)).toHaveProperty(variable, null);
    expect(Object.keys(ROOT.fields)).toContain(variable);
    expect(DEFAULT_PROMPT).toContain(paragraph);
  });
});

const SAMPLES: Readonly<Record<string, unknown>> = {
  text: 'x',
  'text or absent': 'x',
  number: 1,
  'number or null': null,
  'number or absent': 1,
  flag: true,
};

function sampleOf(shape: object): object {
  const entries = Object.entries(shape as Record<string, unknown>);
  return Object.fromEntries(entries.map(([name, inner]) => [name, sample(inner)]));
}

function sample(shape: unknown): unknown {
  if (typeof shape === 'string') return SAMPLES[shape];
  return Array.isArray(shape) ? shape.map(sample) : sampleOf(shape as object);
}

describe('reactions', () => {
  it('are registered once each', () => {
    const kinds = REACTIONS.map(({ kind }) => kind);
    expect(kinds).toEqual([...new Set(kinds)]);
  });
});
