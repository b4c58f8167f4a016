import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const page = readFileSync('docs/messages.md', 'utf8');

/** A message, or one of two by what stands before them. */
const TEXTS = String.raw`(?:[\w.]+ \? )?'((?:[^'\\]|\\.)+)'(?:\s*:\s*'((?:[^'\\]|\\.)+)')?`;
const BY_LOGGER = new RegExp(String.raw`\blog(?:ger)?\??\.(?:warn|error)\(\s*${TEXTS}`, 'g');
/** Those that are made of notices, and those whose level depends. */
const BY_NOTICE = new RegExp(String.raw`(?:\b(?:warn|error)\(|'(?:warn|error)' : '(?:debug|info)',)\s*${TEXTS}`, 'g');

/** Those that never are. */
const BY_QUIET_NOTICE = new RegExp(String.raw`(?:\b(?:debug|info)\(|'debug' : 'info',)\s*${TEXTS}`, 'g');

const RECORDS = readFileSync('src/orchestrator/notice-log.ts', 'utf8');
const QUIET = [...RECORDS.matchAll(BY_QUIET_NOTICE)].map(([, message]) => message);
const MESSAGES = [...new Set(sources().flatMap(([name, text]) => messagesOf(name, text)))].toSorted();

function sources(): readonly (readonly [name: string, text: string])[] {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name));
  return names.map((name) => [name, readFileSync(path.join('src', name), 'utf8')]);
}

function messagesOf(name: string, text: string): readonly string[] {
  const pattern = name.endsWith('orchestrator/notice-log.ts') ? BY_NOTICE : BY_LOGGER;
  return [...text.matchAll(pattern)].flatMap(([, first, second]) => [first, second].filter((one) => one !== undefined));
}

it('finds the records in the sources', () => {
  expect(MESSAGES.length).toBeGreaterThan(100);
});

const EXPLAINED = [...page.matchAll(/^\| (`[^|]+`) \|/gm)]
  .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
  .map(([, message = '']) => message);

it.each(EXPLAINED)('%s: is a warning or an error', (message) => {
  expect(QUIET).not.toContain(message);
});

it.each(MESSAGES)('%s: is explained, with what to do', (message) => {
  const row = page
    .split('\n')
    .find((line) => line.startsWith('|') && line.includes(`\`${message.replaceAll(String.raw`\'`, "'")}\``));
  expect(row).toMatch(/^\|[^|]+\| [^|]+ \| [^|]+ \|$/);
});
