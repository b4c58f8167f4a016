import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DCLinter } from 'dclint';
import { validate } from 'dockerfile-utils';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { faultsOf } from './promql.ts';
import { findProgram } from '../../src/lib/process/index.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');

/** What the linter of compose files answers. */
interface LintedFile {
  readonly messages: readonly { readonly message: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

it('alert rules ask for metrics that exist and say what to do', () => {
  const { groups } = parse(read('prometheus-rules.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, annotations } of rules) {
    expect(annotations.summary, alert).toMatch(/\S/);
    expect(faultsOf(expr), alert).toEqual([]);
  }
});

it('the Grafana dashboard asks for metrics that exist', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: { title: string; targets: { expr: string }[] }[] };
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(12);
  for (const expr of expressions) expect(faultsOf(expr), expr).toEqual([]);
});

it.each([
  ['svc_polls{result="error"}', /no metric/],
  ['svc_polls_total{outcome="error"}', /no label outcome/],
  ['svc_polls_total{result="failed"}', /never failed/],
  ['svc_polls_total{result="error"} > 0 and svc_polls_total{result="success"} == 0', /never match by result/],
  ['sum by (agent) (svc_cost_usd_total) > svc_slots_max', /never match by agent/],
  ['increase(svc_polls_total[1h]', /parsed/],
])('the check finds what is wrong with %s', (expression, fault) => {
  expect(faultsOf(expression).join('\n')).toMatch(fault);
});

it('linters find nothing in the image and the compose file, and do find what is wrong', ({ onTestFinished }) => {
  expect(validate(read('Dockerfile'))).toEqual([]);
  const wrong = validate('FROM node:22\nUSR foray\nHEALTHCHECK --intervall=30s CMD true\n');
  expect(wrong.map(({ message }) => message)).toEqual(['Unknown instruction: USR', 'Unknown flag: intervall']);

  const folder = mkdtempSync(path.join(os.tmpdir(), 'foray-compose-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const spoiled = path.join(folder, 'compose.yml');
  writeFileSync(spoiled, read('compose.yml').replace('read_only: true', 'readonly: true'));
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
  const messagesOf = (file: string): readonly string[] =>
    (linter.lintFiles([file], false) as LintedFile[]).flatMap(({ messages }) => messages.map(({ message }) => message));
  expect(messagesOf(pathOf('compose.yml'))).toEqual([]);
  expect(messagesOf(spoiled)).toContainEqual(expect.stringContaining('additional properties'));
});

it('the image runs as somebody without rights and is watched', () => {
  const lines = read('Dockerfile').split('\n');
  const user = lines.findIndex((line) => line.startsWith('USER '));
  expect(lines[user]).not.toMatch(/root|USER 0/);
  expect(user).toBeLessThan(lines.findIndex((line) => line.startsWith('ENTRYPOINT')));
  expect(lines.some((line) => line.startsWith('HEALTHCHECK'))).toBe(true);
  for (const line of lines.filter((one) => one.startsWith('FROM'))) expect(line).toMatch(/^FROM [\w./-]+:[\w.-]+/);
  expect(lines.join('\n')).not.toMatch(/\bADD\b|:latest/);
});

it('the compose file names what is there', () => {
  const { services, secrets, volumes } = parse(read('compose.yml')) as {
    services: Record<string, { secrets: string[]; volumes: string[]; ports: string[]; cap_drop: string[] }>;
    secrets: Record<string, unknown>;
    volumes: Record<string, unknown>;
  };
  const { foray } = services;
  expect(foray?.cap_drop).toEqual(['ALL']);
  for (const name of foray?.secrets ?? []) expect(Object.keys(secrets)).toContain(name);
  for (const port of foray?.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  const named = (foray?.volumes ?? []).map((volume) => volume.split(':')[0]).filter((name) => !name?.startsWith('.'));
  for (const name of named) expect(Object.keys(volumes)).toContain(name);
});

it('the unit is one that systemd takes', async ({ skip }) => {
  const unit = read('foray.service');
  for (const key of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'LoadCredential=', 'Delegate=yes', 'User=']) {
    expect(unit).toContain(key);
  }
  const program = await findProgram('systemd-analyze', { PATH: process.env['PATH'] ?? '' });
  if (program !== 'found') return skip('systemd-analyze is not on this machine');
  execFileSync('systemd-analyze', ['verify', pathOf('foray.service')], { stdio: 'pipe' });
});
