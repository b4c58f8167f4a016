import { decide } from '../../src/domain/decide.ts';
import { NOTHING_DURABLE, type Durable, type Write } from '../../src/domain/model/durable.ts';
import type { Effect } from '../../src/domain/model/effect.ts';
import type { Event, RunExit } from '../../src/domain/model/event.ts';
import type { Issue } from '../../src/domain/model/issue.ts';
import type { Notice, NoticeName } from '../../src/domain/model/notice.ts';
import type { OperatorAnswer, OperatorRequest } from '../../src/domain/model/operator.ts';
import { recover } from '../../src/domain/recover.ts';
import { inDispatchOrder } from '../../src/domain/rules/dispatch-order.ts';
import type { Settings } from '../../src/domain/model/settings.ts';
import type { State } from '../../src/domain/model/state.ts';
import { settingsWith } from './settings.ts';

/** Plays events into the core and remembers what came of the last one. */
export interface Player {
  state: State;
  now: number;
  effects: readonly Effect[];
  writes: readonly Write[];
  send(event: Event): void;
  /** A person asks for something; gives the answer. */
  operator(request: OperatorRequest, hasRuns?: boolean): OperatorAnswer;
  after(ms: number): void;
  /** A poll, with the answers for those that it reads by themselves because they were worked on before. */
  poll(candidates: readonly Issue[], states?: Readonly<Record<string, string>>): void;
  exit(issueId: string, exit?: Partial<RunExit>): void;
  /** Effects of one sort that the last event asked for. */
  asked<Do extends Effect['do']>(name: Do): readonly Extract<Effect, { do: Do }>[];
  told(name: NoticeName): readonly Notice[];
  /** The same of all events so far. */
  everAsked<Do extends Effect['do']>(name: Do): readonly Extract<Effect, { do: Do }>[];
  everTold(name: NoticeName): readonly Notice[];
}

/** What it comes to is added to what the event before asked for. */
function answerRead(player: Player, issue: Issue): void {
  const { effects, writes } = player;
  player.send({ type: 'candidate-read', issueId: issue.id, issue: { ok: true, value: issue } });
  player.effects = [...effects, ...player.effects];
  player.writes = [...writes, ...player.writes];
}

export function createPlayer(settings: Settings = settingsWith(), durable: Durable = NOTHING_DURABLE): Player {
  const first = recover(settings, durable, 'run', 1_000_000);
  const all: Effect[] = [];
  const stored = new Map(durable.spent.map((spent) => [spent.issueId, spent]));
  const player: Player = {
    state: first.state,
    now: 1_000_000,
    effects: first.effects,
    writes: first.writes,
    send(event) {
      const decision = decide(player.state, event, player.now);
      player.state = decision.state;
      player.effects = decision.effects;
      all.push(...decision.effects);
      player.writes = decision.writes;
      for (const write of decision.writes) if (write.write === 'spent') stored.set(write.spent.issueId, write.spent);
    },
    operator(request, hasRuns = false) {
      player.send({ type: 'operator-asked', asked: { id: '1', request, tracker: '', by: 'somebody', hasRuns } });
      const answer = player.writes.find((write) => write.write === 'answer')?.answer;
      if (answer === undefined) throw new Error('the request was not answered');
      return answer;
    },
    after(ms) {
      player.now += ms;
      player.send({ type: 'clock' });
    },
    poll(candidates, states = {}) {
      player.now = Math.max(player.now, player.state.poll.nextAt);
      player.send({ type: 'clock' });
      const event: Event = {
        type: 'poll-answered',
        candidates: { ok: true, value: inDispatchOrder(candidates) },
        states: { ok: true, value: new Map(Object.entries(states)) },
        preflightProblem: null,
        spent: candidates.flatMap(({ id }) => stored.get(id) ?? []),
      };
      player.send(event);
      for (const issue of candidates) if (player.state.holds.get(issue.id)?.reason === 'read_again') answerRead(player, issue);
    },
    exit(issueId, exit = {}) {
      const runId = player.state.live.get(issueId)?.runId ?? 'none';
      player.send({
        type: 'run-exited',
        issueId,
        runId,
        exit: { kind: 'normal', turns: 1, fault: null, status: null, scm: null, ...exit },
      });
    },
    asked: (name) => askedIn(player.effects, name),
    told: (name) => toldIn(player.effects, name),
    everAsked: (name) => askedIn(all, name),
    everTold: (name) => toldIn(all, name),
  };
  return player;
}

function askedIn<Do extends Effect['do']>(effects: readonly Effect[], name: Do): readonly Extract<Effect, { do: Do }>[] {
  return effects.filter((effect): effect is Extract<Effect, { do: Do }> => effect.do === name);
}

function toldIn(effects: readonly Effect[], name: NoticeName): readonly Notice[] {
  return effects.flatMap((effect) => (effect.do === 'announce' && effect.notice.name === name ? [effect.notice] : []));
}
