import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadAgentKinds } from '../../src/agents/registry.ts';
import { REACTIONS } from '../../src/domain/reactions/registry.ts';
import { HOLD_REASONS } from '../../src/domain/model/hold.ts';
import { loadProviders } from '../../src/providers/registry.ts';

const PROVIDERS = await loadProviders();
const AGENT_KINDS = await loadAgentKinds();

const architecture = readFileSync('ARCHITECTURE.md', 'utf8');
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({ file: `src/${file.split(path.sep).join('/')}`, text: readFileSync(path.join('src', file), 'utf8') }));

/** Where a kind's name is a word of the code: a text of its own or a key. */
function filesNaming(kind: string): readonly string[] {
  const named = new RegExp(`'${kind}'|[^\\w-]${kind}: [\\w'"[{]`);
  return sources.filter(({ text }) => named.test(text)).map(({ file }) => file);
}

describe('ARCHITECTURE.md', () => {
  it('is within two pages', () => {
    expect(architecture.split('\n').length).toBeLessThanOrEqual(120);
  });

  it('names files and folders that exist', () => {
    const named = [...architecture.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, file]) => file ?? '');
    const known = new Set(sources.map(({ file }) => file));
    const folders = new Set([...known].flatMap((file) => [path.dirname(file), path.dirname(path.dirname(file))]));
    const inSource = named.filter((file) => file.startsWith('src/'));
    expect(inSource.filter((file) => !known.has(file) && !folders.has(file.replace(/\/$/, '')))).toEqual([]);
  });

  it.each([
    ['providers', () => [PROVIDER_FILES, REMOTE_FILES, FORGE_FILES]],
    ['agents', () => [AGENT_FILES, PROGRAM_FILES]],
  ] as const)('names the files that the folders of %s share', (folder, files) => {
    const row = architecture.split('\n').find((line) => line.startsWith(`| \`src/${folder}\` |`)) ?? '';
    const shared = new Set(files().flatMap((names) => Object.keys(names)));
    const named = [...row.matchAll(/`([a-z]+)`/g)].map(([, name]) => name ?? '').filter((name) => name !== 'shared');
    expect(named.toSorted()).toEqual([...shared].toSorted());
  });

  it('a write is recorded by the functions of the draft alone', () => {
    const writing = sources.filter(({ file, text }) => file.startsWith('src/domain/') && /\bwrites\.push\(/.test(text));
    expect(writing.map(({ file }) => file).toSorted()).toEqual(['src/domain/draft-workspaces.ts', 'src/domain/draft.ts']);
  });

  const NAMES = PROVIDERS.flatMap(({ kind, aliases }) => [kind, ...aliases]);
  // `file` is an everyday word.
  it.each(NAMES.filter((name) => name !== 'file'))('a tracker is its folder and a line of the registry: %s', (name) => {
    expect(filesNaming(name).filter((file) => !file.startsWith('src/providers/'))).toEqual([]);
  });

  it('no kind of tracker is treated in its own way elsewhere, `file` neither', () => {
    const compared = sources.filter(({ text }) => /(?:kind|name|tracker) [!=]== 'file'/.test(text));
    expect(compared.map(({ file }) => file).filter((file) => !file.startsWith('src/providers/'))).toEqual([]);
  });

  it.each(AGENT_KINDS.map(({ kind }) => kind))('an agent is its folder and a line of the registry: %s', (kind) => {
    const elsewhere = filesNaming(kind).filter((file) => !file.startsWith('src/agents/'));
    // The one that is taken when the workflow file names none.
    expect(elsewhere.filter((file) => file !== 'src/config/agent-schema.ts')).toEqual([]);
  });

  it.each(REACTIONS.map(({ kind }) => kind))('a reaction is the files of its row: %s', (kind) => {
    const row = architecture.split('\n').find((line) => line.startsWith('| reaction |')) ?? '';
    const named = [...row.matchAll(/`(src\/[\w./-]+)`/g)].map(([, file]) => file ?? '');
    const elsewhere = filesUsing(kind).filter((file) => !named.some((known) => file === known || file.startsWith(`${known}/`)));
    expect(elsewhere.filter((file) => !EXCEPTIONS[file]?.includes(kind))).toEqual([]);
  });
});

