import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BARE_SUBJECT } from '../../../test/support/prompt-subject.ts';
import { REACTION_KEYS } from '../../config/reaction-keys.ts';
import { templateData } from '../../prompt/variables.ts';
import { FAMILIES } from '../../server/metric-families.ts';
import { TriggerSchema } from '../../store/records/trigger.ts';
import { REACTION_KINDS } from '../model/settings.ts';
import { REACTIONS } from './registry.ts';

/** What adding a reaction takes. Whoever forgets a place is told here. */
describe.each(REACTIONS.map((reaction) => [reaction.kind, reaction] as const))('reaction %s', (kind, reaction) => {
  it('has keys in the workflow file', () => {
    expect(Object.keys(REACTION_KEYS)).toContain(kind);
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
    if (reaction.prompt === null) return;
    expect(TriggerSchema.safeParse(kind).success).toBe(true);
    expect(Object.keys(templateData(BARE_SUBJECT))).toContain(reaction.prompt.variable);
  });
});

describe('reactions', () => {
  it('are registered once each', () => {
    expect(REACTIONS.map(({ kind }) => kind).toSorted()).toEqual([...REACTION_KINDS].toSorted());
  });
});
