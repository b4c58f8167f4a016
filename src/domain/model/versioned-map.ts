/**
 * A map of which every version stays readable and the next one costs a constant time: `decide` stays pure without a copy
 * of thousands of entries for each change. The newest version holds the entries; an older one holds its difference to
 * the next and becomes whole again when it is read.
 */
class VersionedMap<K, V> implements ReadonlyMap<K, V> {
  data: Listed<K, V> | Whole<K, V> | Difference<K, V>;

  constructor(data: Listed<K, V> | Whole<K, V>) {
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
    return this.list().values();
  }

  /** The values as a list, which is kept: of a map that was made of one it is that. */
  list(): readonly V[] {
    if ('list' in this.data && this.data.list) return this.data.list;
    const entries = this.whole();
    const list = [...entries.values()];
    this.data = { entries, list };
    return list;
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
    return this.next(key, (entries) => entries.set(key, value));
  }

  without(key: K): VersionedMap<K, V> {
    return this.has(key) ? this.next(key, (entries) => entries.delete(key)) : this;
  }

  private next(key: K, change: (entries: Map<K, V>) => void): VersionedMap<K, V> {
    const entries = this.whole();
    const next = new VersionedMap<K, V>({ entries });
    this.data = differenceAt(entries, key, next);
    change(entries);
    return next;
  }

  private whole(): Map<K, V> {
    if ('entries' in this.data) return this.data.entries;
    if ('next' in this.data) return madeWhole(this);
    const { list, keyOf } = this.data;
    const entries = new Map<K, V>();
    for (const value of list) entries.set(keyOf(value), value);
    this.data = entries.size === list.length ? { entries, list } : { entries };
    return entries;
  }
}

/** Makes a version the one that holds the entries, undoing the changes that came after it. */
function madeWhole<K, V>(version: VersionedMap<K, V>): Map<K, V> {
  const later: VersionedMap<K, V>[] = [];
  let newest = version;
  while ('next' in newest.data) {
    later.push(newest);
    newest = newest.data.next;
  }
  const { entries } = newest.data as Whole<K, V>;
  for (let older = later.pop(); older; older = later.pop()) {
    const { key, value } = older.data as Difference<K, V>;
    newest.data = differenceAt(entries, key, older);
    if (value === ABSENT) entries.delete(key);
    else entries.set(key, value);
    older.data = { entries };
    newest = older;
  }
  return entries;
}

/** Nothing was looked up in it yet. */
interface Listed<K, V> {
  readonly list: readonly V[];
  readonly keyOf: (value: V) => K;
}

interface Whole<K, V> {
  readonly entries: Map<K, V>;
  /** Where it was asked for. */
  readonly list?: readonly V[];
}

/** What another version has at one key. */
interface Difference<K, V> {
  readonly key: K;
  readonly value: V | typeof ABSENT;
  readonly next: VersionedMap<K, V>;
}

const ABSENT = Symbol('absent');

function differenceAt<K, V>(entries: ReadonlyMap<K, V>, key: K, next: VersionedMap<K, V>): Difference<K, V> {
  const value = entries.get(key);
  return { key, value: value !== undefined || entries.has(key) ? (value as V) : ABSENT, next };
}

/** A map of these values. Their keys are asked for when something is first looked up: until then it costs nothing. */
export function mapOfList<K, V>(list: readonly V[], keyOf: (value: V) => K): ReadonlyMap<K, V> {
  return new VersionedMap<K, V>({ list, keyOf });
}

/** The values of a map in their order. Asked for again, it is the same list while the map is. */
export function listOf<V>(map: ReadonlyMap<unknown, V>): readonly V[] {
  return map instanceof VersionedMap ? (map as VersionedMap<unknown, V>).list() : [...map.values()];
}

/** The map with one entry more or another value. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return versioned(map).with(key, value);
}

export function withoutEntry<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  return map.has(key) ? versioned(map).without(key) : map;
}

/** A plain map is copied once, when it is first changed. */
function versioned<K, V>(map: ReadonlyMap<K, V>): VersionedMap<K, V> {
  return map instanceof VersionedMap ? (map as VersionedMap<K, V>) : new VersionedMap({ entries: new Map(map) });
}
