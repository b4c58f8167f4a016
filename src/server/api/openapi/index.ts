import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import type { Daemon } from '../../../ports/daemon.ts';
import { ERROR_STATUS, type ErrorCode } from '../../http/envelope.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { ref, SCHEMAS, type Schema } from './schemas.ts';

/** The whole interface as OpenAPI 3.1; a test holds it against the server, both ways. */
export function getOpenApi(daemon: Daemon) {
  const document = openApiOf(daemon.version);
  return (c: Context): Response => c.json(document);
}

function openApiOf(version: string) {
  return {
    openapi: '3.1.0',
    info: { title: 'Foray', version, description: 'A daemon that turns issues into coding-agent sessions.' },
    security: [{ token: [] }, { login: [] }, {}],
    paths: Object.fromEntries(OPERATIONS.map((operation) => [operation.path, { [operation.method]: describe(operation) }])),
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        login: { type: 'apiKey', in: 'cookie', name: 'foray_login_<port>' },
      },
    },
  };
}

function describe({ path, summary, query = {}, body, answers, type = 'application/json', errors = [], open }: Operation) {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: { type: 'string' } })),
  ];
  return {
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body && { requestBody: { content: { 'application/json': { schema: body } } } }),
    ...(open && { security: [] }),
    responses: responsesOf(answers, type, [
      ...errors,
      ...(open ? [] : (['unauthorized', 'too_many_tries'] as const)),
      'forbidden_host',
    ]),
  };
}

function responsesOf(answers: Operation['answers'], type: string, errors: readonly ErrorCode[]) {
  const good = Object.entries(answers).map(([status, schema]) => [status, response(status, type, schema)] as const);
  const bad = errors.map((code) => {
    const status = String(ERROR_STATUS[code]);
    return [status, response(status, 'application/json', ref('Error'))] as const;
  });
  return Object.fromEntries([...bad, ...good]);
}

function response(status: string, type: string, schema: Schema) {
  return { description: STATUS_CODES[status] ?? status, content: { [type]: { schema } } };
}
