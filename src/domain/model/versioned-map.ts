/**
 * A map of which every version stays readable and the next one costs a constant time: `decide` stays pure without a copy
 * of thousands of entries for each change. The newest version holds the entries; an older one holds its difference to
 * the next and becomes whole again when it is read.
 */
class VersionedMap<K, V> implements ReadonlyMap<K, V> {
  data: Whole<K, V> | Difference<K, V>;

  constructor(data: Whole<K, V>) {
    this.data = data;
  }

  get size(): number {
    return this.whole().size;
  }

  get(key: K): V | undefined {
    return this.whole().get(key);
  }

  has(key: K): boolean {
    return this.whole().has(key);
  }

  /** Each of these walks over what is here now, also when a later version is made meanwhile. */
  keys(): MapIterator<K> {
    return [...this.whole().keys()].values();
  }

  values(): MapIterator<V> {
    return [...this.whole().values()].values();
  }

  entries(): MapIterator<[K, V]> {
    return [...this.whole().entries()].values();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  with(key: K, value: V): VersionedMap<K, V> {
    return this.next([key], (entries) => entries.set(key, value));
  }

  /** Each key is looked up and set in one go: with many entries, finding its place again would cost as much again. */
  withAll(keys: readonly K[], values: readonly V[]): VersionedMap<K, V> {
    const entries = this.whole();
    const next = new VersionedMap<K, V>({ entries });
    const before: (V | typeof ABSENT)[] = [];
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index] as K;
      before.push(valueAt(entries, key));
      entries.set(key, values[index] as V);
    }
    this.data = { keys, values: before, next };
    return next;
  }

  without(key: K): VersionedMap<K, V> {
    return this.has(key) ? this.next([key], (entries) => entries.delete(key)) : this;
  }

  private next(keys: readonly K[], change: (entries: Map<K, V>) => void): VersionedMap<K, V> {
    const entries = this.whole();
    const next = new VersionedMap<K, V>({ entries });
    this.data = differenceAt(entries, keys, next);
    change(entries);
    return next;
  }

  private whole(): Map<K, V> {
    return 'entries' in this.data ? this.data.entries : madeWhole(this);
  }
}

/** Makes a version the one that holds the entries, undoing the changes that came after it. */
function madeWhole<K, V>(version: VersionedMap<K, V>): Map<K, V> {
  const later: VersionedMap<K, V>[] = [];
  let newest = version;
  while (!('entries' in newest.data)) {
    later.push(newest);
    newest = newest.data.next;
  }
  const { entries } = newest.data;
  for (let older = later.pop(); older; older = later.pop()) {
    const { keys, values } = older.data as Difference<K, V>;
    newest.data = differenceAt(entries, keys, older);
    // The last first: of a key that is there twice, the first one tells what was before both.
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const [key, value] = [keys[index] as K, values[index] as V | typeof ABSENT];
      if (value === ABSENT) entries.delete(key);
      else entries.set(key, value);
    }
    older.data = { entries };
    newest = older;
  }
  return entries;
}

interface Whole<K, V> {
  readonly entries: Map<K, V>;
}

/** What another version has at some keys. */
interface Difference<K, V> {
  readonly keys: readonly K[];
  readonly values: readonly (V | typeof ABSENT)[];
  readonly next: VersionedMap<K, V>;
}

const ABSENT = Symbol('absent');

function differenceAt<K, V>(entries: ReadonlyMap<K, V>, keys: readonly K[], next: VersionedMap<K, V>): Difference<K, V> {
  return { keys, values: keys.map((key) => valueAt(entries, key)), next };
}

function valueAt<K, V>(entries: ReadonlyMap<K, V>, key: K): V | typeof ABSENT {
  const value = entries.get(key);
  return value !== undefined || entries.has(key) ? (value as V) : ABSENT;
}

/** A map made of these entries, ready to be changed. */
export function mapOf<K, V>(entries: Iterable<readonly [K, V]>): ReadonlyMap<K, V> {
  return new VersionedMap({ entries: new Map(entries) });
}

/** The map with one entry more or another value. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return versioned(map).with(key, value);
}

/** The map with the values of these keys, for many at once. */
export function withEntries<K, V>(map: ReadonlyMap<K, V>, keys: readonly K[], values: readonly V[]): ReadonlyMap<K, V> {
  return versioned(map).withAll(keys, values);
}

export function withoutEntry<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  return map.has(key) ? versioned(map).without(key) : map;
}

/** A plain map is copied once, when it is first changed. */
function versioned<K, V>(map: ReadonlyMap<K, V>): VersionedMap<K, V> {
  return map instanceof VersionedMap ? (map as VersionedMap<K, V>) : new VersionedMap({ entries: new Map(map) });
}
