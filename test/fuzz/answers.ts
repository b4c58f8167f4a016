import type { Dispatcher } from 'undici';
import { connections } from '../../src/lib/http/connections.ts';

/** A page that promises another for ever is followed a few times. */
const MOST_ANSWERS = 20;
const HEADERS = { 'content-type': 'application/json' };
const CONTROLLER = { abort: () => {}, pause: () => {}, resume: () => {} } as unknown as Dispatcher.DispatchController;

let given = 0;

/** How many answers were given so far: none means that no request comes this way. */
export function answersGiven(): number {
  return given;
}

/** From now on every request is answered with this text, until the returned function is called. */
export async function answerAlways(text: string): Promise<() => void> {
  const dispatcher = await connections();
  const bytes = Buffer.from(text);
  let count = 0;
  dispatcher.dispatch = (_, handler) => {
    count += 1;
    given += 1;
    if (count > MOST_ANSWERS) handler.onResponseError?.(CONTROLLER, new Error('enough of them'));
    else answer(handler, bytes);
    return true;
  };
  // Its own one is that of its class.
  return () => void Reflect.deleteProperty(dispatcher, 'dispatch');
}

function answer(handler: Dispatcher.DispatchHandler, bytes: Buffer): void {
  handler.onRequestStart?.(CONTROLLER, {});
  handler.onResponseStart?.(CONTROLLER, 200, HEADERS, 'OK');
  handler.onResponseData?.(CONTROLLER, bytes);
  handler.onResponseEnd?.(CONTROLLER, {});
}
