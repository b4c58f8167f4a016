import { RPC_CODES, JsonRpcError } from './errors.ts';

/** `jsonrpc` messages carry `"jsonrpc":"2.0"`, `bare` ones do not. What is received may do either. */
export type Envelope = 'jsonrpc' | 'bare';
export type RpcId = string | number;

export type Incoming =
  | { readonly type: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly type: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly type: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly type: 'error'; readonly id: RpcId; readonly error: JsonRpcError }
  /** No message, or one that is damaged or too long. Its head may still tell whom it concerns. */
  | { readonly type: 'unreadable'; readonly why: Unreadable; readonly id: RpcId | null; readonly method: string | null };

export type Unreadable = 'damaged' | 'too long';

/** Reads one line. Whatever it holds, this does not throw. */
export function readMessage(line: string, maxLineLength: number): Incoming {
  if (line.length > maxLineLength) return unreadable(line, 'too long');
  const message = parseObject(line);
  if (message === null) return unreadable(line, 'damaged');
  const { id, method, params, result, error } = message;
  if (typeof method === 'string')
    return isId(id) ? { type: 'request', id, method, params } : { type: 'notification', method, params };
  if (!isId(id)) return unreadable(line, 'damaged');
  return error == null ? { type: 'result', id, result } : { type: 'error', id, error: readError(error) };
}

export function writeMessage(envelope: Envelope, members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(envelope === 'jsonrpc' ? { jsonrpc: '2.0', ...members } : members);
}

/** Anything a handler threw as the error member of an answer. Only what was meant for the other side is told to it. */
export function errorMember(thrown: unknown): { code: number; message: string; data?: unknown } {
  if (!(thrown instanceof JsonRpcError)) return { code: RPC_CODES.internalError, message: 'internal error' };
  return { code: thrown.code, message: thrown.message, ...(thrown.data === undefined ? {} : { data: thrown.data }) };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
}

function readError(error: unknown): JsonRpcError {
  if (typeof error !== 'object' || error === null) return new JsonRpcError(RPC_CODES.internalError, String(error));
  const { code, message, data } = error as Record<string, unknown>;
  const text = typeof message === 'string' && message !== '' ? message : 'the other side gave no reason';
  return new JsonRpcError(typeof code === 'number' ? code : RPC_CODES.internalError, text, data);
}

function unreadable(line: string, why: Unreadable): Incoming {
  return { type: 'unreadable', why, ...readHead(line.slice(0, HEAD_LENGTH)) };
}

const HEAD_LENGTH = 512;
const HEAD_MEMBER = /^[{,]\s*"(?<name>jsonrpc|id|method)"\s*:\s*(?<value>"(?:[^"\\]|\\.)*"|-?\d+)\s*/;

/** The id and method of a message that cannot be parsed: writers put them before the bulk. */
function readHead(head: string): { id: RpcId | null; method: string | null } {
  let rest = head.trimStart();
  let found: { id: RpcId | null; method: string | null } = { id: null, method: null };
  for (let member = HEAD_MEMBER.exec(rest); member?.groups; member = HEAD_MEMBER.exec(rest)) {
    const { name, value = '' } = member.groups;
    const read = parseValue(value);
    if (name === 'id' && isId(read)) found = { ...found, id: read };
    if (name === 'method' && typeof read === 'string') found = { ...found, method: read };
    rest = rest.slice(member[0].length);
  }
  return found;
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
