/** What graphile-worker prints past its logger: `Retried …` and `…: attempt 1/3 failed …`. */
const OWN_WORDS = /^Retried \d+ times, and still failed|: attempt \d+\/\d+ failed/;

let isHushed = false;

/**
 * Keeps stacks of the queue's library off standard error, where every line is a record of ours. When the database is lost
 * it calls console.trace and console.error whatever its logger is; what it has to tell is told by the heartbeat. Nothing else
 * in this program traces to the console, and other errors go through.
 */
export function hushJobLibrary(): void {
  if (isHushed) return;
  isHushed = true;
  const say = console.error.bind(console);
  console.trace = () => {};
  console.error = (...words: unknown[]) => {
    if (typeof words[0] !== 'string' || !OWN_WORDS.test(words[0])) say(...words);
  };
}
