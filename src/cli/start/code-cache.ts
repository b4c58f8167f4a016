import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

/**
 * What V8 compiled of the parts of the command, kept from one start to the next: compiling is a third of a short one.
 * It is code, so it lies beside the code that it was made of: whoever can write there can change the command itself.
 * It is taken only from a folder that nobody but this user may touch. Whatever is wrong with it, the command runs without it.
 */
export interface CodeCache {
  find(part: string): Buffer | undefined;
  /** Has it kept when there is time; it is made then, and knows by then which functions were used. */
  add(part: string, make: () => Buffer): void;
}

export interface CodeCacheOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the built command is. */
  readonly home: string;
  /** Differs from build to build. */
  readonly build: string;
  /** What is run: other commands use other functions. */
  readonly command: string;
}

/** How long a service runs before it takes time for this. */
const SETTLED_MS = 5_000;
const PIECE_MS = 10;
/** Builds and commands that may be there before all of them go. */
const MOST_FILES = 40;

export function openCodeCache({ env, home, build, command }: CodeCacheOptions): CodeCache {
  const folder = folderOf(env, home);
  if (folder === null) return { find: () => undefined, add: () => {} };
  const file = path.join(folder, `${build}-${process.version}-${process.arch}-${command}`);
  const stored = isOurs(folder) ? openStored(file) : NOTHING;
  const taken = new Map<string, Buffer>();
  const fresh = new Map<string, () => Buffer>();
  let isOver = false;
  const take = (part: string, make: () => Buffer): void => {
    taken.set(part, make());
    fresh.delete(part);
  };
  const save = (): void => {
    if (isOver) return;
    isOver = true;
    for (const [part, make] of fresh) take(part, make);
    if (taken.size > 0) write(folder, file, new Map([...stored.all(), ...taken]));
    taken.clear();
    stored.close();
  };
  /** A service is not held up: one part at a time. What it loads later is little, and no memory is kept for it. */
  const saveInPieces = (): void => {
    const [next] = fresh;
    if (next !== undefined) {
      take(...next);
      setTimeout(saveInPieces, PIECE_MS).unref();
      return;
    }
    save();
  };
  process.once('exit', save);
  setTimeout(saveInPieces, SETTLED_MS).unref();
  return {
    find: (part) => (isOver ? undefined : stored.find(part)),
    add: (part, make) => void (isOver || fresh.set(part, make)),
  };
}

/** Node's own variable switches it off. On a system without owners there is none. */
function folderOf(env: CodeCacheOptions['env'], home: string): string | null {
  if (env['NODE_DISABLE_COMPILE_CACHE'] || process.getuid === undefined) return null;
  return path.join(home, '.compiled');
}

/** A folder of this user that others can neither read nor write. */
function isOurs(folder: string): boolean {
  try {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    return found !== undefined && found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** What an earlier start kept. */
interface Stored {
  find(part: string): Buffer | undefined;
  all(): ReadonlyMap<string, Buffer>;
  close(): void;
}

const NOTHING: Stored = { find: () => undefined, all: () => new Map(), close: () => {} };

/**
 * In the file: the length of the index, the index, then the code of each part. A part is read when it is wanted: most of
 * them belong to trackers and agents that this start does not use.
 */
function openStored(file: string): Stored {
  const source = attempt(() => openSync(file, 'r'));
  if (source === undefined) return NOTHING;
  const index = attempt(() => readIndex(source)) ?? new Map<string, Place>();
  const find = (part: string): Buffer | undefined => {
    const place = index.get(part);
    return place && attempt(() => piece(source, ...place));
  };
  return {
    find,
    all: () => new Map([...index.keys()].map((part) => [part, find(part)] as const).filter(hasCode)),
    close: () => closeSync(source),
  };
}

/** Undefined where it fails: without what an earlier start kept, the command is only slower. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

type Place = readonly [start: number, length: number];

/** Empty where the file is shorter than it says. */
function readIndex(source: number): ReadonlyMap<string, Place> {
  const { size } = fstatSync(source);
  const length = piece(source, 0, 4)?.readUInt32LE() ?? 0;
  const text = (4 + length <= size && piece(source, 4, length)?.toString('latin1')) || '[]';
  const begin = aligned(4 + length);
  const places = (JSON.parse(text) as [string, number, number][]).map(
    ([part, start, bytes]) => [part, [begin + start, bytes]] as const,
  );
  return new Map(places.filter(([, [start, bytes]]) => start + bytes <= size));
}

function piece(source: number, start: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length);
  return readSync(source, bytes, 0, length, start) === length ? bytes : undefined;
}

const hasCode = (entry: readonly [string, Buffer | undefined]): entry is readonly [string, Buffer] => entry[1] !== undefined;

/** Beside it first, and on the disk before it takes its place: half of it would be worse than none. */
function write(folder: string, file: string, kept: ReadonlyMap<string, Buffer>): void {
  const beside = `${file}.${process.pid}`;
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    if (!isOurs(folder)) return;
    const names = readdirSync(folder);
    if (names.length > MOST_FILES) for (const name of names) rmSync(path.join(folder, name), { force: true });
    writeWhole(beside, contentOf(kept));
    renameSync(beside, file);
  } catch {
    // A full disk, a command that was installed by somebody else: there is none, then.
  }
}

function writeWhole(file: string, content: readonly Buffer[]): void {
  const target = openSync(file, 'w', 0o600);
  try {
    for (const bytes of content) writeSync(target, bytes);
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
}

function contentOf(kept: ReadonlyMap<string, Buffer>): readonly Buffer[] {
  let start = 0;
  const parts = [...kept].map(([part, bytes]) => {
    const place = [part, start, bytes.length] as const;
    start += aligned(bytes.length);
    return { place, bytes: padded(bytes) };
  });
  const index = Buffer.from(JSON.stringify(parts.map(({ place }) => place)), 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  return [padded(Buffer.concat([length, index])), ...parts.map(({ bytes }) => bytes)];
}

/** V8 reads code from addresses of this kind only, and would copy it otherwise. */
function aligned(length: number): number {
  return Math.ceil(length / 16) * 16;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes], aligned(bytes.length));
}
