import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

/** One request and its answer, as they went over the wire. */
export interface Exchange {
  readonly method: string;
  /** As sent, percent-encoding included, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestBody: string;
  readonly status: number;
  readonly responseBody: string;
}

/** A vendor's published description of its API, held against what was really sent and answered. */
export interface Contract {
  /** Everything that the description does not allow; empty is good. */
  faults(exchange: Exchange): readonly string[];
}

export interface ContractSettings {
  /** What the sent paths begin with and the described ones do not, such as `/api/v1`. */
  readonly basePath?: string;
  /** Changes a node of the description before it is used: vendors publish patches beside their schemas. */
  readonly amend?: (node: Node) => Node;
}

export type Node = Readonly<Record<string, unknown>>;

/** Takes an OpenAPI 3.0 document. Schemas are compiled when first needed: such documents are large. */
export function createContract(document: Node, { basePath = '', amend = (node) => node }: ContractSettings = {}): Contract {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
  formats.default(ajv);
  const compiled = new Map<unknown, ValidateFunction>();
  const description: Description = { document, amend };
  const known = new Set<string>();
  const routes = Object.keys(nodeOf(document.paths)).map((template) => ({ template, pattern: template.split('/') }));

  const check = (schema: Node, value: unknown, place: string): string[] => {
    const validate = compiled.get(schema) ?? ajv.compile(prepared(description, schema, ajv, known));
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? [])
      .slice(0, 8)
      .map((error) => `${place}${error.instancePath}: ${error.message ?? 'does not fit'}`);
  };
  return {
    faults: (exchange) => {
      const label = `${exchange.method} ${exchange.path}`;
      const found = operationFor(description, routes, exchange, basePath);
      if (!found) return [`${label}: no such route is described`];
      return [...queryFaults(description, found, exchange, check), ...bodyFaults(description, found, exchange, check)].map(
        (fault) => `${label}: ${fault}`,
      );
    },
  };
}

/** The answers that the vendor publishes as examples of one route, by status 200. Some write them as text. */
export function exampleAnswers(document: Node, method: string, template: string): readonly unknown[] {
  const description: Description = { document, amend: (node) => node };
  const operation = resolved(description, resolved(description, nodeOf(document.paths)[template])[method.toLowerCase()]);
  const content = nodeOf(resolved(description, nodeOf(operation.responses)['200']).content);
  return Object.values(content).flatMap((type) => {
    const { example, examples } = nodeOf(type);
    const named = Object.values(nodeOf(examples)).map((one) => exampleValue(description, one));
    const all = example === undefined ? named : [example, ...named];
    return all.map((one) => (typeof one === 'string' ? (JSON.parse(one) as unknown) : one));
  });
}

// The value of an example may be a reference to another example.
function exampleValue(description: Description, example: unknown): unknown {
  const { value } = resolved(description, example);
  return typeof nodeOf(value).$ref === 'string' ? exampleValue(description, value) : value;
}

interface Description {
  readonly document: Node;
  readonly amend: (node: Node) => Node;
}

interface Route {
  readonly template: string;
  readonly pattern: readonly string[];
}

interface Operation {
  readonly operation: Node;
  readonly parameters: readonly Node[];
}

type Check = (schema: Node, value: unknown, place: string) => string[];

function operationFor(
  description: Description,
  routes: readonly Route[],
  exchange: Exchange,
  basePath: string,
): Operation | undefined {
  if (!exchange.path.startsWith(basePath)) return undefined;
  const segments = exchange.path.slice(basePath.length).split('/');
  const fitting = routes.filter(({ pattern }) => fits(pattern, segments));
  // `/user/repos` is a route of its own beside `/user/{id}`: the fewest placeholders win.
  fitting.sort((a, b) => placeholders(a) - placeholders(b));
  for (const { template } of fitting) {
    const item = resolved(description, nodeOf(description.document.paths)[template]);
    const operation = item[exchange.method.toLowerCase()];
    if (!operation) continue;
    const own = resolved(description, operation);
    return {
      operation: own,
      parameters: [...listOf(item.parameters), ...listOf(own.parameters)].map((one) => resolved(description, one)),
    };
  }
  return undefined;
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return pattern.length === segments.length && pattern.every((part, index) => part.startsWith('{') || part === segments[index]);
}

function placeholders({ pattern }: Route): number {
  return pattern.filter((part) => part.startsWith('{')).length;
}

