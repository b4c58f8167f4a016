import { isSampled } from './target.ts';

/** A page that promises another for ever is followed a few times. */
const MOST_ANSWERS = 20;
/** So many answers for one that is read through the platform's own stream, which takes longer than all the rest. */
const STREAMED_ONE_IN = 50;
const HEADERS = new Headers({ 'content-type': 'application/json' });

/** From now on every request is answered with this text, until the returned function is called. */
export function answerAlways(text: string, thorough: boolean): () => void {
  const real = globalThis.fetch;
  const streamed = thorough || isSampled(text, STREAMED_ONE_IN);
  const answer = streamed ? () => new Response(text, { status: 200, headers: HEADERS }) : () => lightAnswer(text);
  let count = 0;
  globalThis.fetch = async () => {
    count += 1;
    if (count > MOST_ANSWERS) throw new TypeError('fetch failed');
    return answer();
  };
  return () => void (globalThis.fetch = real);
}

/** What the client reads of a response, without the machinery. */
function lightAnswer(text: string): Response {
  const chunks = [Buffer.from(text)];
  const reader = {
    read: async () => {
      const value = chunks.pop();
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    cancel: async () => {},
  };
  return { ok: true, status: 200, headers: HEADERS, body: { getReader: () => reader } } as unknown as Response;
}
