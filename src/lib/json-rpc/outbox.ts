import { writeMessage, type Envelope } from './wire.ts';

export interface OutboxOptions {
  readonly send: (line: string) => Promise<boolean> | void;
  readonly envelope: Envelope;
  readonly maxPendingLength: number;
  /** The other side hears nothing any more. Called once. */
  readonly onBroken: (reason: string) => void;
}

/** The members of one message, without the envelope. */
export type Send = (members: Readonly<Record<string, unknown>>) => void;

/** Writes without waiting, and never holds more than the bound: a side that does not read is as good as gone. */
export function createOutbox({ send, envelope, maxPendingLength, onBroken }: OutboxOptions): Send {
  let pending = 0;
  let broken = false;

  function fail(reason: string): void {
    if (broken) return;
    broken = true;
    onBroken(reason);
  }

  async function deliver(line: string): Promise<void> {
    pending += line.length;
    const taken = await send(line);
    pending -= line.length;
    if (taken === false) fail('the other side closed its input');
  }

  return (members) => {
    if (broken) return;
    const line = writeMessage(envelope, members);
    if (pending + line.length > maxPendingLength) return fail('the other side does not read its input');
    deliver(line).catch(() => fail('the other side closed its input'));
  };
}
