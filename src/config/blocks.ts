import { z } from 'zod';
import type { Problem } from '../domain/model/problem.ts';
import type { AgentFacts } from '../ports/agent-kind.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { once } from '../lib/once.ts';
import { isPlainMap, type PlainMap } from './document.ts';
import { type FindElsewhere, checkBlock } from './check-block.ts';
import { filledText } from './fields.ts';
import { declaredKeys } from './known-keys.ts';
import { type RoleKeys, roleKeys } from './reaction-keys.ts';

/** What the block named after a tracker kind says. */
export interface ProviderBlock {
  /** Its name in this file: the canonical kind or an alias. */
  readonly name: string;
  readonly isWritten: boolean;
  /** The kind's own options; null when they do not fit its schema. */
  readonly options: PlainMap | null;
  readonly role: RoleKeys;
  readonly faulty: ReadonlySet<string>;
}

export interface Blocks {
  readonly providers: ReadonlyMap<string, ProviderBlock>;
  /** Options by agent kind; null when they do not fit the kind's schema. */
  readonly agents: ReadonlyMap<string, PlainMap | null>;
  readonly problems: readonly Problem[];
}

export interface BlockReader {
  readonly data: PlainMap;
  /** Kinds in use, whose block is checked even when it is not written: it may have required keys. */
  readonly active: ReadonlySet<string>;
  readonly elsewhere: FindElsewhere;
}

/** Reads every block that is named after a tracker or agent kind. */
export function readBlocks(providers: readonly ProviderFacts[], agentKinds: readonly AgentFacts[], reader: BlockReader): Blocks {
  const problems: Problem[] = [];
  const providerBlocks = new Map<string, ProviderBlock>();
  for (const provider of providers) {
    const names = blockNames(provider).filter((name) => reader.data[name] !== undefined);
    if (names.length > 1) problems.push(duplicateBlock(provider.kind, names));
    if (names.length === 0 && !reader.active.has(provider.kind)) continue;
    const read = readProviderBlock(provider, names[0] ?? provider.kind, reader);
    providerBlocks.set(provider.kind, read.block);
    problems.push(...read.problems);
  }
  const agents = new Map<string, PlainMap | null>();
  for (const agentKind of agentKinds) {
    const { kind } = agentKind;
    if (reader.data[kind] === undefined && !reader.active.has(kind)) continue;
    const checked = checkBlock(agentKind.options, reader.data[kind], { check: kind, key: kind }, reader.elsewhere);
    agents.set(kind, checked.value);
    problems.push(...checked.problems);
  }
  return { providers: providerBlocks, agents, problems };
}

/** The keys of the merge-request roles that a kind's block may carry. */
export function roleKeysOf(provider: ProviderFacts): z.ZodType<RoleKeys> {
  const chooses = provider.choosesUserAgent ?? false;
  if (provider.roles.includes('scm') || provider.roles.includes('ci')) return chooses ? keysOfAllCalls() : roleKeys;
  // A kind without these roles still lets its User-Agent be named beside its other options; a local one has none.
  if (!provider.requires.apiKey) return noKeys();
  return chooses ? keysOfTracker() : keysIgnored();
}

/** Made once: making one takes longer than checking a block. */
const keysOfAllCalls = once(() =>
  roleKeys.extend(userAgent(`User-Agent header of tracker, merge-request and CI calls. ${BY_DEFAULT}`)),
);
const keysOfTracker = once(() => z.strictObject(userAgent(`User-Agent header of tracker calls. ${BY_DEFAULT}`)));
const keysIgnored = once(() => z.strictObject(userAgent('Has no effect: this kind always sends `svc/<version>`.')));
const noKeys = once(() => z.strictObject({}));

const BY_DEFAULT = 'By default `svc/dev`.';

function userAgent(about: string) {
  return { user_agent: filledText(about).optional() };
}

/** What the file calls a kind: what people are shown. */
export function writtenName({ kind }: ProviderFacts, written: string | undefined): string {
  return written ?? kind;
}

/** The same where a message must name the canonical kind as well. */
export function fullName(provider: ProviderFacts, written: string | undefined): string {
  const name = writtenName(provider, written);
  return name === provider.kind ? name : `${provider.kind} (${name})`;
}

/** Names of every tracker block, canonical or not. */
export function blockNames(provider: ProviderFacts): readonly string[] {
  return [provider.kind, ...provider.aliases];
}

function duplicateBlock(kind: string, names: readonly string[]): Problem {
  const message = `${names.map((name) => `\`${name}\``).join(' and ')} are the same block; keep one of them`;
  return { severity: 'error', check: `${kind}.duplicate_block`, message, key: [names[1]!] };
}

// The kind's options and the shared role keys stand in one map; each part is judged by its own schema.
function readProviderBlock(
  provider: ProviderFacts,
  key: string,
  reader: BlockReader,
): { block: ProviderBlock; problems: readonly Problem[] } {
  const name = { check: provider.kind, key };
  const raw = reader.data[key];
  if (raw !== undefined && !isPlainMap(raw)) {
    const checked = checkBlock(provider.options, raw, name, reader.elsewhere);
    const block = { name: key, isWritten: true, options: checked.value, role: {}, faulty: checked.faulty };
    return { block, problems: checked.problems };
  }
  const roleSchema = roleKeysOf(provider);
  const roleNames = new Set(declaredKeys(roleSchema, []));
  const ownNames = new Set(declaredKeys(provider.options, []));
  const entries = Object.entries(raw ?? {});
  const role = checkBlock(
    roleSchema,
    pick(entries, (entry) => roleNames.has(entry)),
    name,
    reader.elsewhere,
  );
  const options = pick(entries, (entry) => !roleNames.has(entry) || ownNames.has(entry));
  const own = checkBlock(provider.options, options, { ...name, alsoKnown: [...roleNames] }, reader.elsewhere);
  const faulty = new Set([...role.faulty, ...own.faulty]);
  return {
    block: { name: key, isWritten: raw !== undefined, options: own.value, role: role.value ?? {}, faulty },
    problems: [...role.problems, ...own.problems],
  };
}

function pick(entries: readonly (readonly [string, unknown])[], wanted: (key: string) => boolean): PlainMap {
  return Object.fromEntries(entries.filter(([key]) => wanted(key)));
}
