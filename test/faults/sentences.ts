/** What is promised about faults and about security, sentence by sentence, with the test that shows it. */
export interface Sentence {
  readonly says: string;
  readonly file: string;
  /** The title of the test, as it is written there. */
  readonly test: string;
}

/** Rows of one file. */
function rows(file: string, sentences: Readonly<Record<string, string>>): readonly Sentence[] {
  return Object.entries(sentences).map(([says, test]) => ({ says, file, test }));
}

const FULL_WORKSPACES =
  'is full: runs fail with the reason and the place, no half-made workspace is worked in, and all goes on with room';
const READ_ONLY_DATABASE =
  'turns read-only while the daemon runs: told, nothing is begun, and the next daemon goes on after the repair';
const READ_ONLY_WORKSPACES =
  'turns read-only while an agent works: nothing new starts, which is told, and all goes on when it can be written';
const REMOVED_WORKSPACE = 'is removed under a running agent: the run fails, its agent ends, and the next one works in a new one';
const DESCRIPTORS = 'has hardly any file descriptors: it tells, lives on, and hands everything over once fewer run at once';
const NOWHERE = 'a credential shows nowhere: log, API, pages, metrics, database, child environments, process list';

const LOCKED = 'is locked for ${LOCK_MS / 1_000} s when a turn ends: nothing is lost, /livez answers throughout';
const READ_MEANWHILE =
  'is read by another in one transaction for ${LOCK_MS / 1_000} s: nothing waits for that, and nothing is lost';
const BUSY_DAY =
  '${SESSIONS} sessions, ${STREAMS} event streams, ${IDLE} idle connections, ${PER_SECOND} requests a second for ${SECONDS} s';
const HELD_CONNECTIONS =
  '${STREAMS} that ask for event streams, ${IDLE} idle and ${SILENT} half-closed connections: memory is bounded, the API answers';
const CUT_AT_STOP =
  'at the end of its grace a stop cuts the request that hangs, and kills the hook that hangs without asking again';

export const FAULTS: readonly Sentence[] = [
  ...rows('test/faults/crash-matrix.test.ts', {
    'a kill at every step loses nothing and does nothing twice': 'loses nothing and does nothing twice',
    'a step that no kill met is a fault': 'a step that no kill met is a fault, unless other steps stand for what was stored',
    'users cannot crash it so': 'the command that users run has no place to crash at',
  }),
  ...rows('test/faults/load.test.ts', { 'sessions, dashboards and requests of a busy day': BUSY_DAY }),
  ...rows('test/faults/connections.test.ts', { 'connections that nobody reads or closes': HELD_CONNECTIONS }),
  ...rows('test/faults/chaos.test.ts', {
    'a proxy that delays, cuts, duplicates, reorders, corrupts and throttles; a thousand polls lose nothing':
      'loses no issue in ${POLLS} polls, and hands each over once (seed ${SEED})',
  }),
  ...rows('test/faults/chaos-forge.test.ts', {
    'the same between the daemon and a forge and its git server': 'one request, ${MENDS} mended heads, one merge (seed ${SEED})',
  }),
  ...rows('test/faults/disk.test.ts', {
    'disk full, under the database': 'is full for a while: the daemon says so, waits and goes on',
    'disk full for good': 'stays full: the daemon ends and says why, and the next one goes on',
    'disk full, under the workspaces': FULL_WORKSPACES,
    'read-only disk at the start': 'cannot be written: the start says which file and what to do',
    'read-only disk, under the database': READ_ONLY_DATABASE,
    'read-only disk, under the workspaces': READ_ONLY_WORKSPACES,
    'read-only disk, under the log': 'turns read-only under the daemon: it works on and ends when told to',
  }),
  ...rows('test/faults/world.test.ts', {
    'file descriptors exhausted': DESCRIPTORS,
    'clock jumping both ways by an hour, polls go on':
      'is set back and forward by an hour: polls go on, and no turn is ended for it',
    'a database locked': LOCKED,
    'a database read by another for long': READ_MEANWHILE,
    'a database removed under the daemon':
      'is removed under the daemon: nothing is begun that nobody would remember, and it goes on when the file is back',
    'a database replaced under the daemon': 'is %s under the daemon: that is told, and the next start tells the truth',
    'a database corrupted': 'is overwritten with rubbish: the next start says so and touches nothing',
    'a workspace removed under a running agent': REMOVED_WORKSPACE,
    'a root that cannot be resolved': 'has a root that cannot be used, %s: that is said, and the daemon ends when told to',
  }),
  ...rows('test/faults/suspended.test.ts', {
    'a suspended and resumed process':
      'daemon and agent are suspended for longer than a turn may be silent: the turn goes on, and so do polls',
  }),
  ...rows('test/faults/log-reader.test.ts', { 'a log reader that goes away': 'goes away: the daemon works on' }),
  ...rows('src/domain/events/clock-set.test.ts', {
    'monotonic time for intervals': 'by %i ms: polls and retries keep their distance, and a turn goes on',
  }),
  ...rows('src/orchestrator/drain.test.ts', { 'drain always ends, over every effect': 'although %s never answers' }),
  ...rows('test/faults/drain.test.ts', {
    'each write hangs for real while the daemon stops':
      'a stop while something hangs for good ends at the ceiling, and says what it cut off',
    'what is not waited for': 'a stop waits for no read, agent, hook before a run, receiver, collector or reader',
  }),
  ...rows('src/app/daemon/stop.test.ts', { 'what hangs at a stop is ended': CUT_AT_STOP }),
];

