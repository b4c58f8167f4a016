import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { Problem, SourcePosition } from '../domain/model/problem.ts';
import type { WorkflowParts } from './front-matter.ts';

export type Key = readonly (string | number)[];
export type PlainMap = Readonly<Record<string, unknown>>;

/** The front matter as plain data, with the position of every key. `data` is null when it could not be read. */
export interface FrontMatter {
  /** A key without a value is in it as undefined. */
  readonly data: PlainMap | null;
  readonly problems: readonly Problem[];
  positionOf(key: Key): SourcePosition | null;
}

/** Enough for any hand-written file; a bomb of nested aliases needs far more. */
const MAX_ALIASES = 100;
/** One mistake often confuses the parser for the rest of the file: the first reports are the useful ones. */
const MAX_REPORTS = 5;

/** Reads the YAML of a workflow file. Never throws. */
export function readFrontMatter(parts: WorkflowParts): FrontMatter {
  const counter = new LineCounter();
  // Level 'error' keeps the library from printing; 'silent' would also hide a second document.
  const document = parseDocument(parts.yaml, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    merge: false,
    // The library compares each key with all before it; we look for repeated ones ourselves.
    uniqueKeys: false,
    logLevel: 'error',
  });
  const position = (offset: number): SourcePosition => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(line, 1) + parts.yamlLine - 1, column: Math.max(col, 1) };
  };
  const report = (severity: Problem['severity']) => (error: YAMLError) =>
    placedAt({ severity, check: 'workflow.yaml', message: describe(error) }, position(error.pos[0]));
  const findPair = pairFinder();
  const positionOf = (key: Key): SourcePosition | null => {
    const offset = offsetOf(document, key, findPair);
    return offset === null ? null : position(offset);
  };
  const faults = [
    ...document.errors.map(report('error')),
    ...repeatedKeys(document).map(({ key, offset }) =>
      placedAt(fault('workflow.yaml', `the key \`${key}\` is written twice`), position(offset)),
    ),
  ];
  const problems = [...faults.slice(0, MAX_REPORTS), ...document.warnings.map(report('warning'))];
  if (faults.length > 0) return { data: null, problems, positionOf };
  const read = toData(document, position);
  return { data: read.data, problems: [...problems, ...read.problems], positionOf };
}

/** Where a key stands; where it is not written, the nearest one above it that is, or the head of the file. */
export function nearestPlace(key: Key, matter: Pick<FrontMatter, 'positionOf'>): SourcePosition {
  if (key.length === 0) return { line: 1, column: 1 };
  return matter.positionOf(key) ?? nearestPlace(key.slice(0, -1), matter);
}

/** A message with the position it is about. */
export function withPosition(message: string, position: SourcePosition | null): string {
  return position ? `${message} (line ${position.line}, column ${position.column})` : message;
}

/** A problem with the position it is about, in its words and on its own. */
export function placedAt(problem: Problem, position: SourcePosition | null): Problem {
  return position === null ? problem : { ...problem, message: withPosition(problem.message, position), position };
}

// The library's text, without what it quotes of the file: that could be a credential.
function describe(error: YAMLError): string {
  if (error.code === 'NON_STRING_KEY') return 'a key must be a plain word';
  if (error.code === 'RESOURCE_EXHAUSTION') return 'the front matter is nested too deeply';
  if (error.code === 'MULTIPLE_DOCS') return 'the front matter must be one YAML document';
  return error.message.replace(/ in YAML stream: .*/s, '');
}

/** Keys that stand in a map more than once, each where it comes again. */
function repeatedKeys(document: Document.Parsed): readonly { readonly key: string; readonly offset: number }[] {
  const found: { key: string; offset: number }[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key) || typeof key.value !== 'string') continue;
        if (seen.has(key.value)) found.push({ key: key.value.slice(0, MAX_SHOWN), offset: key.range?.[0] ?? 0 });
        seen.add(key.value);
      }
    },
  });
  return found;
}

const MAX_SHOWN = 80;

function toData(document: Document.Parsed, position: (offset: number) => SourcePosition): Pick<FrontMatter, 'data' | 'problems'> {
  const dangling = findDanglingAlias(document);
  if (dangling)
    return failed(placedAt(fault('workflow.yaml', `the alias \`*${dangling.name}\` names no anchor`), position(dangling.offset)));
  try {
    const data = plain(document.toJS({ maxAliasCount: MAX_ALIASES }), []);
    if (data === undefined) return { data: {}, problems: [] };
    if (isPlainMap(data)) return { data, problems: [] };
    const start = document.contents?.range[0] ?? 0;
    const message = `the front matter must be a map of keys, got ${typeName(data)}`;
    return failed(placedAt(fault('workflow.front_matter', message), position(start)));
  } catch (error) {
    const message = `the aliases of the front matter cannot be resolved: ${(error as Error).message}`;
    return failed(fault('workflow.yaml', message));
  }
}

function failed(problem: Problem): Pick<FrontMatter, 'data' | 'problems'> {
  return { data: null, problems: [problem] };
}

function fault(check: string, message: string): Problem {
  return { severity: 'error', check, message };
}

function findDanglingAlias(document: Document.Parsed): { name: string; offset: number } | null {
  let found: { name: string; offset: number } | null = null;
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document)) return undefined;
      found = { name: node.source, offset: node.range?.[0] ?? 0 };
      return visit.BREAK;
    },
  });
  return found;
}

/** A copy in which keys whose value is null have none: they count as not written, and yet may be misspelt. */
function plain(value: unknown, ancestors: readonly unknown[]): unknown {
  if (value === null) return undefined;
  if (ancestors.includes(value)) throw new Error('an anchor contains itself');
  if (Array.isArray(value)) return value.map((entry) => (entry === null ? null : plain(entry, [...ancestors, value])));
  if (!isPlainMap(value)) return value;
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of Object.entries(value)) copy[key] = plain(entry, [...ancestors, value]);
  return copy;
}

export function isPlainMap(value: unknown): value is PlainMap {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** What kind of YAML value this is, for people. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isPlainMap(value)) return 'a map';
  if (typeof value === 'object') return 'a value of a special YAML type';
  return `a ${typeof value}`;
}

type FindPair = (map: YAMLMap, key: string) => Pair | undefined;

/** Looks keys up in maps that may be long and are asked often. */
function pairFinder(): FindPair {
  const indexes = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  const indexOf = (map: YAMLMap) =>
    new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])));
  return (map, key) => {
    const index = indexes.get(map) ?? indexOf(map);
    indexes.set(map, index);
    return index.get(key);
  };
}

// A map entry is found at its key, a list entry at itself.
function offsetOf(document: Document.Parsed, key: Key, findPair: FindPair): number | null {
  let node: unknown = document.contents;
  let offset: number | null = null;
  for (const segment of key) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = findPair(node, String(segment));
      if (!pair) return null;
      offset = (pair.key as ParsedNode).range[0];
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(segment)];
      offset = (node as ParsedNode | undefined)?.range[0] ?? offset;
    } else return null;
  }
  return offset;
}
