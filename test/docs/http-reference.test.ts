import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { OPERATIONS, type Operation } from '../../src/server/api/openapi/operations.ts';

const PAGE = fileURLToPath(new URL('../../docs/http-reference.md', import.meta.url));

it('the page of operations is made from the OpenAPI description (UPDATE_DOCS=1 renews it)', async () => {
  const page = `# HTTP operations\n\nMade from the description that \`GET /api/v2/openapi.json\` gives; [HTTP interface](http-api.md) explains them.\n\n${OPERATIONS.map(section).join('\n')}`;
  if (process.env['UPDATE_DOCS']) await writeFile(PAGE, page);
  expect(await readFile(PAGE, 'utf8')).toBe(page);
});

function section({ method, path, summary, query = {}, answers, errors = [], type, open }: Operation): string {
  const asked = Object.entries(query).map(([name, about]) => `- \`${name}\`: ${about}`);
  return [
    `## ${method.toUpperCase()} ${path}`,
    '',
    `${summary}.${open ? ' Asks for no token.' : ''}`,
    ...(asked.length === 0 ? [] : ['', 'Query:', '', ...asked]),
    '',
    `Answers: ${Object.entries(answers).map(answerOf).join(', ')}${type === undefined ? '' : ` (\`${type}\`)`}.${errors.length === 0 ? '' : ` Errors: ${errors.map((code) => `\`${code}\``).join(', ')}.`}`,
    '',
  ].join('\n');
}

function answerOf([status, schema]: readonly [string, Readonly<Record<string, unknown>>]): string {
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : null;
  const keys = Object.keys((schema['properties'] as object | undefined) ?? {});
  const body = name ?? keys.map((key) => `\`${key}\``).join(', ');
  return body === '' ? status : `${status} with ${body}`;
}
