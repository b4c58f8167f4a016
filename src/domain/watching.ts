import type { Draft } from './draft.ts';
import type { RunExit } from './event.ts';
import type { Verdict } from './on-exit.ts';
import type { Live } from './state.ts';

/** A normal exit that left a usable merge request behind is watched from here on. */
export function armWatch(_draft: Draft, _live: Live, _exit: RunExit, _verdict: Verdict): void {}
