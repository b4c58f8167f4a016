import type { Interface } from 'node:readline/promises';

/** What is wrong with an answer; null where nothing is. */
export type FaultOf = (said: string) => string | null;

export const NEEDED = 'an answer is needed';

/**
 * Asks a person, who takes the proposal by saying nothing. A wrong answer is told and asked for again, so that those before
 * it are not lost.
 */
export async function askFor(person: Interface, question: string, proposal: string, faultOf: FaultOf): Promise<string> {
  const shown = proposal === '' ? '' : ` [${proposal}]`;
  for (;;) {
    const said = (await person.question(`${question}${shown}: `).catch(ended)).trim() || proposal;
    const fault = said === '' ? NEEDED : faultOf(said);
    if (fault === null) return said;
    process.stderr.write(`foray: ${fault}\n`);
  }
}

/** Node's own words speak of a key. The cursor still stands behind the question. */
function ended(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
  process.stderr.write('\n');
  throw new Error('the input ended before the last question was answered: nothing was written', { cause: error });
}
