import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { GraphQLSchema, GraphQLType } from 'graphql';
import { isEnumType, isInputObjectType, isListType, isNonNullType, isObjectType, isScalarType } from 'graphql';

/** The vendor's schema as its own client library ships it: a TypeScript type for each type, input and list of arguments. */
export interface SdkTypes {
  /** Each field of a type with its TypeScript type; undefined where there is no such type. */
  membersOf(name: string): ReadonlyMap<string, string> | undefined;
}

export function readSdkTypes(): SdkTypes {
  const folder = dirname(createRequire(import.meta.url).resolve('@linear/sdk'));
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.d.mts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  return {
    membersOf: (name) => {
      for (const text of texts) {
        const block = blockOf(text, name);
        if (block !== undefined) return membersIn(block);
      }
      return undefined;
    },
  };
}

// `type Issue = Node & {` or `declare enum PaginationOrderBy {`, up to the brace that stands alone.
function blockOf(text: string, name: string): string | undefined {
  const start = new RegExp(`^(?:type ${name} = (?:\\w+ & )*|declare enum ${name} )\\{$`, 'm').exec(text);
  if (!start) return undefined;
  const from = start.index + start[0].length;
  return text.slice(from, text.indexOf('\n}', from));
}

function membersIn(block: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [, name = '', optional = '', type = ''] of block.matchAll(/^ {2}(\w+)(\??)(?:: | = )([^;,\n]+)[;,]?$/gm)) {
    members.set(name, optional === '' ? type : `?${type}`);
  }
  return members;
}

/** What a schema says and the client library does not say in the same words. */
export function differencesToSdk(schema: GraphQLSchema, sdk: SdkTypes): readonly string[] {
  const own = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__') && !isScalarType(type));
  return own.flatMap((type) => {
    const members = sdk.membersOf(spelled(type.name));
    if (!members) return [`${type.name} is not there`];
    if (isEnumType(type)) {
      return type.getValues().flatMap(({ value }) => missing(type.name, String(value), enumerated(members)));
    }
    if (isInputObjectType(type)) return differing(type.name, Object.values(type.getFields()), members, 'InputMaybe');
    if (!isObjectType(type)) return [];
    const fields = Object.values(type.getFields());
    const args = fields
      .filter((field) => field.args.length > 0)
      .flatMap((field) => {
        const name = `${type.name}${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}Args`;
        return differing(name, field.args, sdk.membersOf(name) ?? new Map(), 'InputMaybe');
      });
    return [...differing(type.name, fields, members, 'Maybe'), ...args];
  });
}

function enumerated(members: ReadonlyMap<string, string>): readonly string[] {
  return [...members.values()].map((value) => value.replaceAll('"', ''));
}

function missing(type: string, value: string, known: readonly string[]): readonly string[] {
  return known.includes(value) ? [] : [`${type}.${value} is not there`];
}

type Member = { readonly name: string; readonly type: GraphQLType };

function differing(
  holder: string,
  own: readonly Member[],
  members: ReadonlyMap<string, string>,
  maybe: 'Maybe' | 'InputMaybe',
): readonly string[] {
  return own.flatMap(({ name, type }) => {
    const expected = typed(type, maybe);
    const found = members.get(name);
    return found === expected ? [] : [`${holder}.${name}: ${expected} is ${found ?? 'nothing'} there`];
  });
}

// `?Maybe<…>` for what may be null, as the library's generator writes it.
function typed(type: GraphQLType, maybe: string): string {
  return isNonNullType(type) ? inner(type.ofType) : `?${maybe}<${inner(type)}>`;
}

function inner(type: GraphQLType): string {
  if (isNonNullType(type)) return inner(type.ofType);
  if (isListType(type)) return `Array<${inner(type.ofType)}>`;
  return isScalarType(type) ? `Scalars["${type.name}"]` : spelled(String(type));
}

// The generator writes `IDComparator` as `IdComparator`.
function spelled(name: string): string {
  return name.replace('ID', 'Id');
}
