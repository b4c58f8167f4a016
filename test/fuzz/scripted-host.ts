import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProcessEnd, ProcessHost, StartedProcess } from '../../src/ports/process.ts';

/** The processes of an agent that prints these lines, whatever it is asked, and leaves. */
export function scriptedHost(lines: readonly string[], code: number): ProcessHost {
  return { start: async ({ onSpawn }) => (onSpawn?.(PID), scriptedProcess(lines, code)), findProgram: async () => 'found' };
}

const MOST_TURNS = 4;
/** No process has it. */
const PID = 2 ** 30;

function scriptedProcess(lines: readonly string[], code: number): StartedProcess {
  let asked = '';
  let leave = (_end: ProcessEnd): void => {};
  let isOver = false;
  const exited = new Promise<ProcessEnd>((resolve) => (leave = resolve));
  const end = async (): Promise<void> => {
    isOver = true;
    leave({ code: null, signal: 'SIGTERM' });
  };
  return {
    pid: PID,
    stdin: {
      async write(text) {
        asked = ID_ASKED.exec(text)?.[1] ?? asked;
        return !isOver;
      },
      end: () => {},
    },
    async *lines() {
      let answered = '';
      for (const line of lines) {
        const isAnswer = line.includes('"$ID"');
        // One who was not asked answers all the same, a little later.
        for (let turns = 0; isAnswer && asked === answered && turns < MOST_TURNS; turns += 1) await nextTurn();
        if (isOver) break;
        if (isAnswer) answered = asked;
        yield line.replaceAll('"$ID"', asked || '0');
      }
      leave({ code, signal: null });
    },
    async *chunks() {},
    stderrTail: () => lines.at(-1) ?? '',
    exited,
    settled: exited,
    signal: () => void end(),
    stop: end,
    kill: end,
  };
}

/** A request of ours: its id stands before its method. */
const ID_ASKED = /^\{(?:"jsonrpc":"2.0",)?"id":(\d+),"method"/;
