import type { StreamRecord } from './parse.ts';
import { epochMs } from '../shared/reset-time.ts';

/** Puts what is worth a line, and neither work nor outcome, into words. */
export interface Narrator {
  tell(record: StreamRecord): void;
  /** When the usage limit lifts that was last reported as reached. */
  resetsAt(): number | null;
}

const PROGRESS_EVERY_S = 60;
const LAST_DATE = 8.64e15;

export function createNarrator(notice: (text: string) => void): Narrator {
  let resetsAt: number | null = null;
  let limitStatus = 'allowed';
  let progressToldAt = 0;

  function tellLimit(record: Extract<StreamRecord, { type: 'limit' }>): void {
    const until = record.resetsAt === null || epochMs(record.resetsAt) > LAST_DATE ? null : epochMs(record.resetsAt);
    if (record.status === 'rejected') resetsAt = until;
    if (record.status !== limitStatus && record.status !== 'allowed') {
      const when = until === null ? '' : `, resets at ${new Date(until).toISOString()}`;
      notice(`usage limit ${record.window}: ${record.status}${when}`);
    }
    limitStatus = record.status;
  }

  /** A long command says so every few seconds; once a minute is enough to show that it is alive. */
  function tellProgress(record: Extract<StreamRecord, { type: 'tool-progress' }>): void {
    if (Math.abs(record.seconds - progressToldAt) < PROGRESS_EVERY_S) return;
    progressToldAt = record.seconds;
    notice(`${record.name} has been running for ${Math.round(record.seconds)} s`);
  }

  return {
    resetsAt: () => resetsAt,
    tell(record) {
      if (record.type === 'limit') tellLimit(record);
      if (record.type === 'tool-progress') tellProgress(record);
      if (record.type === 'compacted') notice('the conversation was compacted');
      if (record.type === 'unreadable') notice(record.why);
      if (record.type === 'retry') {
        notice(`the model API failed (${record.status ?? record.error}), try ${record.attempt} of ${record.of} follows`);
      }
      if (record.type === 'init') {
        for (const server of record.failedServers) notice(`the tool server ${server} did not start: its tools are missing`);
      }
    },
  };
}
