import type { Contract, Exchange, Node } from '../../support/openapi.ts';
import { createContract } from '../../support/openapi.ts';
import type { Route } from './description.ts';
import { ROUTES } from './description.ts';
import type { FieldType } from './entities.ts';

/** Holds exchanges against what the vendor publishes of its routes. */
export function gitlabContract(): Contract {
  return createContract(document(), { basePath: '/api/v4' });
}

/** The routes of the table that none of the exchanges was about. */
export function unusedRoutes(exchanges: readonly Exchange[]): readonly string[] {
  return Object.keys(ROUTES).filter((name) => {
    const [method = '', template = ''] = name.split(' ');
    const pattern = new RegExp(`^/api/v4${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return !exchanges.some((exchange) => exchange.method === method && pattern.test(exchange.path));
  });
}

function document(): Node {
  const paths: Record<string, Record<string, Node>> = {};
  for (const [name, route] of Object.entries(ROUTES)) {
    const [method = '', template = ''] = name.split(' ');
    paths[template] = { ...paths[template], [method.toLowerCase()]: operationOf(route) };
  }
  return { paths };
}

function operationOf({ query = {}, body, required = [], status, answer }: Route): Node {
  const parameters = Object.entries(query).map(([name, type]) => ({ name, in: 'query', schema: parameterOf(name, type) }));
  // A parameter that the vendor does not know is ignored there without a word, so none may be sent.
  const asked = body && { type: 'object', properties: schemasOf(body), required: [...required], additionalProperties: false };
  return {
    parameters,
    ...(asked && { requestBody: { content: json(asked) } }),
    responses: { [status]: answer === null ? {} : { content: json(schemaOf(answer)) } },
  };
}

function json(schema: Node): Node {
  return { 'application/json': { schema } };
}

function parameterOf(name: string, type: FieldType): Node {
  return name.endsWith('[]') ? { type: 'array', items: schemaOf(type) } : schemaOf(type);
}

function schemasOf(fields: Readonly<Record<string, FieldType>>): Node {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, schemaOf(type)]));
}

const WORDS = { text: 'string', number: 'integer', flag: 'boolean' } as const;

function schemaOf(type: FieldType): Node {
  if (typeof type === 'string') {
    const plain = type.replace('?', '') as keyof typeof WORDS;
    return { type: WORDS[plain], nullable: type.endsWith('?') };
  }
  if (isWords(type)) return { type: 'string', enum: type };
  if ('listOf' in type) return { type: 'array', items: schemaOf(type.listOf) };
  const { fields, mayBeNull = false } = type;
  return { type: 'object', properties: schemasOf(fields), required: Object.keys(fields), nullable: mayBeNull };
}

function isWords(type: FieldType): type is readonly string[] {
  return Array.isArray(type);
}
