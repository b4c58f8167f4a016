import type { Chance } from '../../support/random.ts';

/** A process on some host: it may be killed and start again, stand still for a while, or lose its way to the database. */
export interface Actor {
  readonly name: string;
  readonly host: string;
  /** Counts its starts: what an earlier one had in mind is not done. */
  life: number;
  isAlive: boolean;
  frozenUntil: number;
  cutUntil: number;
}

/** A virtual clock, and everything that is still to happen. */
export interface Timeline {
  now(): number;
  /** Lets the actor do something later, unless it ends before; nobody's things happen in any case. */
  after(ms: number, actor: Actor | null, act: () => void): void;
  /** Goes to the next thing and lets it happen. False when nothing is left. */
  step(): boolean;
}

interface Task {
  readonly at: number;
  readonly order: number;
  readonly actor: Actor | null;
  readonly life: number;
  readonly act: () => void;
}

export function createActor(name: string, host: string): Actor {
  return { name, host, life: 1, isAlive: true, frozenUntil: 0, cutUntil: 0 };
}

export function createTimeline(chance: Chance, start: number): Timeline {
  const tasks: Task[] = [];
  let now = start;
  let order = 0;

  function put(at: number, actor: Actor | null, life: number, act: () => void): void {
    order += 1;
    push(tasks, { at, order, actor, life, act });
  }

  return {
    now: () => now,
    after: (ms, actor, act) => put(now + ms, actor, actor?.life ?? 0, act),
    step() {
      const task = pop(tasks);
      if (task === undefined) return false;
      now = Math.max(now, task.at);
      const { actor } = task;
      if (actor === null) task.act();
      else if (!actor.isAlive || actor.life !== task.life) return true;
      // What came in while it stood still is met in any order when it wakes up.
      else if (actor.frozenUntil > now) put(actor.frozenUntil + chance.below(20), actor, task.life, task.act);
      else task.act();
      return true;
    },
  };
}

/** A heap: the earliest first, and of one moment the oldest. */
function push(heap: Task[], task: Task): void {
  let place = heap.push(task) - 1;
  while (place > 0) {
    const above = (place - 1) >> 1;
    if (!isBefore(task, heap[above]!)) break;
    heap[place] = heap[above]!;
    place = above;
  }
  heap[place] = task;
}

function pop(heap: Task[]): Task | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    const left = 2 * place + 1;
    if (left >= heap.length) break;
    const least = left + 1 < heap.length && isBefore(heap[left + 1]!, heap[left]!) ? left + 1 : left;
    if (!isBefore(heap[least]!, last)) break;
    heap[place] = heap[least]!;
    place = least;
  }
  heap[place] = last;
  return first;
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
