import type { Sentence } from './sentence.ts';

const COMMANDS = 'test/e2e/commands.test.ts';
const READING = 'test/e2e/reading-commands.test.ts';
const COMMAND_LINE = 'test/e2e/command-line.test.ts';
const TABLE = 'src/cli/command-line.test.ts';
const DOCTOR = 'test/e2e/doctor.test.ts';
const NEWCOMER = 'test/e2e/newcomer.test.ts';

const JSON_NAMES = '%j is a table without colour, and with --format json one answer with stable names';
const WRONG = '%j ends with %i and says what is wrong';
const PLACES = 'explain knows every place an issue can be in, by its exit code too';
const STOP = 'stop ends a session and parks; retry and unpark release, each where it makes sense';
const WITHOUT = 'the database alone answers, and retry, unpark, pause and resume act on it';
const BEFORE = 'pause is stored, and everything says so';
const WALK = '%s: init, validate, doctor, dry run, run, handoff';

/** Rows of one file. */
function rows(file: string, sentences: Readonly<Record<string, string>>): readonly Sentence[] {
  return Object.entries(sentences).map(([says, test]) => ({ says, file, test }));
}

/** What the commands promise, sentence by sentence, and the test that shows it. */
export const SENTENCES: readonly Sentence[] = [
  ...rows(TABLE, {
    'every command is there': 'are all there',
    'a word that is neither a command nor a file: exit 2 with the nearest command': WRONG,
    'foray COMMAND --help: usage, flags, one example': '%s has help of its own',
    'foray --strict and validate --strict refuse warnings': 'refuses a misspelt key, for validate, for a dry run and for a run',
    'init without a terminal names each missing answer by its flag, exit 2': WRONG,
  }),
  ...rows('src/cli/actions/completion.test.ts', {
    'completion in bash, zsh and fish': 'completes commands, flags, their values and files',
  }),
  ...rows(COMMAND_LINE, {
    'the same through the built command': '%j is wrong usage',
    'a path that does not exist stays workflow.missing, exit 1': 'names %s',
    'a dry run keeps its records': 'reports every candidate and writes nothing',
    'validation warnings are log records with their check at a dry run, lines of validate':
      'writes JSON records when asked, warnings of the workflow file among them',
    'warnings alone leave exit code 0': 'warns of an unknown key with the nearest spelling, and passes',
    'schema prints the JSON Schema': 'prints the JSON Schema of the front matter',
  }),
  ...rows('src/providers/shared/checks.test.ts', {
    'a check that stands for an error kind names it': 'a check that stands for an error kind names it',
  }),
  ...rows(READING, {
    'reading commands: --format text or json, stable names, the workflow path last': JSON_NAMES,
    'text is a table, without colour when piped': JSON_NAMES,
    'they say whether a service runs, one that asks for a token too': JSON_NAMES,
    'colour at a terminal alone, none with NO_COLOR; ./WORKFLOW.md by default':
      'a terminal has bold headings, not with NO_COLOR; the workflow file is ./WORKFLOW.md',
    'a sole argument of explain that is a file is the workflow path':
      'a sole argument of explain that is a file is the workflow path',
    'validation warnings are log records at every applied edit': 'a misspelt key, at an applied edit, by a record and a banner',
    'a rejected edit is told by every view': 'an edit that is broken',
    'a missing agent program is told by every view': 'an agent program that is not there',
    'a tracker that cannot be read is told by every view': 'a tracker that cannot be read',
  }),
  ...rows(COMMANDS, {
    'they talk to the service through its database, also without HTTP':
      'status tells what runs, waits and is parked, and by whom it was told',
    'without one they read the database': WITHOUT,
    'explain: its fields, for issues in every place, exit 0 or 1': PLACES,
    'a dry run ends with a table; --format json gives one object': 'a dry run ends with a table, or with one object',
    'init asks only a person, only for what is missing': 'init asks a person at a terminal, with what it found as the proposal',
    'plan: start, stop and changes, nothing written': 'plan tells what an edit would start, stop and change, and writes nothing',
    'logs: the recorded events, --follow, exit 1 if unknown':
      'logs tells the events of an issue; following goes on until interrupted',
    'stats: counts by outcome, by day, agent, state or issue': 'stats are the numbers of the runs',
    'status --watch': 'status --watch shows it again until interrupted',
    'without a service pause, resume, retry and unpark act on the database, stop is exit 1': WITHOUT,
    'stop ends the session and parks the issue': STOP,
    'retry makes a waiting or parked issue due now': STOP,
    'pause is durable and shown everywhere, with its reason': BEFORE,
    'pause dispatches nothing new until resume': 'nothing is dispatched while paused; resume lets go, once',
    'before the first start there is nothing to act on': 'there is nothing to stop, to retry or to read',
  }),
  ...rows(NEWCOMER, {
    'init for every kind; never a token in the file, never over another without --force': WALK,
    'for file --project is the path, for jira the variable holds email:token': WALK,
    'a refusal of the tracker is exit 1 and nothing is written': '%s: a wrong token is refused and nothing is written',
  }),
  ...rows('test/e2e/init.test.ts', {
    'init reads the tracker and proposes active, terminal and handoff':
      'gitea: states are proposed, although the kind has none by default',
  }),
  ...rows(DOCTOR, {
    'doctor: exit 1 when something is wrong, every state, transition and right':
      'jira: a state that is missing, a move that the workflow forbids and a right that is lacking are told before a run',
    'doctor --fix makes a missing label':
      'github: a missing label that runs set is an error, since they never make it; another is a warning; --fix makes both',
    'every other label': 'github: labels that people set, or that ask a person, are looked for and made too',
  }),
  ...rows('src/app/doctor/machine.test.ts', {
    'doctor: Node': 'Node %s is too old: %s',
    'doctor: the clock': 'a clock far from that of the tracker is told of, with the way to mend it',
    'doctor: the workspace root, tried': 'a workspace root where no directory can be made is an error, for root too',
    'doctor: the program of the agent':
      'an agent program that is there but does not run is told of before a run; one that runs tells its version',
    'doctor: git': 'git that is missing is an error where the service fills the workspaces from a repository',
  }),
];