/** Where some are named for a reason of their own. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Whose votes count for a merge is said by the settings of the reviews.
  'src/config/reactions.ts': ['review_comments'],
  // Marks that were stored as text.
  'src/store/records/reactions.ts': ['review_comments', 'bot_review', 'merge_conflicts', 'label_commands'],
};

/** Providers have fields of the same name; the demo writes a workflow file, as any user does. */
const NO_PART = /^src\/(?:providers\/|app\/demo\/)/;

/** Where a reaction's name is a word of the code: a text of its own, a key or a member. */
function filesUsing(kind: string): readonly string[] {
  const used = new RegExp(`'${kind}'|\\.${kind}\\b|^ +(?:readonly )?${kind}[?]?:`, 'm');
  return sources.filter(({ file, text }) => !NO_PART.test(file) && used.test(text)).map(({ file }) => file);
}

/** The files that siblings share, and what each exports under the same name. */
const PROVIDER_FILES = {
  index: ['provider'],
  facts: ['facts'],
  settings: ['KIND', 'DEFAULTS', 'OPTIONS'],
  checks: ['check'],
  schema: [],
  map: ['toIssue'],
  board: ['readBoard'],
  tracker: ['createTracker'],
} as const;
const REMOTE_FILES = { settings: ['readSettings', 'PAGE_SIZE'], client: ['createClient'], preflight: ['preflight'] } as const;
const FORGE_FILES = { scm: ['createScm'], ci: ['createCi'], requests: ['createRequests'] } as const;
const AGENT_FILES = { index: ['agentKind'], facts: ['facts'], options: ['optionsSchema', 'Options'] } as const;
const PROGRAM_FILES = {
  args: ['envFor'],
  parse: [],
  session: ['startSession'],
  turn: ['takeTurn'],
  usage: ['createUsage'],
  judge: ['judge'],
} as const;

describe('siblings', () => {
  const FORGES = ['gitea', 'github', 'gitlab'];
  const REMOTES = [...FORGES, 'jira', 'linear'];
  const PROGRAMS = ['acp', 'claude-code', 'codex'];

  it.each([
    ...['file', ...REMOTES].map((name) => [`providers/${name}`, PROVIDER_FILES] as const),
    ...REMOTES.map((name) => [`providers/${name}`, REMOTE_FILES] as const),
    ...FORGES.map((name) => [`providers/${name}`, FORGE_FILES] as const),
    ...['mock', ...PROGRAMS].map((name) => [`agents/${name}`, AGENT_FILES] as const),
    ...PROGRAMS.map((name) => [`agents/${name}`, PROGRAM_FILES] as const),
  ])('%s has the files and names of its siblings', (folder, files) => {
    const missing = Object.entries<readonly string[]>(files).flatMap(([file, names]) => {
      const text = sources.find((source) => source.file === `src/${folder}/${file}.ts`)?.text;
      if (text === undefined) return [`${file}.ts`];
      const isExported = (name: string) =>
        new RegExp(`^export (?:async )?(?:function|const|type|interface) ${name}\\b`, 'm').test(text);
      return names.filter((name) => !isExported(name)).map((name) => `${name} in ${file}.ts`);
    });
    expect(missing).toEqual([]);
  });
});

