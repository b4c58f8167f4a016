import type { SessionSetup } from './parse.ts';

export type ChoiceName = 'model' | 'mode';

/** One way to choose: the request, and what the agent lists. */
export interface Channel {
  readonly method: string;
  readonly params: (value: string) => Readonly<Record<string, string>>;
  readonly current: string | undefined;
  readonly offers: readonly { readonly value: string; readonly name?: string }[];
}

export interface PlannedChoice {
  readonly channel: Channel;
  readonly value: string;
  readonly isListed: boolean;
}

/** The ways in which this agent lets a model or mode be chosen. The older ones have a request of their own. */
export function channelsFor(what: ChoiceName, setup: SessionSetup): readonly Channel[] {
  const own = what === 'model' ? modelChannel(setup) : modeChannel(setup);
  return [...own, ...optionChannels(what, setup)];
}

/** What is chosen now, where the agent tells. */
export function currentChoice(what: ChoiceName, setup: SessionSetup): string | undefined {
  return channelsFor(what, setup).find(({ current }) => current !== undefined)?.current;
}

/** The channels to try, best first, with the value as each one lists it: by id, or by the name that people see. */
export function planChoice(channels: readonly Channel[], wanted: string): readonly PlannedChoice[] {
  const plans = channels.map((channel) => {
    const match = find(channel, wanted);
    return { channel, value: match ?? wanted, isListed: match !== undefined };
  });
  return plans.sort((a, b) => Number(b.isListed) - Number(a.isListed));
}

function find({ offers }: Channel, wanted: string): string | undefined {
  const sameName = (name: string | undefined): boolean => name?.toLowerCase() === wanted.toLowerCase();
  return (offers.find(({ value }) => value === wanted) ?? offers.find(({ name }) => sameName(name)))?.value;
}

function modelChannel({ models }: SessionSetup): Channel[] {
  if (!models) return [];
  const offers = models.availableModels.map(({ modelId, name }) => ({ value: modelId, name }));
  return [{ method: 'session/set_model', params: (modelId) => ({ modelId }), current: models.currentModelId, offers }];
}

function modeChannel({ modes }: SessionSetup): Channel[] {
  if (!modes) return [];
  const offers = modes.availableModes.map(({ id, name }) => ({ value: id, name }));
  return [{ method: 'session/set_mode', params: (modeId) => ({ modeId }), current: modes.currentModeId, offers }];
}

function optionChannels(what: ChoiceName, { configOptions }: SessionSetup): Channel[] {
  const ofCategory = configOptions.filter(({ id, category }) => (category ?? id) === what);
  return ofCategory.map(({ id, currentValue, options }) => ({
    method: 'session/set_config_option',
    params: (value) => ({ configId: id, value }),
    current: currentValue,
    offers: options,
  }));
}
