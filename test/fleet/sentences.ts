import type { Sentence } from '../docs/sentence.ts';

/** Rows of one file. */
function rows(file: string, sentences: Readonly<Record<string, string>>): readonly Sentence[] {
  return Object.entries(sentences).map(([says, test]) => ({ says, file, test }));
}

const MOVED = 'moves the records once, compared on both sides, and the service goes on with them';
const ROLE = 'needs no more than a role of its own, and says what is missing';
const BOTH = 'works one issue once with two daemons, and the other takes over when the leader is killed';
const EPOCH = 'lets only the present leader store, and marks every row with it';
const SLEPT = 'does none of them, of whatever kind';
const SHOWN = 'says that none is there, uses one that comes, shows it, and takes runs back after a crash';
const LIMITS = 'keeps its limits over the whole fleet, and gives runs to workers with their labels alone';
const ASKED = 'are worked on there, and ask the leader for what they need of the tracker';
const HELD = 'wait for a worker with their labels, and go back to the one that holds the workspace';
const GONE = 'finds its run gone when it comes back, ends its agent and writes nothing';
const ANEW = 'is checked out, made anew on another worker, pushed and proposed, without its token';
const APART = 'are told apart, each with what it holds, and the leader is not taken for a process of one’s own';
const STEPS = 'is done once, whatever fails at whichever step';
const PROMISES = 'keep their promises whoever is killed, stands still or is cut off';

