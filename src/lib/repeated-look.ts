import { repeat, type Repeated } from './repeat.ts';

/**
 * Looks again and again, one look after the other: where what is looked at hangs, looks do not pile up. A failure is told once, until
 * a look succeeds.
 */
export function lookRepeatedly(look: () => Promise<void>, everyMs: number, tell: (fault: unknown) => void): Repeated {
  let isTold = false;
  const lookOnce = async (): Promise<void> => {
    try {
      await look();
      isTold = false;
    } catch (fault) {
      if (!isTold) tell(fault);
      isTold = true;
    }
  };
  return repeat(lookOnce, () => everyMs);
}
