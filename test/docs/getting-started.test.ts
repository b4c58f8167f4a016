import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../support/daemon.ts';

const page = readFileSync('docs/getting-started.md', 'utf8');
const snippet = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? '';

let ground: Playground;
beforeAll(async () => {
  ground = await createPlayground();
});
afterAll(() => ground.cleanup());

it('the first steps of the page work as they are written', async () => {
  await ground.write('issues.json', snippet('json'));
  const lines = snippet('sh').trim().split('\n');
  expect(lines.at(-1)).toBe('foray');
  for (const line of lines.slice(0, -1)) {
    const [, ...words] = line.split(' ');
    const finished = await ground.run(words[0] === 'init' ? [...words, '--agent', 'mock'] : words);
    expect(finished.code, `${line}\n${finished.stderr}`).toBe(0);
  }
  const daemon = await ground.start(['--port', '0']);
  await daemon.record('handoff transition succeeded, releasing claim');
  await daemon.stop();
  expect(await ground.readIssues()).toMatchObject([{ identifier: 'TRY-1', state: 'review' }]);
});