/** The fleet on PostgreSQL: what it promises, sentence by sentence, and the test that shows it. */
export const SENTENCES: readonly Sentence[] = [
  // The store
  ...rows('test/fleet/store.test.ts', { 'the same port and the same contract on both databases': 'the PostgreSQL store' }),
  ...rows('test/fleet/migrate.test.ts', {
    'foray migrate --to moves a SQLite database, once, verified by counts and digests': MOVED,
    'it refuses while the service runs, and a target that has records': MOVED,
    'the schema is foray, and a role of its own is enough': ROLE,
    'commands work on the shared database': 'asks the leader through the database, and decides alone where none leads',
  }),
  ...rows('test/fleet/faults.test.ts', {
    'TLS as sslmode says; another CA and another name of the host are refused and told':
      'is used as the address asks, and a certificate that nobody vouches for is refused',
    'a lost connection: effects wait, nothing is lost or stored twice':
      'loses no unit of work and stores none twice, wherever it is cut',
  }),
  ...rows('test/fleet/standby.test.ts', {
    'a restart of the server is survived, told as database in /readyz':
      'goes on after the server was restarted under it, and loses nothing',
    'so is a failover': 'waits for a server that was made a replica, says so, and goes on with the one that takes writes',
  }),
  ...rows('src/store/postgres/contact.test.ts', { 'an effect waits until the leader is confirmed': 'holds for two seconds' }),

  // Standby
  ...rows('test/fleet/standby.test.ts', {
    'several daemons on one database, one leads': BOTH,
    'the others serve the same pages and API and say who leads': BOTH,
    'one takes over within 10 s': BOTH,
    'an old leader that wakes up can store nothing': 'lets a leader that was stopped and wakes up store and do nothing',
    'its processes are gone with it': 'leaves no process behind when it is killed, for a leader elsewhere could not end it',
  }),
  ...rows('test/fleet/store.test.ts', {
    'the epoch is stamped on every write and checked in its transaction': EPOCH,
    'the lock is not taken from a leader that lives': 'is not taken from a leader that lives',
    'a leader is known by its machine, not by the name of its host and a pid':
      '%s: what the lost leader ran begins again when it is surely over',
    'so are its processes': 'know which processes are on their own machine',
  }),
  ...rows('test/fleet/faults.test.ts', {
    'two that each believe they lead': 'store nothing under an epoch that is over (seed %i)',
  }),
  ...rows('test/fleet/stale-writes.test.ts', {
    'what it cannot store it does not do': SLEPT,
    'every external write is recorded under the epoch first': SLEPT,
  }),
  ...rows('test/fleet/asked-of-standby.test.ts', {
    'what people and vendors ask of a standby reaches the leader':
      'what a standby is asked for reaches the leader: webhooks, refreshes, pauses',
  }),
  ...rows('test/fleet/other-tracker.test.ts', {
    'a service whose file names another tracker than the leader’s says that nobody watches it, and so do commands':
      'a service of another tracker, and its commands, say that nobody watches it and who leads',
  }),

  // Workers
  ...rows('test/fleet/workers.test.ts', {
    'a worker takes runs from the queue, prepares the workspace there, drives the agent, streams events back': ASKED,
    'what a run needs of the tracker is done by the leader on request': ASKED,
    'workers hold no credential of the tracker': 'never carry a credential of the tracker',
    'run_on chooses by labels': HELD,
    'a retry or continuation prefers the host that holds the workspace; a conversation that cannot go there starts over and says so':
      HELD,
    'it obeys stop': 'stop when they are told to',
    'it drains on SIGTERM': 'are finished by a worker that is told to end, which then takes no more',
    'a worker lost has its run ended as worker_lost and retried elsewhere':
      'gives its run to another; killed, its agent ends when it starts again',
    'one that comes back finds its lease gone, stops its agent and writes nothing': GONE,
    'nor does one whose leader is another by now': 'can ask and say nothing for a run that another leader took back',
    'the database may crash under a run': 'loses nothing of a run under way, and the worker goes on to take runs',
    'or not be there yet': 'waits for it, and takes runs; also where it is lost again right after',
    'other versions are refused with a clear message':
      'gets no run from a service of another version, says why, and works when it is the same again',
    'a thousand runs, none lost, none doubled':
      '${RUNS} runs, none lost and none doubled, while workers are killed and the server crashes',
  }),
  ...rows('test/fleet/faults.test.ts', {
    'no run waits for an answer that was lost on its way': 'gets the answer of the leader that it was taking just then',
    'a broken connection ends no worker': 'at the end of a run goes on to take runs, and waits for what runs when it leaves',
  }),
  ...rows('test/fleet/delivery.test.ts', {
    'where the host is gone, the workspace is made anew': ANEW,
    'and no credential of the repository leaves the service': ANEW,
  }),
  ...rows('test/fleet/service-with-workers.test.ts', {
    'max_concurrent_agents is the fleet’s limit, limits by state count over all of it': LIMITS,
    'the tools of agents are carried out by the leader, under the same scope rules':
      'carries out the tools of their agents, and has them remove workspaces',
  }),
  ...rows('test/fleet/worker-role.test.ts', {
    'a role that reads and writes no record is enough for a worker':
      'a worker works under a role that can write to none of the records',
  }),
  ...rows('test/fleet/containers.test.ts', { 'containers of one name are told apart, leaders and workers': APART }),
  ...rows('src/runners/queue/leader/index.test.ts', {
    'no heartbeat for 30 s: lost': 'gets nothing new after ten seconds, and its run is another’s after thirty',
    'a request is carried out once, whatever is lost':
      'carries a request out once though its answer is lost with a server, and says so',
  }),
  ...rows('src/runners/queue/worker/heartbeat.test.ts', {
    'a worker that is cut off lets go before its runs are given to others':
      'gives its runs up after 20 seconds although its question hangs, and says so when it is back',
  }),
  ...rows('src/runners/queue/leader/choose.test.ts', {
    'who holds the workspace, else who has the most free slots':
      'is the holder of its workspace, else the one with the most free slots',
    'no worker waits longer for runs than others that are alike': 'is each in turn where they are alike',
  }),
  ...rows('src/config/worker.test.ts', { 'agent.user is refused with a remedy': '%s is refused' }),

  // SSH hosts
  ...rows('test/fleet/sshd.test.ts', {
    'agents are started over OpenSSH in a workspace on the host': 'carries whole runs',
    'secrets over standard input only, on no command line': 'shows nothing of what is secret on a command line, on either side',
    'host keys are checked': 'refuses a host whose key is unknown or another one, whatever the configuration says',
    'process trees are ended when the connection breaks': 'runs a program and ends it with the connection',
    'and when it stands but nothing is heard':
      'ends all that a program started when nothing is heard of this side, though the connection stands',
  }),
  ...rows('src/runners/ssh/hosts.test.ts', {
    'a run that moves to another host says so': 'says so, starts its conversation over and tells paths with their host',
  }),

  // Seen
  ...rows('test/fleet/service-with-workers.test.ts', {
    'hosts with slots, load, version, last heartbeat on the dashboard and in /api/v2/workers': SHOWN,
    'metrics per host': SHOWN,
    'foray status shows where each run is': SHOWN,
    'a standby shows them too': SHOWN,
  }),
  ...rows('src/runners/queue/leader/choose.test.ts', {
    'versions are compatible within one line': 'versions of one line understand each other',
  }),

  // Proofs
  ...rows('test/fleet/server.test.ts', {
    'a real PostgreSQL from the registry, started by the test': 'keeps what was stored over a stop and over a crash',
  }),
  ...rows('test/simulation/fleet/fleet.test.ts', {
    'the simulation has two leaders, partitions, zombie workers, lost and doubled messages': PROMISES,
    'one live session per issue over the whole fleet; no write by a stale epoch': PROMISES,
    'and finds a broken fence': 'the database takes writes of any epoch',
  }),
  ...rows('test/fleet/steps.test.ts', {
    'leader killed, worker killed, database restarted, links cut and healed, each at every step of a run': STEPS,
  }),
  ...rows('src/domain/events/fill-slots.test.ts', {
    'a free slot does not wait for the next poll': 'goes on being filled when a poll started what was being read for it',
  }),
];
