import { z } from 'zod';
import { isPlainMap, type Key, type PlainMap } from './document.ts';

/** Schemas do not change, and every fault of a block asks for the same one. */
const made = new WeakMap<z.ZodType, PlainMap>();

/** The JSON Schema of what a user writes, before defaults and conversions. */
export function inputJsonSchema(schema: z.ZodType): PlainMap {
  const known = made.get(schema) ?? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: keepDefault });
  made.set(schema, known);
  return known;
}

// The library leaves out the default of a value that is converted; here it is written the same before and after.
function keepDefault({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const value = z.globalRegistry.get(zodSchema)?.['default'];
  if (value !== undefined) jsonSchema.default = value;
}

/** The keys a schema declares at a path. */
export function declaredKeys(schema: z.ZodType, path: Key): string[] {
  // Asked of every block of every file: a plain map of keys tells them without a JSON Schema being made.
  if (path.length === 0 && schema instanceof z.ZodObject) return Object.keys(schema.shape as object);
  const root: PlainMap | null = inputJsonSchema(schema);
  const node = path.reduce((at: PlainMap | null, segment) => (at && step(at, segment)?.node) ?? null, root);
  return node ? propertiesOf(node).flatMap((properties) => Object.keys(properties)) : [];
}

/** The beginning of a path that the schema itself names: what follows are list entries or names chosen by the user. */
export function declaredPart(schema: z.ZodType, path: Key): readonly string[] {
  const declared: string[] = [];
  let node: PlainMap | null = inputJsonSchema(schema);
  for (const segment of path) {
    const next: Step | null = node && step(node, segment);
    if (!next?.declared) break;
    declared.push(String(segment));
    node = next.node;
  }
  return declared;
}

/** Every key that a JSON Schema declares, as dotted paths, in its order. */
export function declaredPaths(node: PlainMap, prefix = ''): readonly string[] {
  return propertiesOf(node).flatMap((properties) =>
    Object.entries(properties).flatMap(([key, child]) => [
      `${prefix}${key}`,
      ...(isPlainMap(child) ? declaredPaths(child, `${prefix}${key}.`) : []),
    ]),
  );
}

interface Step {
  readonly node: PlainMap;
  readonly declared: boolean;
}

function step(node: PlainMap, segment: string | number): Step | null {
  if (typeof segment === 'number') return isPlainMap(node['items']) ? { node: node['items'], declared: false } : null;
  for (const properties of propertiesOf(node)) {
    const child = Object.hasOwn(properties, segment) ? properties[segment] : undefined;
    if (isPlainMap(child)) return { node: child, declared: true };
  }
  return isPlainMap(node['additionalProperties']) ? { node: node['additionalProperties'], declared: false } : null;
}

function propertiesOf(node: PlainMap): readonly PlainMap[] {
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => (Array.isArray(node[word]) ? (node[word] as unknown[]) : []));
  const own = isPlainMap(node['properties']) ? [node['properties']] : [];
  return [...own, ...branches.filter(isPlainMap).flatMap(propertiesOf)];
}
