import type { FieldNode, OperationDefinitionNode, SelectionSetNode } from 'graphql';
import { Kind, parse } from 'graphql';

/** What a list is multiplied by that names no size. */
const DEFAULT_PAGE = 50;

/**
 * The points of a document by the vendor's published rules (Linear, "Rate limiting", "Complexity"): 0.1 for a property, 1
 * for an object, the entries of a list times the number asked for; the sum is rounded up.
 */
export function complexityOf(text: string, variables: Readonly<Record<string, unknown>> = {}): number {
  const operation = parse(text).definitions.find((one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION);
  if (!operation) throw new Error('there is no operation in the document');
  return Math.ceil(sum(operation.selectionSet, variables));
}

function sum(set: SelectionSetNode, variables: Readonly<Record<string, unknown>>): number {
  return set.selections.reduce((total, one) => total + (one.kind === Kind.FIELD ? pointsOf(one, variables) : 0), 0);
}

function pointsOf(field: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  if (!field.selectionSet) return 0.1;
  const nodes = field.selectionSet.selections.find(
    (one): one is FieldNode => one.kind === Kind.FIELD && one.name.value === 'nodes',
  );
  if (!nodes?.selectionSet) return 1 + sum(field.selectionSet, variables);
  const others = field.selectionSet.selections.filter((one) => one !== nodes);
  return (
    sizeOf(field, variables) * (1 + sum(nodes.selectionSet, variables)) +
    sum({ ...field.selectionSet, selections: others }, variables)
  );
}

function sizeOf({ arguments: given = [] }: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  const value = given.find(({ name }) => name.value === 'first')?.value;
  if (value?.kind === Kind.INT) return Number(value.value);
  return value?.kind === Kind.VARIABLE ? Number(variables[value.name.value]) : DEFAULT_PAGE;
}
