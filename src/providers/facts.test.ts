import { expect, it } from 'vitest';
import { AGENT_FACTS } from '../agents/facts.ts';
import { AGENT_KINDS } from '../agents/registry.ts';
import { PROVIDER_FACTS } from './facts.ts';
import { PROVIDERS } from './registry.ts';

it('the facts are those of the registries, in their order', () => {
  expect(PROVIDER_FACTS.map(({ kind }) => kind)).toEqual(PROVIDERS.map(({ kind }) => kind));
  expect(AGENT_FACTS.map(({ kind }) => kind)).toEqual(AGENT_KINDS.map(({ kind }) => kind));
});

it.each(PROVIDERS.map((provider) => [provider.kind, provider] as const))('%s: its roles are what it can build', (_, provider) => {
  const built = {
    labels: provider.createLabel,
    scm: provider.createScm,
    ci: provider.createCi,
    requests: provider.createRequests,
  };
  expect(provider.roles).toEqual(Object.keys(built).filter((role) => built[role as keyof typeof built] !== undefined));
});
