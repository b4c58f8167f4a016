import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as library from '@agentclientprotocol/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createListener, createStage, type Stage } from '../../../test/support/acp/scripted-agent.ts';
import { PROTOCOL_VERSION } from './parse.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await createStage();
});
afterEach(async () => {
  await stage.remove();
});

const never = new AbortController().signal;
const resolve = createRequire(import.meta.url).resolve;
const toolServer = { name: 'foray', command: process.execPath, args: ['tools.js'], env: { A: '1' } };

/** The parameters and results of the published schema, by the method they belong to. */
function createSchema() {
  const schema = JSON.parse(readFileSync(resolve('@agentclientprotocol/sdk/schema/v1/schema.json'), 'utf8')) as {
    $defs: Record<string, { 'x-method'?: string }>;
  };
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(schema, 'acp');
  const definitions = Object.entries(schema.$defs);
  return (method: string, kind: 'Request' | 'Notification' | 'Response', value: unknown): string => {
    const name = definitions.find(([one, definition]) => definition['x-method'] === method && one.endsWith(kind))?.[0];
    if (name === undefined) return `the schema has no ${kind} of ${method}`;
    const validate = ajv.getSchema(`acp#/$defs/${name}`)!;
    return validate(value) ? 'valid' : ajv.errorsText(validate.errors);
  };
}

describe('what is sent', () => {
  it('is the version that the published library speaks', () => {
    expect(PROTOCOL_VERSION).toBe(library.PROTOCOL_VERSION);
  });

  it('fits the published schema of the protocol', async () => {
    const agent = await stage.agent(
      `capabilities.loadSession = true;
      const setup = {
        sessionId: 's1',
        modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] },
        configOptions: [{ id: 'm', name: 'Model', category: 'model', type: 'select', currentValue: 'x', options: [{ value: 'y', name: 'Y' }] }],
      };
      handlers['session/new'] = handlers['session/load'] = handlers['session/resume'] = () => setup;
      handlers['session/set_mode'] = handlers['session/set_config_option'] = () => ({ configOptions: [] });
      handlers['session/prompt'] = async () => {
        const options = [{ kind: 'allow_once', optionId: 'a', name: 'a' }];
        await ask('session/request_permission', { sessionId: 's1', options, toolCall: { toolCallId: 't' } });
        await ask('session/request_permission', { sessionId: 's1', options: [], toolCall: { toolCallId: 't' } });
        return forever();
      };`,
      { model: 'y', mode: 'b' },
      { readTimeoutMs: 2_000, stopGraceMs: 100 },
    );
    for (const resumeSessionId of [null, 's1']) {
      const session = await agent.startSession(stage.request({ resumeSessionId, toolServer }), never);
      await session.runTurn({ number: 1, prompt: 'x' }, () => {}, never);
      await session.stop();
    }
    const check = createSchema();
    const heard = await stage.heard();
    const verdicts = heard.map(({ id, method, params, result }) => {
      if (method === undefined) return ['an answer', check('session/request_permission', 'Response', result)];
      return [method, check(method, id === undefined ? 'Notification' : 'Request', params)];
    });
    expect(verdicts.filter(([, verdict]) => verdict !== 'valid')).toEqual([]);
    expect(new Set(verdicts.map(([name]) => name))).toEqual(
      new Set([
        'initialize',
        'session/new',
        'session/load',
        'session/set_mode',
        'session/set_config_option',
        'session/prompt',
        'session/cancel',
        'an answer',
      ]),
    );
    expect(heard.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
  });
});

describe("an agent built with the protocol's own library", () => {
  it('is understood and understands', async () => {
    const file = resolve('@agentclientprotocol/sdk');
    const agent = await stage.agent(`
      const { agent, ndJsonStream } = await import(${JSON.stringify(file)});
      const { Readable, Writable } = await import('node:stream');
      agent({ name: 'library' })
        .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, agentInfo: { name: 'library', version: '1' } }))
        .onRequest('session/new', ({ params }) => ({ sessionId: params.mcpServers[0].name }))
        .onRequest('session/load', async ({ params, client }) => {
          await client.notify('session/update', { sessionId: params.sessionId, update: { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'before' } } });
          return {};
        })
        .onRequest('session/prompt', async ({ params, client }) => {
          const { sessionId } = params;
          const tell = (update) => client.notify('session/update', { sessionId, update });
          await tell({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'write', status: 'pending' });
          const { outcome } = await client.request('session/request_permission', {
            sessionId,
            toolCall: { toolCallId: 't' },
            options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
          });
          await tell({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' });
          await tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: params.prompt[0].text + ': ' + outcome.optionId } });
          return { stopReason: 'end_turn' };
        })
        .onNotification('session/cancel', () => {})
        .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
      await forever();`);
    let resumeSessionId: string | null = null;
    for (const prompt of ['first', 'second']) {
      const session = await agent.startSession(stage.request({ toolServer, resumeSessionId }), never);
      const { events, hear } = createListener();
      expect(await session.runTurn({ number: 1, prompt }, hear, never)).toEqual({ ok: true });
      expect(events).toEqual([
        { type: 'session_started', sessionId: 'foray' },
        { type: 'tool_started', toolId: 't', name: 'write' },
        { type: 'tool_ended', toolId: 't', name: 'write', ok: true },
        { type: 'message', text: `${prompt}: yes` },
      ]);
      await session.stop();
      resumeSessionId = session.sessionId;
    }
  });
});
