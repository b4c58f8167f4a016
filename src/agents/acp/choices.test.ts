import { describe, expect, it } from 'vitest';
import { channelsFor, currentChoice, planChoice } from './choices.ts';
import { sessionSetup } from './parse.ts';

const models = {
  currentModelId: 'auto',
  availableModels: [
    { modelId: 'auto', name: 'Auto' },
    { modelId: 'big[low]', name: 'Big (low)' },
  ],
};
const modes = {
  currentModeId: 'default',
  availableModes: [
    { id: 'default', name: 'Default' },
    { id: 'https://x/modes#plan', name: 'Plan' },
  ],
};
const modelOption = {
  id: 'm',
  type: 'select',
  category: 'model',
  currentValue: 'big',
  options: [
    { group: 'g', name: 'Group', options: [{ value: 'big', name: 'Big' }] },
    { value: 'small', name: 'Small' },
  ],
};

const bareOption = { ...modelOption, id: 'mode', category: null };
const setModel = (modelId: string) => ({ method: 'session/set_model', params: { modelId } });
const setMode = (modeId: string) => ({ method: 'session/set_mode', params: { modeId } });
const setOption = (configId: string, value: string) => ({ method: 'session/set_config_option', params: { configId, value } });

function planned(what: 'model' | 'mode', setup: unknown, wanted: string) {
  const plans = planChoice(channelsFor(what, sessionSetup.parse(setup)), wanted);
  return plans.map(({ channel, value, isListed }) => ({ method: channel.method, params: channel.params(value), isListed }));
}

describe('choosing a model or mode', () => {
  it.each([
    ['by its id', 'model', { models }, 'auto', setModel('auto')],
    ['by its name', 'model', { models }, 'big (LOW)', setModel('big[low]')],
    ['as a config option', 'model', { configOptions: [modelOption] }, 'small', setOption('m', 'small')],
    ['in a group of options', 'model', { configOptions: [modelOption] }, 'big', setOption('m', 'big')],
    ['where it is listed', 'model', { models, configOptions: [modelOption] }, 'small', setOption('m', 'small')],
    ['a mode by its name', 'mode', { modes }, 'plan', setMode('https://x/modes#plan')],
    ['a mode as an option without category', 'mode', { configOptions: [bareOption] }, 'big', setOption('mode', 'big')],
  ] as const)('%s', (_name, what, setup, wanted, sent) => {
    expect(planned(what, setup, wanted)[0]).toEqual({ ...sent, isListed: true });
  });

  it('asks for what is not listed as it is written', () => {
    expect(planned('model', { models }, 'new')).toEqual([
      { method: 'session/set_model', params: { modelId: 'new' }, isListed: false },
    ]);
  });

  it('has no way where the agent lists nothing, or nothing readable', () => {
    expect(planned('model', {}, 'x')).toEqual([]);
    expect(planned('model', { models: 'many', configOptions: [{ ...modelOption, type: 'boolean' }, 7] }, 'x')).toEqual([]);
  });

  it('knows what is chosen now', () => {
    expect(currentChoice('model', sessionSetup.parse({ models }))).toBe('auto');
    expect(currentChoice('model', sessionSetup.parse({ configOptions: [modelOption] }))).toBe('big');
    expect(currentChoice('mode', sessionSetup.parse({ models }))).toBeUndefined();
  });
});