export const SECURITY: readonly Sentence[] = [
  ...rows('src/workspace/containment.test.ts', {
    'path traversal': 'reads no path outside of the root, and none of its own folders there',
    'symlinks swapped between check and use': 'reads nothing from elsewhere when, between the look and the read,',
    'links in the place of a workspace': 'refuses a workspace that is a link, for every use',
    'identifiers of every shape': 'keeps every identifier right under the root, to the disk and back',
  }),
  ...rows('src/workspace/key.test.ts', {
    'unicode and very long names': 'gives a plain file name for whatever text, and different ones for different texts',
  }),
  ...rows('src/server/access/security.test.ts', { 'Host guard': '"%s" is refused' }),
  ...rows('test/e2e/access.test.ts', {
    'Origin guard': 'a post of another origin is 403, whatever it asks for',
    'content security policy': 'every answer carries a strict policy and may not be kept',
  }),
  ...rows('src/lib/log.test.ts', { 'log injection': 'no value can begin a new record or attribute' }),
  ...rows('test/faults/secrets.test.ts', {
    'secrets absent from log, API, dashboard, database, child environments, process lists': NOWHERE,
    'secrets absent from what commands print when nothing answers':
      'no command shows a credential when nothing answers: written as %s',
    'secrets absent from the environment and the arguments of agents and what they start':
      'no credential is in the environment or the arguments of an agent, or of what it starts',
  }),
  ...rows('test/faults/environment.test.ts', {
    'child environments': 'the environment of the daemon shows no credential to a hook',
  }),
  ...rows('src/git/git.test.ts', {
    'no credential of git in reach of an agent': 'finds it nowhere, and cannot push by itself',
    'no program of a repository that an agent puts in the place of its own':
      'gets no program run by a repository of its own in the place of the worktree, and nothing else committed',
  }),
  ...rows('src/git/traps.test.ts', {
    'a pipe in the repository of the worktrees': 'holds nobody up, where a pipe stands for the place of a worktree',
    'no hook of the repository of the worktrees':
      'runs no program when another worktree is made, brought up to date and published',
    'links in the repository of the worktrees': 'leads no write of ours elsewhere, and is put right',
  }),
  ...rows('src/workspace/marks.test.ts', {
    'very long names that begin alike': 'issue is not used when their names begin alike and are as long as names may be',
  }),
  ...rows('src/workspace/evidence.test.ts', {
    'no program of a repository when evidence is looked for': 'is looked for without a program that the repository names',
    'no program of a submodule when evidence is looked for': 'is looked for in submodules too, without a program that they name',
    'no program by an object that is missing': 'fetches nothing that is missing, which would run a program',
  }),
  ...rows('src/providers/foreign-origin.test.ts', {
    'no token to another origin by a redirect, on every vendor': 'goes there with no read and no write',
  }),
  ...rows('test/faults/strays.test.ts', { 'hook and agent process trees ended': 'ends with %s that started it' }),
  ...rows('test/faults/leftovers.test.ts', {
    'process trees ended after a crash': 'an %s that a killed daemon had no time to write down is ended by the next one',
  }),
  ...rows('src/store/sqlite/open.test.ts', { 'the database is its owner’s': 'are for their owner only, whatever the umask' }),
];
