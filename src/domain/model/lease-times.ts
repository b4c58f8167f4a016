/**
 * How long leaders, workers and the hosts of both believe each other without a word. An issue is worked on by one at a time
 * only while these fit together: lease-times.test.ts says how.
 */

/** How often the leader says that it lives, and the others look. */
export const LEADER_BEAT_MS = 1_000;
/** So long after the leader was confirmed nobody can have taken over. */
export const CONFIRMED_MS = 2_000;
/** A leader whose session is gone has this long to come back. */
export const LEADER_ABSENT_MS = 3_000;
/** A leader that keeps its session and says nothing for so long (it is stopped, or cut off) loses it. */
export const LEADER_SILENT_MS = 6_000;
/** A leader that cannot reach the database for so long ends its sessions, where another could have taken over. */
export const LEADER_CUT_OFF_MS = 30_000;
/** A leader that is stopped for so long has its sessions ended by its host. */
export const LEADER_STOPPED_MS = 30_000;
/** A host ends what it runs over SSH for a daemon that it did not hear for so long. */
export const FAR_SIDE_PATIENCE_MS = 30_000;
/** The next leader starts what ran elsewhere only so long after the last sign of the one before. */
export const SESSIONS_OVER_MS = 45_000;

/** A command asks a leader that said within this time that it lives. */
export const LEADER_ANSWERS_MS = 3_000;
/** A command that asks waits so long for a leader that fell silent. */
export const ASKING_WAITS_MS = 10_000;
/** A command that reads takes a leader that spoke within this time to be at work. */
export const LEADER_AT_WORK_MS = 10_000;
/** A move of records waits so long for one that is gone without taking leave, such as a move that was interrupted. */
export const MOVE_WAITS_MS = 5_000;

/** How often a worker says that it lives. */
export const WORKER_BEAT_MS = 2_000;
/** A run that was this worker's so recently is nobody else's yet. */
export const WORKER_SURE_MS = 10_000;
/** A worker that is silent for this long gets nothing new. */
export const WORKER_QUIET_MS = 10_000;
/** A worker that cannot reach the database for so long ends its runs. */
export const WORKER_CUT_OFF_MS = 20_000;
/** A worker that is stopped for so long has its agents ended by its host. */
export const WORKER_STOPPED_MS = 20_000;
/** A worker without a heartbeat for this long is lost, and its runs are given to others. */
export const WORKER_LOST_MS = 30_000;

/** How often a process tells the guard of its process groups that it goes on. */
export const GUARD_BEAT_MS = 2_000;
