import { z } from 'zod';
import type { ReactionKind } from '../domain/model/reaction.ts';
import { TRUST } from '../domain/model/settings.ts';
import type { KeyValue, ReactionDefaults, ReactionKey } from '../domain/reactions/reaction.ts';
import { REACTIONS } from '../domain/reactions/registry.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { byDefault, choice, filledText, flag, milliseconds, text, textList, textOrNumber, wholeNumber } from './fields.ts';

/** The `reactions` section: one member per kind, made of what the kind declares. */
export function reactionsSection(providers: readonly ProviderFacts[]) {
  const names = providers
    .filter((provider) => provider.roles.includes('scm'))
    .flatMap((provider) => [provider.kind, ...provider.aliases]);
  const members = REACTIONS.map(({ kind, about, defaults, keys }) => {
    const own = { ...sharedKeys(names, defaults), ...budgetKey(defaults), ...ownKeys(keys) };
    return [kind, z.strictObject(own).optional().describe(about)];
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

function budgetKey({ budgetKey: key, budget }: ReactionDefaults): z.ZodRawShape {
  const turns = () => wholeNumber({ min: 0 }, 'Turns before a person is asked.').meta({ default: budget }).optional();
  return key === undefined ? {} : { [key]: turns() };
}

function ownKeys(keys: Readonly<Record<string, ReactionKey>>): z.ZodRawShape {
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, schemaOfKey(key)]));
}

/** What may stand in the provider's block, or is the provider's, has its default only after both were asked. */
function schemaOfKey(key: ReactionKey): z.ZodType {
  const schema = valueSchema(key);
  if (key.type === 'trust') return schema.optional();
  return key.inBlock ? schema.meta({ default: key.default }).optional() : byDefault(schema, key.default);
}

function valueSchema(key: ReactionKey): z.ZodType {
  switch (key.type) {
    case 'text':
      return text(key.about);
    case 'filled text':
      return filledText(key.about);
    case 'texts':
      return textList(key.about);
    case 'flag':
      return flag(key.about);
    case 'number':
      return wholeNumber({ min: key.min }, key.about);
    case 'milliseconds':
      return milliseconds(key.min, key.about);
    case 'choice':
      return choice(key.of, key.about);
    case 'trust':
      return choice(TRUST, key.about);
  }
}

/** The keys of a tracker kind's own block that its merge-request and CI roles read. */
export const roleKeys = z.strictObject({
  api_key: text('Credential of the merge-request side. By default that of the tracker, when it is of the same kind.').optional(),
  endpoint: text('Address of the forge. By default that of the tracker, when it is of the same kind.').optional(),
  project: textOrNumber(
    'Project whose CI is read, for its own requests. By default that of the tracker, when it is of the same kind.',
  ).optional(),
  user_agent: filledText(
    'User-Agent header of merge-request and CI calls; others always send `svc/<version>`. By default `svc/dev`.',
  ).optional(),
  ...blockKeys(),
});
export type RoleKeys = z.output<typeof roleKeys>;

/** The keys of reactions that may stand in the block of their provider as well. */
function blockKeys(): z.ZodRawShape {
  const all = REACTIONS.flatMap(({ keys }) => Object.entries<ReactionKey>(keys)).filter(([, key]) => key.inBlock);
  return ownKeys(Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

type Declared<Kind extends ReactionKind> = Extract<(typeof REACTIONS)[number], { readonly kind: Kind }>;

/** What the workflow file says of a reaction, in its own spelling. */
export type WrittenReaction<Kind extends ReactionKind = ReactionKind> = z.output<z.ZodObject<ReturnType<typeof sharedKeys>>> & {
  readonly max_continuation_turns?: number | undefined;
} & { readonly [Name in keyof Declared<Kind>['keys']]: KeyValue<Declared<Kind>['keys'][Name]> };

type Members = { readonly [Kind in ReactionKind]: z.ZodOptional<z.ZodType<WrittenReaction<Kind>>> };
