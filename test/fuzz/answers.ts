/** A page that promises another for ever is followed a few times. */
const MOST_ANSWERS = 20;
const HEADERS = [Buffer.from('content-type'), Buffer.from('application/json')];
/** What makes the connections of this process, see src/lib/http/send.ts. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

interface Handler {
  onConnect(abort: (reason?: Error) => void): void;
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** From now on every request is answered with this text, until the returned function is called. */
export function answerAlways(text: string): () => void {
  void new Headers();
  const real: unknown = Reflect.get(globalThis, DISPATCHER);
  const bytes = Buffer.from(text);
  let count = 0;
  const dispatch = (_: object, handler: Handler): boolean => {
    count += 1;
    if (count > MOST_ANSWERS) handler.onError(new Error('enough of them'));
    else answer(handler, bytes);
    return true;
  };
  Reflect.set(globalThis, DISPATCHER, { dispatch });
  return () => void Reflect.set(globalThis, DISPATCHER, real);
}

function answer(handler: Handler, bytes: Buffer): void {
  handler.onConnect(() => {});
  handler.onHeaders(200, HEADERS, () => {});
  handler.onData(bytes);
  handler.onComplete();
}
