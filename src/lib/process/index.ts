export { findProgram } from './find-program.ts';
export type { ProgramState } from './find-program.ts';
export { createExcerpt } from './excerpt.ts';
export { endGroup } from './kill.ts';
export { ProcessStartError, startProcess } from './spawn.ts';
export type { ProcessExit, ProcessOptions, RunningProcess } from './spawn.ts';
export { endStrays } from './strays.ts';
