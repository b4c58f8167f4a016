import { appendFileSync } from 'node:fs';

const passed = new Map<string, number>();

/**
 * A place at which the tests of faults kill this process: FORAY_TEST_CRASH_AT names it; at FORAY_TEST_FREEZE_AT it is
 * stopped until it is woken. A number before the name is for the how manieth time it comes there: `3 name`.
 * FORAY_TEST_STEPS is a file for the names of all that were passed. The built command has none of it: there
 * FORAY_CRASH_POINTS is false, and the bundler leaves the body out.
 */
export function crashPoint(step: string): void {
  if (typeof FORAY_CRASH_POINTS !== 'undefined' && FORAY_CRASH_POINTS) {
    const { FORAY_TEST_STEPS: file, FORAY_TEST_CRASH_AT: deadly, FORAY_TEST_FREEZE_AT: frozen } = process.env;
    const time = (passed.get(step) ?? 0) + 1;
    passed.set(step, time);
    if (file) appendFileSync(file, `${step}\n`);
    const names = time === 1 ? [step, `1 ${step}`] : [`${time} ${step}`];
    if (deadly !== undefined && names.includes(deadly)) process.kill(process.pid, 'SIGKILL');
    if (frozen !== undefined && names.includes(frozen)) process.kill(process.pid, 'SIGSTOP');
  }
}
