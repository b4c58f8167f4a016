import type { Node, RangeNode } from './template.ts';
import type { Alternatives } from './variables.ts';
import { union } from './analyse-call.ts';

/**
 * What variables hold at one place of the template, where that is certain. Each block notes what it sets above what was
 * known before it; null where a loop may bring anything that is put into the variable anywhere.
 */
export interface Flow {
  readonly above: Flow | null;
  readonly set: Map<number, Alternatives | null>;
}

export function flowWithin(above: Flow | null): Flow {
  return { above, set: new Map() };
}

/** Null when nothing is certain. */
export function heldIn(flow: Flow, slot: number): Alternatives | null {
  for (let at: Flow | null = flow; at !== null; at = at.above) {
    const shapes = at.set.get(slot);
    if (shapes !== undefined) return shapes;
  }
  return null;
}

/** Goes on behind blocks of which one ran. */
export function goOnBehind(flow: Flow, blocks: readonly Flow[]): void {
  for (const slot of new Set(blocks.flatMap(({ set }) => [...set.keys()]))) {
    const held = blocks.map((block) => heldIn(block, slot));
    flow.set.set(slot, held.every((shapes) => shapes !== null) ? union(held.flat()) : null);
  }
}

/** What a loop sets is not certain in it, nor behind it. */
export function forgetLoop(flow: Flow, loop: RangeNode): void {
  for (const slot of slotsOf(loop)) flow.set.set(slot, null);
}

/** Every pass asks again. */
const SLOTS = new WeakMap<RangeNode, readonly number[]>();

function slotsOf(loop: RangeNode): readonly number[] {
  const slots = SLOTS.get(loop) ?? [...new Set([...loop.pipe.sets, ...slotsIn([...loop.body, ...loop.otherwise])])];
  SLOTS.set(loop, slots);
  return slots;
}

function slotsIn(nodes: readonly Node[]): readonly number[] {
  return nodes.flatMap((node) => {
    if (node.kind === 'action') return node.pipe.sets;
    if (node.kind === 'range') return slotsOf(node);
    if (node.kind !== 'if' && node.kind !== 'with') return [];
    const branches = node.branches.flatMap(({ condition, body }) => [...condition.sets, ...slotsIn(body)]);
    return [...branches, ...slotsIn(node.otherwise)];
  });
}
