import { z } from 'zod';
import { once } from '../../lib/once.ts';
import {
  journalEntryOf,
  mergedSample,
  sampleOf,
  TONES,
  TROUBLE_KINDS,
  troubleOf,
  type JournalEntry,
  type PollSample,
  type TroubleKind,
  type TroublePlace,
} from '../../domain/views/chronicle.ts';
import { HOLD_REASONS, type HoldCounts } from '../../domain/model/hold.ts';
import type { Notice } from '../../domain/model/notice.ts';
import type { Chronicle } from '../../ports/daemon.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Note, Store } from '../../ports/store.ts';

export interface ChronicleDeps {
  readonly store: Pick<Store, 'addNotes' | 'listNotes'>;
  readonly notices: NoticeBus;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Polls of so many minutes are kept as one. */
const SAMPLE_MS = 5 * 60_000;
const POLLS = 'polls';
const SERVICE = 'service';
const LAST_POLL = 'last poll';
const ENTRIES_OF_ISSUE = 200;
/** Ninety days of samples. */
const MOST_SAMPLES = 26_000;

/** Writes down what the notices tell, and reads it back. A note that cannot be stored is told and let go. */
export function keepChronicle(deps: ChronicleDeps): Chronicle & { stop(): Promise<void> } {
  const { store, notices, clock } = deps;
  const writer = createNoteWriter(deps);
  let recent: readonly PollSample[] = [];
  let left: PollSample['left'] = {};

  function sample(notice: Notice): void {
    if (notice.name === 'tracker:quotas:read')
      left = Object.fromEntries(notice.facts.quotas.map(({ resource, remaining }) => [resource, remaining]));
    const made = sampleOf(notice, recent.at(-1) ?? null, clock.now());
    if (made === null) return;
    if (recent[0] && made.at - recent[0].at >= SAMPLE_MS) keepRecent();
    recent = [...recent, { ...made, left }];
  }

  function keepRecent(): void {
    const merged = mergedSample(recent);
    recent = [];
    if (merged) writer.add({ at: merged.at, subject: POLLS, body: JSON.stringify(merged) });
  }

  const changed = createTroubles();
  const stopListening = notices.listen((notice) => {
    sample(notice);
    const at = clock.now();
    const trouble = changed(notice, at);
    if (trouble !== null) writer.add({ at, subject: SERVICE, body: JSON.stringify(trouble) });
    if (notice.name === 'poll:tick:completed') {
      const { candidates, held = {} } = notice.facts;
      writer.add({ at, subject: LAST_POLL, body: JSON.stringify({ candidates, held }), isOnly: true });
    }
    const entry = journalEntryOf(notice);
    if (entry === null) return;
    const { identifier, ...said } = entry;
    writer.add({ at, subject: subjectOf(identifier, notice.tracker ?? ''), body: JSON.stringify(said) });
  });
  return {
    async journalOf(identifier, tracker) {
      await writer.written();
      const notes = await store.listNotes({ subject: subjectOf(identifier, tracker), limit: ENTRIES_OF_ISSUE });
      return notes.flatMap(({ at, body }) => readEntry(at, body));
    },
    async samplesSince(since) {
      await writer.written();
      const notes = await store.listNotes({ subject: POLLS, since, limit: MOST_SAMPLES });
      return [...notes.flatMap(({ body }) => readSample(body)), ...recent];
    },
    async stop() {
      stopListening();
      keepRecent();
      await writer.written();
    },
  };
}

/** What keeps the service back, each time it changes: written down, so that commands can tell of it. */
function createTroubles(): typeof troubleOf {
  const known = new Map<TroubleKind, string>();
  return (notice, at) => {
    const told = troubleOf(notice, at);
    if (told === null) return null;
    const before = known.get(told.what) ?? null;
    const now = told.text && `${told.text} ${told.nextTryAt ?? ''}`;
    if (now === before || (told.isSilence === true && before !== null)) return null;
    if (now === null) known.delete(told.what);
    else known.set(told.what, now);
    return told;
  };
}

/** Something that keeps the whole service back. */
export interface Trouble {
  readonly what: TroubleKind;
  readonly since: number;
  readonly text: string;
  readonly place: TroublePlace | null;
  /** Of what is tried again at a moment that is known. */
  readonly nextTryAt: number | null;
  /** Nothing was said. */
  readonly isSilence: boolean;
}

/** Whether it is on its way out. */
export function isStop({ what }: Trouble): boolean {
  return what === 'stopping';
}

/** What keeps a service back that has been at work since then. */
export async function troublesSince(since: number, store: Pick<Store, 'listNotes'>): Promise<readonly Trouble[]> {
  const latest = new Map<TroubleKind, Trouble>();
  for (const { at, body } of await store.listNotes({ subject: SERVICE, since, limit: MOST_TROUBLES })) {
    const { success, data } = TROUBLE().safeParse(parsed(body));
    if (!success) continue;
    const { text, ...trouble } = data;
    const { what } = trouble;
    if (text === null) latest.delete(what);
    else latest.set(what, { ...trouble, text, since: latest.get(what)?.since ?? at });
  }
  return [...latest.values()];
}

const MOST_TROUBLES = 200;

/** What a poll found that was answered. */
export interface LastPoll {
  readonly at: number;
  readonly candidates: number;
  /** How many are held that neither run nor wait, by reason. */
  readonly held: HoldCounts;
}

/** The last one of a service that has been at work since then; null before its first. */
export async function lastPollSince(since: number, store: Pick<Store, 'listNotes'>): Promise<LastPoll | null> {
  const [note] = await store.listNotes({ subject: LAST_POLL, since, limit: 1 });
  const { success, data } = POLL().safeParse(parsed(note?.body ?? ''));
  return note && success ? { at: note.at, ...data } : null;
}

/** Trackers may have issues of the same name. */
function subjectOf(identifier: string, tracker: string): string {
  return `issue ${identifier} of ${tracker}`;
}

/** Notes that come together are stored together. */
function createNoteWriter({ store, logger }: ChronicleDeps): { add(note: Note): void; written(): Promise<void> } {
  let waiting: Note[] = [];
  let last = Promise.resolve();

  async function write(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const notes = waiting;
    waiting = [];
    await store.addNotes(notes).catch((error: unknown) => {
      logger.warn('what happened could not be written down', { error: String(error), notes: notes.length });
    });
  }
  return {
    add(note) {
      waiting.push(note);
      if (waiting.length === 1) last = last.then(write);
    },
    written: () => last,
  };
}

const PLACE = once(() => z.object({ file: z.string(), line: z.number().nullable(), column: z.number().nullable() }));
const TROUBLE = once(() =>
  z.object({
    what: z.enum(TROUBLE_KINDS),
    text: z.string().nullable(),
    place: PLACE().nullable().default(null),
    nextTryAt: z.number().nullable().default(null),
    isSilence: z.boolean().default(false),
  }),
);
const POLL = once(() => z.object({ candidates: z.number(), held: z.partialRecord(z.enum(HOLD_REASONS), z.number()) }));
const ENTRY = once(() =>
  z.object({
    text: z.string(),
    tone: z.enum(TONES),
    given: z.object({ state: z.string().nullable() }).nullable().optional(),
  }),
);
const SAMPLE = once(() =>
  z.object({
    at: z.number(),
    running: z.number(),
    retrying: z.number(),
    pollMs: z.number(),
    failed: z.number(),
    polls: z.number(),
    left: z.record(z.string(), z.number()),
  }),
);

function readEntry(at: number, body: string): readonly JournalEntry[] {
  const { success, data } = ENTRY().safeParse(parsed(body));
  if (!success) return [];
  return [{ at, ...data, given: data.given === undefined ? givenBefore(data) : data.given }];
}

/** Notes of the older shape are stored without it: it is read from their words. */
function givenBefore({ text, tone }: Pick<JournalEntry, 'text' | 'tone'>): JournalEntry['given'] {
  if (tone === 'plain') return text.startsWith('not handed off: ') ? { state: null } : null;
  const state = /^(?:handed off|moved) to (.*?)(?: by somebody else)?$/s.exec(text)?.[1];
  return tone === 'good' && state !== undefined ? { state } : null;
}

function readSample(body: string): readonly PollSample[] {
  const { success, data } = SAMPLE().safeParse(parsed(body));
  return success ? [data] : [];
}

/** Undefined for what is no JSON: a note of another version must not spoil the page. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
