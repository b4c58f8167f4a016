import { parser } from '@prometheus-io/lezer-promql';
import type { SyntaxNode } from '@lezer/common';
import { FAMILIES } from '../../src/server/metrics/families.ts';
import { MEASURES } from '../../src/server/metrics/measures.ts';

/** What is wrong with an expression: its syntax, names and labels that no metric has, sides that can never match. */
export function faultsOf(expression: string): readonly string[] {
  const nodes = nodesOf(parser.parse(expression).topNode);
  if (nodes.some(({ type }) => type.isError)) return [`cannot be parsed: ${expression}`];
  const textOf = (node: SyntaxNode): string => expression.slice(node.from, node.to);
  return nodes.flatMap((node) => {
    if (node.name === 'VectorSelector') return selectorFaults(node, textOf);
    return node.name === 'BinaryExpr' ? matchFaults(node, textOf) : [];
  });
}

type TextOf = (node: SyntaxNode) => string;

interface Known {
  readonly labels: readonly string[];
  /** Label values known beforehand; without any, every value may come. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** Every series that `/metrics` has, by name. */
const SERIES: ReadonlyMap<string, Known> = new Map([
  ['up', known({})],
  ['svc_build_info', known({ version: [], node_version: [] })],
  ...MEASURES.map(({ name, labels = [] }) => [name, known(Object.fromEntries(labels.map((label) => [label, []])))] as const),
  ...FAMILIES.flatMap(({ name, labels, buckets }) =>
    buckets === undefined
      ? [[name, known(labels)] as const]
      : [
          [`${name}_bucket`, known({ ...labels, le: [] })] as const,
          [`${name}_sum`, known(labels)] as const,
          [`${name}_count`, known(labels)] as const,
        ],
  ),
]);

/** With the labels that the scrape adds. */
function known(labels: Readonly<Record<string, readonly string[]>>): Known {
  return { labels: [...Object.keys(labels), 'instance', 'job'], values: labels };
}

function selectorFaults(selector: SyntaxNode, textOf: TextOf): readonly string[] {
  const name = textOf(selector.getChild('Identifier') ?? selector);
  const series = SERIES.get(name);
  if (series === undefined) return [`${name} is no metric`];
  return matchersOf(selector, textOf).flatMap(({ label, op, value }) => {
    if (!series.labels.includes(label)) return [`${name} has no label ${label}`];
    const values = series.values[label] ?? [];
    return op === '=' && values.length > 0 && !values.includes(value) ? [`${name}: ${label} is never ${value}`] : [];
  });
}

/** Vectors match by all their labels: sides that ask for different values of one need `on` or `ignoring`. */
function matchFaults(node: SyntaxNode, textOf: TextOf): readonly string[] {
  if (node.getChild('MatchingModifierClause')) return [];
  const [left, right] = [node.firstChild, node.lastChild].map((side) => labelsOf(side, textOf));
  if (left == null || right == null) return [];
  const apart = [...left].filter(([label, value]) => right.has(label) && right.get(label) !== value).map(([label]) => label);
  const lone = [...left.keys(), ...right.keys()].filter((label) => left.has(label) !== right.has(label));
  return [...apart, ...lone].map((label) => `the two sides never match by ${label}: ${textOf(node)}`);
}

/** The labels of what a side gives, with the values asked for; null where it is a number. */
function labelsOf(side: SyntaxNode | null, textOf: TextOf): ReadonlyMap<string, string> | null {
  if (side === null) return null;
  if (side.name === 'AggregateExpr') {
    const by = side.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName') ?? [];
    return new Map(by.map((label) => [textOf(label), '']));
  }
  if (side.name === 'BinaryExpr') {
    const on = side.getChild('MatchingModifierClause')?.getChild('GroupingLabels')?.getChildren('LabelName');
    if (on && side.getChild('MatchingModifierClause')?.getChild('On')) return new Map(on.map((label) => [textOf(label), '']));
    return labelsOf(side.firstChild, textOf) ?? labelsOf(side.lastChild, textOf);
  }
  if (side.name === 'VectorSelector') {
    const name = textOf(side.getChild('Identifier') ?? side);
    const asked = new Map(matchersOf(side, textOf).map(({ label, op, value }) => [label, op === '=' ? value : '']));
    return new Map((SERIES.get(name)?.labels ?? []).map((label) => [label, asked.get(label) ?? '']));
  }
  for (let child = side.firstChild; child !== null; child = child.nextSibling) {
    const labels = labelsOf(child, textOf);
    if (labels !== null) return labels;
  }
  return null;
}

function matchersOf(selector: SyntaxNode, textOf: TextOf) {
  const matchers = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return matchers.map((matcher) => {
    const part = (name: string): string => textOf(matcher.getChild(name) ?? matcher);
    return { label: part('LabelName'), op: part('MatchOp'), value: part('StringLiteral').slice(1, -1) };
  });
}

function nodesOf(node: SyntaxNode): readonly SyntaxNode[] {
  const found = [node];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) found.push(...nodesOf(child));
  return found;
}
