import type { z } from 'zod';
import type { Problem } from '../domain/model/problem.ts';
import { REACTION_KINDS } from '../domain/reactions/registry.ts';
import { didYouMean } from '../lib/nearest-word.ts';
import type { AgentFacts } from '../ports/agent-kind.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { blockNames, type Blocks, readBlocks } from './blocks.ts';
import type { PlainMap } from './document.ts';
import { type FindElsewhere, checkBlock, ONE_LOOK, unknownKeyProblems } from './check-block.ts';
import { workflowJsonSchema } from './json-schema.ts';
import { declaredPaths } from './known-keys.ts';
import { guardsWithoutValue } from './no-value.ts';
import { type SectionName, type Sections, SILENT_SECTIONS, topLevelKeys, workflowSections } from './schema.ts';

/** The front matter after every key was checked by itself. */
export interface CheckedFrontMatter {
  readonly sections: Sections;
  readonly dbPath: string | undefined;
  readonly dbRetentionDays: number;
  readonly notifications: z.output<typeof topLevelKeys>['notifications'];
  readonly blocks: Blocks;
  /** The kinds in use; null when missing or unknown. */
  readonly provider: ProviderFacts | null;
  readonly agentKind: AgentFacts | null;
  readonly problems: readonly Problem[];
  /** Whether the value of this key, dotted, was refused: then nothing more is said about it. */
  readonly isFaulty: (key: string) => boolean;
}

export interface Kinds {
  readonly providers: readonly ProviderFacts[];
  readonly agentKinds: readonly AgentFacts[];
}

/** Checks every key of the front matter against its schema. */
export function checkFrontMatter(data: PlainMap, kinds: Kinds): CheckedFrontMatter {
  const { schemas, elsewhere } = schemasOf(kinds);
  const problems: Problem[] = [...unknownTopLevelKeys(data, Object.keys(schemas), kinds, elsewhere)];
  const faulty = new Set<string>();
  const sections: Record<string, unknown> = {};
  for (const name of Object.keys(schemas) as SectionName[]) {
    if (data[name] === undefined) {
      sections[name] = SILENT_SECTIONS.has(name) ? {} : defaultsOf(schemas[name]);
      continue;
    }
    const checked = checkBlock<unknown>(schemas[name], data[name], { check: name, key: name }, elsewhere);
    sections[name] = checked.value ?? defaultsOf(schemas[name]);
    problems.push(...checked.problems);
    for (const key of checked.faulty) faulty.add(key === '' ? name : `${name}.${key}`);
  }
  const written = Object.fromEntries(Object.keys(topLevelKeys.shape).flatMap((key) => (key in data ? [[key, data[key]]] : [])));
  const top = checkBlock(topLevelKeys, written, { check: '', key: '' }, elsewhere);
  const read = sections as unknown as Sections;
  const provider = findProvider(kinds.providers, read.tracker.kind);
  const agentKind = kinds.agentKinds.find(({ kind }) => kind === read.agent.kind) ?? null;
  const active = new Set([provider?.kind ?? '', agentKind?.kind ?? '']);
  const blocks = readBlocks(kinds.providers, kinds.agentKinds, { data, active, elsewhere });
  return {
    sections: read,
    dbPath: top.value?.db_path,
    dbRetentionDays: top.value?.db_retention_days ?? 0,
    notifications: top.value?.notifications ?? [],
    blocks,
    provider,
    agentKind,
    problems: [...problems, ...top.problems, ...blocks.problems, ...guardsWithoutValue(data)].map(nameUnknownReaction),
    isFaulty: (key) => faulty.has(key) || faulty.has(key.split('.')[0]!),
  };
}

/** What a section says that is not written. Nobody changes it, so that it is read once for each schema. */
function defaultsOf(schema: z.ZodType): unknown {
  if (!DEFAULTS.has(schema)) DEFAULTS.set(schema, schema.parse({}, ONE_LOOK));
  return DEFAULTS.get(schema);
}

const DEFAULTS = new WeakMap<z.ZodType, unknown>();

interface Schemas {
  readonly schemas: ReturnType<typeof workflowSections>;
  readonly elsewhere: FindElsewhere;
}

/** The lists of kinds stay the same while a process lives, and so do the schemas made from them. */
const made = new WeakMap<Kinds['providers'], WeakMap<Kinds['agentKinds'], Schemas>>();

function schemasOf(kinds: Kinds): Schemas {
  const byAgents = made.get(kinds.providers) ?? new WeakMap<Kinds['agentKinds'], Schemas>();
  const known = byAgents.get(kinds.agentKinds) ?? {
    schemas: workflowSections(kinds.providers, kinds.agentKinds),
    elsewhere: findElsewhere(kinds),
  };
  made.set(kinds.providers, byAgents.set(kinds.agentKinds, known));
  return known;
}

/** The provider of a kind or alias. */
export function findProvider(providers: readonly ProviderFacts[], kind: string | undefined): ProviderFacts | null {
  return providers.find((provider) => kind !== undefined && blockNames(provider).includes(kind)) ?? null;
}

function unknownTopLevelKeys(
  data: PlainMap,
  sections: readonly string[],
  kinds: Kinds,
  elsewhere: FindElsewhere,
): readonly Problem[] {
  const known = [
    ...sections,
    ...Object.keys(topLevelKeys.shape),
    ...kinds.providers.flatMap(blockNames),
    ...kinds.agentKinds.map(({ kind }) => kind),
  ];
  const unknown = Object.keys(data).filter((key) => !known.includes(key));
  return unknownKeyProblems([], unknown, { known, elsewhere });
}

/** A key under the wrong section is a common slip; the schema of all keys is only built when it happens. */
function findElsewhere(kinds: Kinds): FindElsewhere {
  let paths: readonly string[] | null = null;
  return (key) => {
    paths ??= declaredPaths(workflowJsonSchema(kinds.providers, kinds.agentKinds) as PlainMap);
    return paths.find((path) => path.endsWith(`.${key}`)) ?? null;
  };
}

/** A misspelt reaction leaves merge requests unwatched: who wrote it is shown all there are. */
function nameUnknownReaction(problem: Problem): Problem {
  const [section, name, ...rest] = problem.key ?? [];
  if (problem.check !== 'config.unknown_key' || section !== 'reactions' || rest.length > 0) return problem;
  const near = didYouMean(String(name), [...REACTION_KINDS, 'projects']);
  const message = `unknown reaction \`${String(name)}\`; known reactions: ${REACTION_KINDS.join(', ')}${near}`;
  return { ...problem, check: 'reactions.unknown_kind', message };
}
