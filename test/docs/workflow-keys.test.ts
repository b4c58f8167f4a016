import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadAgentKinds } from '../../src/agents/registry.ts';
import { workflowJsonSchema } from '../../src/config/json-schema.ts';
import { loadProviders } from '../../src/providers/registry.ts';

const PROVIDERS = await loadProviders();
const AGENT_KINDS = await loadAgentKinds();

const PAGE = fileURLToPath(new URL('../../docs/workflow-keys.md', import.meta.url));

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
}

it('the page of workflow keys is made from the schema (UPDATE_DOCS=1 renews it)', async () => {
  const page = render(workflowJsonSchema(PROVIDERS, AGENT_KINDS) as Node);
  if (process.env['UPDATE_DOCS']) await writeFile(PAGE, page);
  expect(await readFile(PAGE, 'utf8')).toBe(page);
});

it('every key of the page is explained', async () => {
  const rows = (await readFile(PAGE, 'utf8')).split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
});

it.each([
  ['github', 'User-Agent header of tracker, merge-request and CI calls. By default `svc/dev`.'],
  ['gitlab', 'User-Agent header of merge-request and CI calls; others always send `svc/<version>`. By default `svc/dev`.'],
  ['gitea', 'User-Agent header of merge-request and CI calls; others always send `svc/<version>`. By default `svc/dev`.'],
  ['jira', 'User-Agent header of tracker calls. By default `svc/dev`.'],
  ['linear', 'Has no effect: this kind always sends `svc/<version>`.'],
])('what the User-Agent of %s is sent with', async (block, about) => {
  expect(await readFile(PAGE, 'utf8')).toContain(`| \`${block}.user_agent\` | string |  | ${about} |`);
});

it.each([
  ['reactions.ci_failure.max_log_lines', '50'],
  ['reactions.auto_merge.strategy', '"squash"'],
  ['reactions.auto_merge.require_ci', 'true'],
  ['reactions.bot_review.bot_usernames', '[]'],
  ['github.max_log_lines', '50'],
])('%s, which may stand in two places, has its default told', async (key, value) => {
  const row = (await readFile(PAGE, 'utf8')).split('\n').find((line) => line.startsWith(`| \`${key}\` |`));
  expect(row).toContain(` | \`${value}\` | `);
});

function render(schema: Node): string {
  const sections = Object.entries(schema.properties ?? {}).map(([name, node]) => {
    const rows = rowsOf(name, node);
    const about = node.description ? `${node.description}\n\n` : '';
    return `## \`${name}\`\n\n${about}| Key | Type | Default | |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Workflow keys\n\nEvery key of the front matter, made from the same source as its checks and as \`foray schema\`.\n\n${sections.join('\n')}`;
}

function rowsOf(path: string, node: Node): readonly string[] {
  const inner = Object.entries(node.properties ?? {}).flatMap(([name, child]) => rowsOf(`${path}.${name}`, child));
  const listed = node.items?.properties ? rowsOf(`${path}[]`, node.items) : [];
  const each = typeof node.additionalProperties === 'object' ? rowsOf(`${path}.<name>`, node.additionalProperties) : [];
  if (
    inner.length > 0 ||
    (each.length > 0 &&
      node.additionalProperties &&
      typeof node.additionalProperties === 'object' &&
      node.additionalProperties.properties)
  ) {
    return [...inner, ...each];
  }
  return [`| \`${path}\` | ${cell(typeOf(node))} | ${cell(defaultOf(node))} | ${cell(node.description ?? '')} |`, ...listed];
}

function typeOf(node: Node): string {
  if (node.enum) return node.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (node.anyOf) return [...new Set(node.anyOf.map(typeOf))].join(' or ');
  return node.type === 'object' ? 'map' : node.type === 'array' ? 'list' : [node.type ?? ''].flat().join(' or ');
}

function defaultOf(node: Node): string {
  return node.default === undefined ? '' : `\`${JSON.stringify(node.default)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
