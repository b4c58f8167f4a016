import { appendFileSync } from 'node:fs';

/**
 * A place at which the tests of faults kill this process: FORAY_TEST_CRASH_AT names it; at FORAY_TEST_FREEZE_AT,
 * `number name`, it is stopped when it comes there for that time, until it is woken. FORAY_TEST_STEPS is a file for the names of all that were passed. The built command has none of it: there FORAY_CRASH_POINTS is false, and the bundler
 * leaves the body out.
 */
export function crashPoint(step: string): void {
  if (typeof FORAY_CRASH_POINTS !== 'undefined' && FORAY_CRASH_POINTS) {
    const { FORAY_TEST_STEPS: passed, FORAY_TEST_CRASH_AT: deadly, FORAY_TEST_FREEZE_AT: frozen } = process.env;
    if (passed) appendFileSync(passed, `${step}\n`);
    if (step === deadly) process.kill(process.pid, 'SIGKILL');
    if (frozen?.endsWith(` ${step}`) !== true) return;
    const left = Number.parseInt(frozen, 10) - 1;
    process.env.FORAY_TEST_FREEZE_AT = left === 0 ? '' : `${left} ${step}`;
    if (left === 0) process.kill(process.pid, 'SIGSTOP');
  }
}
