/** Not a byte of the request has left. */
export class NotSent extends Error {}

type Abort = (reason: Error) => void;

/** What `fetch` hands to whatever makes its connections; told when one stands, right before the request is written to it. */
interface Handler {
  onConnect?(abort: Abort, context: unknown): void;
  onRequestStart?(controller: { abort: Abort }, context: unknown): void;
}

interface Dispatcher {
  dispatch(options: object, handler: Handler): boolean;
}

/** Where `fetch` keeps what makes its connections, also after a proxy was set. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** An option for `fetch`: the request is sent only if the condition holds when its connection stands; it fails by a NotSent otherwise. */
export function sentOnlyIf(holds: () => boolean): RequestInit {
  const makes = Reflect.get(globalThis, DISPATCHER) as Dispatcher | undefined;
  if (makes === undefined) return {};
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) => makes.dispatch(options, checking(handler, holds)),
  };
  // Of a dispatcher, `fetch` uses nothing else.
  return { dispatcher } as unknown as RequestInit;
}

/** The same handler, which ends the request at its connection where the condition does not hold. */
function checking(handler: Handler, holds: () => boolean): Handler {
  const checked = Object.create(handler) as Handler;
  const { onConnect, onRequestStart } = handler;
  if (onConnect) {
    checked.onConnect = function (abort, context) {
      if (holds()) onConnect.call(this, abort, context);
      else abort(new NotSent());
    };
  }
  if (onRequestStart) {
    checked.onRequestStart = function (controller, context) {
      if (holds()) onRequestStart.call(this, controller, context);
      else controller.abort(new NotSent());
    };
  }
  return checked;
}
