export { createExcerpt } from './excerpt.ts';
export type { Excerpt } from './excerpt.ts';
export { endGroup } from './kill.ts';
export { ProcessStartError, startProcess } from './spawn.ts';
export type { ProcessExit, ProcessInput, ProcessOptions, RunningProcess, StartFailure } from './spawn.ts';