describe('the linter', () => {
  interface Override {
    readonly files: readonly string[];
    readonly rules: Readonly<Record<string, unknown>>;
  }
  const { overrides } = JSON.parse(readFileSync('.oxlintrc.json', 'utf8')) as { overrides: readonly Override[] };
  const folders = readdirSync('src', { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  /** What a folder may import besides ports, domain and lib; app and cli put together all the others. */
  const MORE: Readonly<Record<string, readonly string[]>> = { workspace: ['git'], app: folders.filter((name) => name !== 'cli') };
  const BELOW = ['domain', 'lib', 'ports'];

  it.each(folders.filter((name) => ![...BELOW, 'cli', 'orchestrator'].includes(name)))(
    'keeps %s from every folder that is not below it',
    (folder) => {
      const rule = overrides.find(({ files }) => files.includes(`src/${folder}/**/*.ts`));
      const forbidden = JSON.stringify(rule?.rules['no-restricted-imports'] ?? '');
      const mayUse = new Set([folder, ...BELOW, ...(MORE[folder] ?? [])]);
      expect(folders.filter((other) => !mayUse.has(other) && !forbidden.includes(`"**/${other}/**"`))).toEqual([]);
    },
  );

  it('refuses an import against an arrow, and no other', () => {
    const against = {
      'src/domain/a.ts': '../lib/error-text.ts',
      'src/domain/model/a.ts': '../../server/routes.ts',
      'src/ports/a.ts': '../lib/error-text.ts',
      'src/orchestrator/a.ts': '../app/daemon.ts',
      'src/orchestrator/reactions/a.ts': '../../store/sqlite/index.ts',
      'src/lib/a.ts': '../domain/decide.ts',
      'src/git/a.ts': '../workspace/index.ts',
      'src/store/sqlite/a.ts': '../../server/routes.ts',
    };
    const along = {
      'src/domain/events/b.ts': '../model/issue.ts',
      'src/ports/b.ts': '../domain/model/issue.ts',
      'src/orchestrator/b.ts': '../ports/tracker.ts',
      'src/orchestrator/reactions/b.ts': '../../domain/model/issue.ts',
      'src/workspace/b.ts': '../git/index.ts',
    };
    const root = mkdtempSync(path.join(os.tmpdir(), 'foray-arrows-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [file, imported] of Object.entries({ ...against, ...along })) {
      mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(root, file), `export type { A } from '${imported}';\n`);
    }
    const config = path.join(root, '.oxlintrc.json');
    copyFileSync('.oxlintrc.json', config);
    const linted = spawnSync('node_modules/.bin/oxlint', ['--config', config, '--format', 'json', root], { encoding: 'utf8' });
    const { diagnostics } = JSON.parse(linted.stdout) as { diagnostics: readonly { code: string; filename: string }[] };
    const refused = diagnostics.filter(({ code }) => code === 'eslint(no-restricted-imports)').map(({ filename }) => filename);
    expect(refused.map((file) => file.slice(file.indexOf('src/'))).toSorted()).toEqual(Object.keys(against).toSorted());
  });
});

describe('docs/life-of-an-issue.md', () => {
  it.each(HOLD_REASONS)('explains the hold reason %s', (reason) => {
    expect(readFileSync('docs/life-of-an-issue.md', 'utf8')).toContain(`| \`${reason}\` |`);
  });
});

describe('the routes of the vendors', () => {
  const VENDORS: Readonly<Record<string, string>> = {
    github: 'REST API',
    gitlab: 'GitLab API',
    gitea: 'Gitea API',
    jira: 'Jira Cloud platform REST API',
    linear: 'Linear API',
  };
  /** A request whose route is written where it is sent; what is passed on from elsewhere has its title there. */
  const SENT = /\b(?:getJson|getRecords|getPages|sendJson|send)\((?:'[A-Z]+', )?(?:[A-Z_]+, )?\{ path|= operation\($/;
  const REACH = 8;

  it.each(Object.entries(VENDORS))('%s: each cites a page of its documentation by title', (vendor, words) => {
    const cited = new RegExp(`// ${words}, "[^"]+"`);
    const uncited = sources
      .filter(({ file }) => file.startsWith(`src/providers/${vendor}/`))
      .flatMap(({ file, text }) => {
        const lines = text.split('\n');
        return lines.flatMap((line, at) => {
          const near = lines.slice(Math.max(0, at - REACH), at + 1);
          return SENT.test(line) && !near.some((one) => cited.test(one)) ? [`${file}:${at + 1}`] : [];
        });
      });
    expect(uncited).toEqual([]);
  });
});
