import type { Sentence } from './sentence.ts';

const COMMAND_LINE = 'src/cli/command-line.test.ts';
const READING = 'test/e2e/reading-commands.test.ts';
const ONE_KEY = 'src/config/one-key.test.ts';
const LINKS = 'test/docs/links.test.ts';
const SHELL = 'test/docs/shell.test.ts';
const SNIPPETS = 'test/docs/snippets.test.ts';
const PACKAGE = 'test/package/package.test.ts';
const REMOTES = 'src/app/adapters/check-tracker.test.ts';
const SCHEMA = 'src/config/json-schema.test.ts';

/** What is promised of messages, packaging and documentation, and the test that shows it. */
export const SENTENCES: readonly Sentence[] = [
  ...rows(COMMAND_LINE, {
    'JSON has file, line and column of their own': 'is named with its place for programs',
    'the records of a start too': 'is a record with its place, %j',
    'commands that read too': 'is the same for foray %s --format json',
    'the findings of doctor too': 'has its place in the findings of doctor',
    'a fault of the prompt has its place': 'a fault of the prompt has its place like every other',
    'validate --strict and foray --strict refuse unknown keys':
      'refuses a misspelt key, for validate, for a dry run and for a run',
    'nearest spelling for commands': '%j ends with %i and says what is wrong',
  }),
  ...rows('src/cli/failure.test.ts', {
    'a command that fails says so in JSON where it was asked for': 'is a record for programs that asked for JSON',
    'what to do stands beside what failed': 'is a line for people, with what to do where the message does not say it',
  }),
  ...rows('src/config/format.test.ts', {
    'text keeps its form, one line each': 'prints one line, whatever is in the message',
  }),
  ...rows(ONE_KEY, { 'nearest spelling for keys and words of a list': '%s' }),
  ...rows('src/app/daemon/missing-states.test.ts', {
    'nearest spelling for states; a missing one has its place in the file':
      'jira: a handoff state that the project does not have is told after the first poll, with those there are',
  }),
  ...rows(READING, {
    'unknown keys: a record and a banner at an applied edit': 'a misspelt key, at an applied edit, by a record and a banner',
    'the same fault by log, status, probe and page': 'an edit that is broken',
  }),
  ...rows('src/config/problems.test.ts', {
    'a literal token warns': 'warns, wherever it stands, and never shows it',
    'so do passwords and addresses of webhooks': 'the password of a database and the address of a webhook are credentials too',
  }),
  ...rows('src/prompt/liquid.test.ts', { 'Liquid tags warn with their Go form': '%s becomes %s' }),
  ...rows('src/providers/shared/project-address.test.ts', {
    'a project given as URL is refused with the right form': '%s: of %s is said what to write',
  }),
  ...rows(REMOTES, {
    'a dead tracker is told within a second': 'that does not answer is told of within a second',
    'every wait over 2 s is told': 'slow polls are told of once, and again after a quick one',
    'a rate limit at start is waited out': 'that asks to wait postpones the polls instead of ending the start',
  }),
  ...rows(PACKAGE, {
    'the package runs without compiler or install script':
      'the packed package runs without the checkout, a compiler or an install script',
    'nothing that users install needs a script': 'what users install has one install script, which has nothing to do',
  }),
  ...rows(LINKS, {
    'every page the README links is in the package': 'the packed package holds every page that its pages link to',
    'every link is checked': 'every link of %s leads somewhere',
  }),
  ...rows('src/cli/actions/completion.test.ts', { 'shell completion': 'completes commands, flags, their values and files' }),
  ...rows('test/docs/commands.test.ts', {
    '--help fits a screen': 'help fits a terminal of 80 by 24: %s',
    'one page per command': 'the page of %s begins with what its help says (UPDATE_DOCS=1 renews that part)',
  }),
  ...rows(SCHEMA, {
    'the JSON Schema has an $id': 'has a name of its own',
    'and descriptions': 'explains every key',
  }),
  ...rows('test/docs/getting-started.test.ts', {
    'a quick start that works literally': 'the first steps of the page work as they are written',
  }),
  ...rows('test/docs/architecture.test.ts', {
    'one page per tracker': 'a tracker is its folder and a line of the registry: %s',
    'one page per agent': 'an agent is its folder and a line of the registry: %s',
    'one page per reaction': 'a reaction is the files of its row: %s',
  }),
  ...rows('test/docs/workflow-keys.test.ts', {
    'workflow reference from the schema': 'the page of workflow keys is made from the schema (UPDATE_DOCS=1 renews it)',
  }),
  ...rows('test/docs/http-reference.test.ts', {
    'HTTP reference from the OpenAPI file':
      'the page of operations is made from the OpenAPI description (UPDATE_DOCS=1 renews it)',
  }),
  ...rows('test/docs/errors.test.ts', {
    'every error kind with its remedy': '%s has its remedy',
    'every check id': 'the check %s is explained',
  }),
  ...rows('test/docs/messages.test.ts', { 'every warning and error of the log': '%s: is explained, with what to do' }),
  ...rows(SHELL, {
    'every command of the docs is run': 'every block for a shell is run, or says why not',
    'every example of a command is run': 'every example of a command works as it is written',
    'recipes: private clone and monorepo': 'a private repository is cloned, a monorepo gives worktrees',
    'recipes: several projects': 'several projects: each service has its own file and port',
  }),
  ...rows(SNIPPETS, {
    'every snippet is read': 'no block is in a language that nothing reads',
    'every invocation in the docs is understood': '%s: foray %s is understood',
  }),
  ...rows('test/deploy/deploy.test.ts', {
    'recipes: Docker': 'the image runs as somebody without rights and is watched',
    'recipes: systemd': 'the unit is one that systemd takes',
  }),
  ...rows('test/e2e/newcomer.test.ts', {
    'a newcomer comes from init to the handoff on each tracker': '%s: init, validate, doctor, dry run, run, handoff',
  }),
];

/** Rows of one file. */
function rows(file: string, sentences: Readonly<Record<string, string>>): readonly Sentence[] {
  return Object.entries(sentences).map(([says, test]) => ({ says, file, test }));
}
