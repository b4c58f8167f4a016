import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Contract, createContract, type Node } from '../../support/openapi.ts';

/** The vendor's published description as it stands. */
export function githubDescription(): Node {
  const require = createRequire(import.meta.url);
  const file = require.resolve('@octokit/openapi/generated/api.github.com.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Node;
}

/** The vendor's published description, with the changes of the pinned version worked in. */
export function githubContract(): Contract {
  const contract = createContract(githubDescription(), { amend: asOfVersion });
  return { faults: (exchange) => contract.faults({ ...exchange, path: oneSegment(exchange.path) }) };
}

// A reference is one parameter of several segments, whose slashes may be sent as they are.
function oneSegment(path: string): string {
  return path.replace(/\/git\/(refs?)\/heads\//, '/git/$1/heads%2F');
}

function asOfVersion(node: Node): Node {
  const changes = node['x-github-breaking-changes'];
  if (!Array.isArray(changes)) return node;
  return (changes as { version: string; patch: Node }[])
    .filter(({ version }) => version <= '2026-03-10')
    .reduce((amended, { patch }) => merged(amended, patch) as Node, node);
}

// A JSON merge patch (RFC 7396).
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
