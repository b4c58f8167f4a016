import { z } from 'zod';
import { REACTION_KINDS, type ReactionKind } from '../domain/model/settings.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { byDefault, choice, milliseconds, text, textList, wholeNumber } from './fields.ts';
import { REACTION_KEYS, type ReactionDefaults } from './reaction-keys.ts';

type Member<Own extends z.ZodRawShape> = z.ZodOptional<z.ZodObject<ReturnType<typeof sharedKeys> & Own, z.core.$strict>>;
type Members = { readonly [Kind in ReactionKind]: Member<(typeof REACTION_KEYS)[Kind]['own']> };

/** The `reactions` section: one member per kind. */
export function reactionsSection(providers: readonly ProviderFacts[]) {
  const names = providers
    .filter((provider) => provider.roles.includes('scm'))
    .flatMap((provider) => [provider.kind, ...provider.aliases]);
  const members = REACTION_KINDS.map((kind) => {
    const { about, defaults, own } = REACTION_KEYS[kind];
    return [
      kind,
      z
        .strictObject({ ...sharedKeys(names, defaults), ...own })
        .optional()
        .describe(about),
    ];
  });
  return z
    .strictObject({ projects: textList(PROJECTS).optional(), ...(Object.fromEntries(members) as Members) })
    .describe('What is done about the merge requests that runs leave behind.');
}

const PROJECTS =
  "Projects besides the tracker's own whose merge requests are looked after: `owner/repo`, on GitLab the full path.";

function sharedKeys(providerNames: readonly string[], defaults: ReactionDefaults) {
  return {
    provider: text('Switches the reaction on: the kind of forge that holds the merge requests.')
      .meta({ enum: [...providerNames] })
      .optional(),
    poll_interval_ms: byDefault(milliseconds(100, 'Time between two looks at a merge request.'), defaults.pollIntervalMs),
    watch_window_ms: byDefault(
      wholeNumber({ min: 0 }, 'Time after which a merge request is left alone; 0: never.'),
      defaults.watchWindowMs,
    ),
    max_retries: wholeNumber({ min: 0 }, 'Turns or tries before a person is asked; 0: at once.')
      .meta({ default: defaults.budget })
      .optional(),
    escalation: byDefault(choice(['label', 'comment', 'none'], 'How a person is asked.'), 'label'),
    escalation_label: byDefault(text('Label that asks a person.'), 'needs-human'),
  };
}
