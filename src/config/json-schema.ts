import { z } from 'zod';
import type { AgentFacts } from '../ports/agent-kind.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { isPlainMap, type PlainMap } from './document.ts';
import { inputJsonSchema } from './known-keys.ts';
import { blockNames, roleKeysOf } from './blocks.ts';
import { topLevelKeys, workflowSections } from './schema.ts';

/** The JSON Schema of the front matter, for editors: every key with its type, limits, default and meaning. */
export function workflowJsonSchema(providers: readonly ProviderFacts[], agentKinds: readonly AgentFacts[]): object {
  const root = z.strictObject({ ...workflowSections(providers, agentKinds), ...topLevelKeys.shape });
  const schema = inputJsonSchema(root);
  const properties = { ...(schema['properties'] as PlainMap), ...providerBlocks(providers), ...agentBlocks(agentKinds) };
  return {
    $id: 'urn:foray:workflow',
    ...schema,
    title: 'Foray workflow',
    description: 'The front matter of a workflow file.',
    properties,
    required: ['tracker'],
  };
}

function providerBlocks(providers: readonly ProviderFacts[]): PlainMap {
  const blocks = providers.flatMap((provider) => {
    const own = blockOf(provider.options);
    const role = blockOf(roleKeysOf(provider));
    const properties = { ...(role['properties'] as PlainMap), ...(own['properties'] as PlainMap) };
    return blockNames(provider).map(
      (name) => [name, { ...own, description: `Options of the tracker kind ${name}.`, properties }] as const,
    );
  });
  return Object.fromEntries(blocks);
}

function agentBlocks(agentKinds: readonly AgentFacts[]): PlainMap {
  return Object.fromEntries(
    agentKinds.map(({ kind, options }) => [kind, { ...blockOf(options), description: `Options of the agent kind ${kind}.` }]),
  );
}

function blockOf(options: z.ZodType): PlainMap {
  const { $schema: _, ...schema } = inputJsonSchema(options);
  return { ...schema, properties: isPlainMap(schema['properties']) ? schema['properties'] : {} };
}
