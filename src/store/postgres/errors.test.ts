import { expect, it } from 'vitest';
import { postgresErrorOf } from './errors.ts';
import { driverAddress } from './address.ts';

const kindOf = (error: unknown): string => postgresErrorOf('postgres://h/d', error).kind;
const coded = (message: string, facts: Readonly<Record<string, string>>): Error => Object.assign(new Error(message), facts);

it.each([
  ['a connection that breaks', coded('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }), 'unreachable'],
  ['a socket that is not there yet', coded('connect ENOENT /run/s', { code: 'ENOENT', syscall: 'connect' }), 'unreachable'],
  ['a certificate that is not there', coded('ENOENT: open', { code: 'ENOENT', syscall: 'open' }), 'unwritable'],
  ['a server without TLS', new Error('The server does not support SSL connections'), 'unwritable'],
  ['an end without a word', new Error('Connection terminated unexpectedly'), 'unreachable'],
  ['no password', new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'unwritable'],
  ['a wrong password', coded('password authentication failed', { code: '28P01' }), 'unwritable'],
  ['no connection left', coded('too many connections for role', { code: '53300' }), 'unreachable'],
  ['a full disk', coded('could not extend file', { code: '53100' }), 'failed'],
])('%s is waited for or told', (_what, error, kind) => expect(kindOf(error)).toBe(kind));

it.each([
  ['no pg_hba.conf entry for host "h", user "u", database "d", no encryption', '28000', 'unwritable', 'add sslmode=verify-full'],
  ['no pg_hba.conf entry for host "h", user "u", database "d", SSL encryption', '28000', 'unwritable', 'check the user'],
  ['canceling statement due to statement timeout', '57014', 'unreachable', 'raise statement_timeout'],
])('%s has a remedy of its own', (message, code, kind, remedy) => {
  const { kind: found, message: told } = postgresErrorOf('postgres://h/d', coded(message, { code }));
  expect(found).toBe(kind);
  expect(told).toContain(`(${message}): ${remedy}`);
});

it('has the driver check certificates without its warning, unless the address asks for less', () => {
  expect(driverAddress('postgres://h/d?a=b&sslmode=require')).toBe('postgres://h/d?a=b&sslmode=verify-full');
  const weaker = 'postgres://h/d?uselibpqcompat=true&sslmode=require';
  expect(driverAddress(weaker)).toBe(weaker);
  expect(driverAddress('postgres://h/d?sslmode=disable')).toBe('postgres://h/d?sslmode=disable');
});