function queryFaults(description: Description, { parameters }: Operation, { query }: Exchange, check: Check): string[] {
  const known = new Map(parameters.filter((one) => one.in === 'query').map((one) => [String(one.name), one]));
  const faults: string[] = [];
  for (const name of new Set(query.keys())) {
    const parameter = known.get(name);
    if (!parameter) faults.push(`the query parameter ${name} is not described`);
    else
      faults.push(
        ...check(nodeOf(parameter.schema), typed(resolved(description, parameter.schema), query.getAll(name)), `query ${name}`),
      );
  }
  for (const [name, parameter] of known) {
    if (parameter.required === true && !query.has(name)) faults.push(`the query parameter ${name} is required`);
  }
  return faults;
}

// A query is text: what the schema takes for a number, a flag or a list is read as one.
function typed(schema: Node, values: readonly string[]): unknown {
  const [first = ''] = values;
  if (schema.type === 'array') return values.map((value) => typed(nodeOf(schema.items), [value]));
  if (schema.type === 'integer' || schema.type === 'number') return Number(first);
  if (schema.type === 'boolean') return first === 'true' ? true : first === 'false' ? false : first;
  return first;
}

function bodyFaults(description: Description, { operation }: Operation, exchange: Exchange, check: Check): string[] {
  const asked = operation.requestBody ? jsonSchema(resolved(description, operation.requestBody)) : undefined;
  const described = nodeOf(operation.responses)[String(exchange.status)];
  const faults: string[] = [];
  if (exchange.requestBody !== '') {
    if (!asked) faults.push('no JSON body is described for this request');
    else faults.push(...check(asked, JSON.parse(exchange.requestBody), 'request'));
  }
  if (!described) return exchange.status < 300 ? [...faults, `status ${exchange.status} is not described`] : faults;
  const answered = jsonSchema(resolved(description, described));
  if (answered && exchange.responseBody !== '') faults.push(...check(answered, JSON.parse(exchange.responseBody), 'response'));
  return faults;
}

function jsonSchema(holder: Node): Node | undefined {
  const content = nodeOf(holder.content);
  const type = Object.keys(content).find((name) => name.includes('json'));
  return type === undefined ? undefined : nodeOf(nodeOf(content[type]).schema);
}

/** A schema in the manner of JSON Schema rather than of OpenAPI 3.0, with everything it refers to made known by name, once. */
function prepared(description: Description, schema: Node, ajv: Ajv, known: Set<string>): Node {
  const pending: string[] = [];
  const root = converted(description, schema, pending);
  for (let pointer = pending.pop(); pointer !== undefined; pointer = pending.pop()) {
    const name = schemaName(pointer);
    if (known.has(name)) continue;
    known.add(name);
    ajv.addSchema(nodeOf(converted(description, at(description.document, pointer), pending)), name);
  }
  return nodeOf(root);
}

function converted(description: Description, value: unknown, pending: string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => converted(description, one, pending));
  if (typeof value !== 'object' || value === null) return value;
  const node = description.amend(value as Node);
  if (typeof node.$ref === 'string') {
    pending.push(node.$ref);
    return { $ref: schemaName(node.$ref) };
  }
  const entries = Object.entries(node).filter(([key, one]) => !NOTES.has(key) && !(BOUNDS.has(key) && typeof one === 'boolean'));
  const plain = Object.fromEntries(
    entries.map(([key, one]) => [key, key === 'enum' ? one : converted(description, one, pending)]),
  );
  return node.nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}

/** Without meaning for validation, or with another one in JSON Schema. A property that bears such a name goes unchecked. */
const NOTES: ReadonlySet<string> = new Set(['nullable', 'example', 'examples', 'discriminator', 'xml', 'externalDocs']);
const BOUNDS: ReadonlySet<string> = new Set(['exclusiveMinimum', 'exclusiveMaximum']);

function resolved(description: Description, value: unknown): Node {
  const node = description.amend(nodeOf(value));
  return typeof node.$ref === 'string' ? resolved(description, at(description.document, node.$ref)) : node;
}

function at(document: Node, pointer: string): unknown {
  const parts = pointer.split('/').slice(1);
  return parts.reduce<unknown>(
    (node, part) => nodeOf(node)[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
}

function schemaName(pointer: string): string {
  return pointer.replace(/[^\w.-]/g, '_').replace(/^_+/, '');
}

function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
