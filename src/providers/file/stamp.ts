import { fstatSync, futimesSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import type { Content } from './content.ts';

/** What a file held, and by what to tell that it holds it still. */
export interface FileVersion {
  readonly content: Content;
  /** Another one as soon as anybody touched the file; null while nobody can tell. */
  readonly stamp: string | null;
  /** We wrote it: its stamp holds from the first moment on. */
  readonly isOwn: boolean;
}

/** As coarse as the times of any file system are: a file that was touched this recently may change again without a trace. */
const COARSEST_MS = 3_000;

/**
 * For a file that somebody else wrote. File times are the system's own, so they are compared with its clock; one that is
 * ahead of it says nothing.
 */
export function settledStampOf(stats: BigIntStats): string | null {
  return Date.now() - Number(stats.ctimeMs) > COARSEST_MS ? stampOf(stats) : null;
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/**
 * Dates a file that we wrote back by a microsecond, so that no later write can leave the same time behind, however coarse
 * the clock of the file system is. Null where the file system does not take it: then its content has to be compared.
 */
export function dateBack(descriptor: number): bigint | null {
  const { atimeMs, mtimeNs } = fstatSync(descriptor, { bigint: true });
  try {
    futimesSync(descriptor, Number(atimeMs) / 1e3, Number(mtimeNs / 1000n - 1n) / 1e6);
  } catch {
    return null;
  }
  const dated = fstatSync(descriptor, { bigint: true }).mtimeNs;
  return dated < mtimeNs ? dated : null;
}

/** The stamp of a file that was dated back, unless somebody has written to it already. */
export function ownStampOf(descriptor: number, dated: bigint | null): string | null {
  const stats = fstatSync(descriptor, { bigint: true });
  return dated !== null && stats.mtimeNs === dated ? stampOf(stats) : null;
}
