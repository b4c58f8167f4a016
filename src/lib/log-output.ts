import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { WriteStream as Terminal } from 'node:tty';
import type { Writable } from 'node:stream';

/** Takes one line; false when it could not be kept. Never throws and never waits. */
export type WriteLine = (line: string) => boolean;

/** What a reader that does not read may make us hold in memory. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
/** As much as a pipe holds. */
const MOST_AT_ONCE = 64 * 1024;

/**
 * Standard error as a place for records. Who reads it may close it, stop reading or run out of disk: that loses records,
 * and nothing else.
 */
export function logOutput(stream: Writable & { readonly fd: number } = process.stderr): WriteLine {
  return stream instanceof Socket || stream instanceof Terminal ? lineStream(stream) : lineFile(stream.fd);
}

/** A pipe, socket or terminal. */
export function lineStream(stream: Writable): WriteLine {
  let gone = false;
  let lines = '';
  stream.on('error', () => (gone = true));
  const flush = (): void => {
    if (lines !== '') stream.write(lines);
    lines = '';
  };
  process.on('exit', flush);
  return (line) => {
    if (gone || stream.writableLength + lines.length > MOST_WAITING_BYTES) return false;
    // Those that are told in one go are written in one.
    if (lines === '') queueMicrotask(flush);
    lines += line;
    if (lines.length >= MOST_AT_ONCE) flush();
    return true;
  };
}

/** A file. A full disk may have room again later, so every line is tried. */
export function lineFile(fd: number): WriteLine {
  let broken = false;
  return (line) => {
    const bytes = Buffer.from(broken ? `\n${line}` : line);
    try {
      broken = writeSync(fd, bytes) < bytes.length;
    } catch {
      return false;
    }
    return !broken;
  };
}
