import type { Blocker, Issue } from '../domain/model/issue.ts';
import type { ReactionContext } from '../domain/model/reaction.ts';
import { camelCase, isListShape, snakeCase, type DataFields, type DataShape } from '../domain/model/data-shape.ts';
import { PROMPTING } from '../domain/reactions/registry.ts';
import type { TemplateMap, TemplateValue } from './value.ts';

/** What a template can know of a value without seeing it. */
export type Shape =
  | { readonly kind: 'nil' | 'bool' | 'number' | 'string' }
  | { readonly kind: 'list'; readonly items: Alternatives }
  | { readonly kind: 'map'; readonly fields: Readonly<Record<string, Alternatives>> };

/** The shapes a value may have. Shapes are compared by identity, so each map, list and nil stands in the table once. */
export type Alternatives = readonly Shape[];

export const NIL: Shape = { kind: 'nil' };
export const BOOL: Shape = { kind: 'bool' };
export const NUMBER: Shape = { kind: 'number' };
export const STRING: Shape = { kind: 'string' };

const PLAIN_SHAPES: Readonly<Record<DataShape & string, () => Alternatives>> = {
  text: () => [STRING],
  'text or absent': () => orNil(STRING),
  number: () => [NUMBER],
  'number or null': () => orNil(NUMBER),
  'number or absent': () => orNil(NUMBER),
  flag: () => [BOOL],
};
const declaredMaps = new Map<DataFields, Shape>();

/** Every variable of a prompt template with its fields. The value of `.` at the top and of `$` everywhere. */
export const ROOT = mapOf({
  issue: [
    mapOf({
      id: [STRING],
      identifier: [STRING],
      title: [STRING],
      description: [STRING],
      priority: orNil(NUMBER),
      state: [STRING],
      branch_name: [STRING],
      url: [STRING],
      labels: [listOf(STRING)],
      assignee: [STRING],
      issue_type: [STRING],
      parent: orNil(mapOf({ id: [STRING], identifier: [STRING] })),
      comments: [listOf(mapOf({ id: [STRING], author: [STRING], body: [STRING], created_at: [STRING] }))],
      blocked_by: orNil(listOf(mapOf({ id: [STRING], identifier: [STRING], state: [STRING], display_id: [STRING] }))),
      created_at: [STRING],
      updated_at: [STRING],
    }),
  ],
  attempt: [NUMBER],
  run: [mapOf({ turn_number: [NUMBER], max_turns: [NUMBER], is_continuation: [BOOL] })],
  ...Object.fromEntries(PROMPTING.map(({ prompt }) => [prompt.variable, orNil(...shapesOf(prompt.shape))])),
});

/** The data of one rendering, of the shape of ROOT. */
export type TemplateData = TemplateMap;

export interface TemplateSubject {
  readonly issue: Issue;
  /** 0 at first. */
  readonly attempt: number;
  /** Turns count from 1. */
  readonly run: { readonly turnNumber: number; readonly maxTurns: number };
  /** Absent or null unless a reaction started the session. */
  readonly reaction?: ReactionContext | null;
}

/** What a template sees of an issue and its run. What is not known is nil or empty, never missing. */
export function templateData({ issue, attempt, run, reaction }: TemplateSubject): TemplateData {
  return {
    issue: issueData(issue),
    attempt,
    run: { turn_number: run.turnNumber, max_turns: run.maxTurns, is_continuation: run.turnNumber > 1 },
    ...reactionData(reaction ?? {}),
  };
}

function issueData(issue: Issue): TemplateMap {
  return {
    id: issue.id,
    identifier: issue.identifier,
    title: issue.title,
    description: issue.description,
    priority: issue.priority,
    state: issue.state,
    branch_name: issue.branchName ?? '',
    url: issue.url,
    labels: issue.labels,
    assignee: issue.assignee,
    issue_type: issue.issueType,
    parent: issue.parent ? { id: issue.parent.id, identifier: issue.parent.identifier } : null,
    comments: issue.comments?.map(({ id, author, body, createdAt }) => ({ id, author, body, created_at: createdAt })) ?? [],
    blocked_by: issue.blockedBy?.map(blockerData) ?? null,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
  };
}

function blockerData({ id, identifier, state, displayId }: Blocker): TemplateMap {
  return { id, identifier, state, display_id: displayId ?? '' };
}

/** Every variable of the reactions: nil but for that of the reaction which started the session. */
function reactionData(context: ReactionContext): TemplateMap {
  return Object.fromEntries(
    PROMPTING.map(({ prompt: { variable, shape } }) => [variable, inTemplate(shape, context[camelCase(variable)])]),
  );
}

/** Data of the domain under the names that a template has for it. */
function inTemplate(shape: DataShape, value: unknown): TemplateValue {
  if (value === undefined || value === null) return null;
  if (typeof shape === 'string') return value as TemplateValue;
  if (isListShape(shape)) return (value as readonly unknown[]).map((item) => inTemplate(shape[0], item));
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(shape).map(([name, inner]) => [snakeCase(name), inTemplate(inner, fields[name])]));
}

/** What a template can know of the data that a reaction declares. */
function shapesOf(shape: DataShape): Alternatives {
  if (typeof shape === 'string') return PLAIN_SHAPES[shape]();
  if (isListShape(shape)) return [{ kind: 'list', items: shapesOf(shape[0]) }];
  const known = declaredMaps.get(shape) ?? mapOf(fieldsOf(shape));
  declaredMaps.set(shape, known);
  return [known];
}

function fieldsOf(shape: DataFields): Readonly<Record<string, Alternatives>> {
  return Object.fromEntries(Object.entries(shape).map(([name, inner]) => [snakeCase(name), shapesOf(inner)]));
}

function mapOf(fields: Readonly<Record<string, Alternatives>>): Shape & { readonly kind: 'map' } {
  return { kind: 'map', fields };
}

/** With a nil of its own, so that a test of one value says nothing of another. */
function orNil(...shapes: Alternatives): Alternatives {
  return [...shapes, { kind: 'nil' }];
}

function listOf(item: Shape): Shape {
  return { kind: 'list', items: [item] };
}
