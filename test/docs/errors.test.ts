import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { AGENT_ERROR_CONSEQUENCE, TRACKER_ERROR_RETRYABLE } from '../../src/domain/model/errors.ts';

const page = readFileSync('docs/errors.md', 'utf8');

it.each([...Object.keys(TRACKER_ERROR_RETRYABLE), ...Object.keys(AGENT_ERROR_CONSEQUENCE)])('%s has its remedy', (kind) => {
  expect(page).toMatch(new RegExp(`^\\| \`${kind}\` \\| [^|]+ \\| [^|]+ \\|$`, 'm'));
});

/** Its id comes first, or after the kind of error that it stands for. */
const HELPER = /\b(?:error|warning|refusal)\((?:'[a-z_]+', )?'([a-z_]+(?:\.[a-z_]+)+)'/g;

/** The ids as the sources write them: by name, or by a helper that puts `tracker.` before. */
const IDS = [...new Set(['src/config', 'src/providers', 'src/prompt', 'src/app'].flatMap(idsIn))].toSorted();

function idsIn(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name));
  return files.flatMap((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    const named = [...text.matchAll(/\bcheck: '([a-z_]+\.[a-z_.]+)'/g)].map(([, id = '']) => id);
    const byHelper = /shared\/checks/.test(text) || /shared[/\\]checks\.ts$/.test(name) ? [...text.matchAll(HELPER)] : [];
    return [...named, ...byHelper.map(([, id = '']) => `tracker.${id}`)];
  });
}

it('finds the checks in the sources', () => {
  expect(IDS.length).toBeGreaterThan(30);
});

it.each(IDS)('the check %s is explained', (id) => {
  expect(page).toContain(`\`${id}\``);
});
