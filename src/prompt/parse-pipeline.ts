import { FUNCTIONS } from './functions.ts';
import { MAX_DEPTH } from './limits.ts';
import type { Token, TokenKind } from './lex.ts';
import { readGoNumber, readRune, readString } from './literal.ts';
import type { ErrorAt } from './position.ts';
import { nearest, quotedText, shortName } from './spelling.ts';
import type { CallExpression, Expression, FieldExpression, FieldName, Literal, Pipe } from './template.ts';
import type { TemplateValue } from './value.ts';

export interface Parser {
  readonly tokens: readonly Token[];
  index: number;
  readonly errorAt: ErrorAt;
  /** Variable names to slots, innermost scope last. */
  readonly scopes: Map<string, number>[];
  slots: number;
  /** Open blocks and parentheses. */
  depth: number;
  /** Open range bodies. */
  ranges: number;
}

/** Reads `[$x [, $y] := | =] commands`. New names are returned, not declared: they do not exist in their own pipeline. */
export function parsePipe(parser: Parser, mostVariables: 1 | 2): { pipe: Pipe; declares: string[] } {
  const { at } = peek(parser);
  const targets = takeTargets(parser, mostVariables);
  const isNew = targets.length > 0 && take(parser).kind === 'declare';
  const sets = isNew ? [] : targets.map((target) => slotOf(parser, target));
  return { pipe: { at, value: parseCommands(parser), sets }, declares: isNew ? targets.map((target) => target.text) : [] };
}

export function peek(parser: Parser, ahead = 0): Token {
  return parser.tokens[Math.min(parser.index + ahead, parser.tokens.length - 1)] as Token;
}

export function take(parser: Parser): Token {
  const token = peek(parser);
  parser.index += 1;
  return token;
}

export function openScope(parser: Parser): void {
  parser.scopes.push(new Map());
}

export function closeScope(parser: Parser): void {
  parser.scopes.pop();
}

export function declare(parser: Parser, name: string): number {
  const slot = parser.slots;
  parser.slots += 1;
  parser.scopes.at(-1)?.set(name, slot);
  return slot;
}

/** The variables before `:=` or `=`; none when the pipeline sets nothing. */
function takeTargets(parser: Parser, most: 1 | 2): Token[] {
  const count = peek(parser).kind !== 'variable' ? 0 : setsAfter(parser, 1) ? 1 : isPair(parser) ? 2 : 0;
  if (count > most) throw parser.errorAt(peek(parser).at, 'only {{ range }} sets two variables');
  const targets = [peek(parser), peek(parser, 2)].slice(0, count);
  const root = targets.find((target) => target.text === '$');
  if (root) throw parser.errorAt(root.at, '$ is the whole data and cannot be set; give the variable a name');
  parser.index += count === 2 ? 3 : count;
  return targets;
}

function setsAfter(parser: Parser, ahead: number): boolean {
  return peek(parser, ahead).kind === 'declare' || peek(parser, ahead).kind === 'assign';
}

function isPair(parser: Parser): boolean {
  return peek(parser, 1).kind === 'comma' && peek(parser, 2).kind === 'variable' && setsAfter(parser, 3);
}

/** Commands joined by `|`. */
function parseCommands(parser: Parser): Expression {
  const first = parseCommand(parser, false);
  const stages: CallExpression[] = [];
  while (peek(parser).kind === 'pipe') {
    take(parser);
    stages.push(parseStage(parser));
  }
  return stages.length > 0 ? { kind: 'pipeline', at: first.at, first, stages } : first;
}

function parseStage(parser: Parser): CallExpression {
  const token = peek(parser);
  const stage = parseCommand(parser, true);
  if (stage.kind !== 'call')
    throw parser.errorAt(token.at, `${quotedText(token.text)} is no function and cannot take what is piped into it`);
  return stage;
}

/** A call with its arguments, or a single value. */
function parseCommand(parser: Parser, piped: boolean): Expression {
  const token = peek(parser);
  if (token.kind === 'word' && !CONSTANTS.has(token.text)) return parseCall(parser, piped);
  if (!STARTS_OPERAND.has(token.kind)) throw unexpectedEnd(parser, token);
  if (token.text === 'nil') throw parser.errorAt(token.at, 'nil is not a command; it can only be an argument');
  const value = parseOperand(parser);
  const next = peek(parser);
  if (!STARTS_OPERAND.has(next.kind)) return value;
  throw parser.errorAt(
    next.at,
    `unexpected ${quotedText(next.text)}: ${quotedText(token.text)} is no function and takes no arguments`,
  );
}

function unexpectedEnd(parser: Parser, token: Token): Error {
  const isEnd = token.kind === 'close' || token.kind === 'right' || token.kind === 'pipe';
  return parser.errorAt(
    token.at,
    isEnd ? `a value is missing before ${quotedText(token.text)}` : `unexpected ${quotedText(token.text)}`,
  );
}

function parseCall(parser: Parser, piped: boolean): CallExpression {
  const name = take(parser);
  requireFunction(parser, name);
  const args: Expression[] = [];
  while (STARTS_OPERAND.has(peek(parser).kind)) {
    requireBlank(parser, name);
    args.push(parseOperand(parser));
  }
  checkCount(parser, name, args.length + (piped ? 1 : 0));
  return { kind: 'call', at: name.at, name: name.text, args };
}

const KEYWORDS = new Set(['if', 'else', 'end', 'range', 'with', 'break', 'continue', 'define', 'template', 'block']);

function requireFunction(parser: Parser, { text, at }: Token): void {
  if (FUNCTIONS.has(text)) return;
  if (KEYWORDS.has(text)) throw parser.errorAt(at, `unexpected keyword ${text}`);
  const near = nearest(text, [...FUNCTIONS.keys()]);
  const name = shortName(text);
  const hint = near ? `did you mean ${near}?` : `a value starts with a dot, as in .${name}`;
  throw parser.errorAt(at, `unknown function ${quotedText(text)}; ${hint}`);
}

function requireBlank(parser: Parser, after: Token): void {
  const token = peek(parser);
  if (!token.spaced)
    throw parser.errorAt(token.at, `a blank is missing between ${shortName(after.text)} and ${quotedText(token.text)}`);
}

function checkCount(parser: Parser, { text, at }: Token, count: number): void {
  const { min, max } = FUNCTIONS.get(text) ?? { min: 0, max: Infinity };
  if (count >= min && count <= max) return;
  const wanted = min === max ? `${min}` : `at least ${min}`;
  throw parser.errorAt(at, `wrong number of arguments for ${text}: want ${wanted}, got ${count}`);
}

const STARTS_OPERAND: ReadonlySet<TokenKind> = new Set(['word', 'field', 'dot', 'variable', 'number', 'string', 'rune', 'left']);

const CONSTANTS: ReadonlyMap<string, TemplateValue> = new Map([
  ['true', true],
  ['false', false],
  ['nil', null],
]);

/** One value: a literal, a field, a variable, a parenthesised pipeline, or a function that needs no argument. */
function parseOperand(parser: Parser): Expression {
  const token = take(parser);
  const { kind, at, text } = token;
  if (kind === 'field') return withPath(parser, { kind: 'dot', at }, [fieldName(token)]);
  if (kind === 'variable') return withPath(parser, { kind, at, name: text, slot: slotOf(parser, token) }, []);
  if (kind === 'left') return withPath(parser, parseParentheses(parser, token), []);
  requireNoField(parser, token);
  if (kind === 'dot') return { kind, at };
  return kind === 'word' && !CONSTANTS.has(text) ? parseBareCall(parser, token) : parseLiteral(parser, token);
}

/** A function's name as an argument is a call without arguments. */
function parseBareCall(parser: Parser, token: Token): CallExpression {
  requireFunction(parser, token);
  checkCount(parser, token, 0);
  return { kind: 'call', at: token.at, name: token.text, args: [] };
}

function parseLiteral(parser: Parser, token: Token): Literal {
  const value = literalValue(token);
  if (value === undefined)
    throw parser.errorAt(token.at, `${quotedText(token.text)} is no valid ${LITERAL_NAMES[token.kind] ?? 'value'}`);
  return { kind: 'literal', at: token.at, value };
}

const LITERAL_NAMES: Partial<Record<TokenKind, string>> = { number: 'number', string: 'string', rune: 'character' };

function literalValue({ kind, text }: Token): TemplateValue | undefined {
  if (kind === 'number') return readGoNumber(text);
  if (kind === 'string') return readString(text);
  return kind === 'rune' ? readRune(text) : CONSTANTS.get(text);
}

function parseParentheses(parser: Parser, left: Token): Expression {
  parser.depth += 1;
  if (parser.depth > MAX_DEPTH) throw parser.errorAt(left.at, `nested more than ${MAX_DEPTH} levels deep`);
  const value = parseCommands(parser);
  const right = take(parser);
  if (right.kind !== 'right') throw parser.errorAt(right.at, `unexpected ${quotedText(right.text)}, ) was expected`);
  parser.depth -= 1;
  return value;
}

/** Adds the fields written directly after a value. */
function withPath(parser: Parser, base: Expression, path: FieldName[]): Expression {
  while (peek(parser).kind === 'field' && !peek(parser).spaced) path.push(fieldName(take(parser)));
  const next = peek(parser);
  if (!next.spaced && STARTS_OPERAND.has(next.kind)) throw parser.errorAt(next.at, `unexpected ${quotedText(next.text)}`);
  if (path.length === 0) return base;
  if (base.kind === 'field') return { ...base, path: [...base.path, ...path] };
  if (base.kind === 'literal') throw parser.errorAt(path[0]?.at ?? base.at, 'a literal has no fields');
  return { kind: 'field', at: base.at, base, path } satisfies FieldExpression;
}

function fieldName({ at, text }: Token): FieldName {
  return { at, name: text.slice(1) };
}

function requireNoField(parser: Parser, before: Token): void {
  const next = peek(parser);
  if (next.spaced || !STARTS_OPERAND.has(next.kind)) return;
  throw parser.errorAt(next.at, `unexpected ${quotedText(next.text)} after ${quotedText(before.text)}`);
}

function slotOf(parser: Parser, { text, at }: Token): number {
  const slot = parser.scopes.findLast((scope) => scope.has(text))?.get(text);
  if (slot === undefined) throw parser.errorAt(at, `undefined variable ${shortName(text)}`);
  return slot;
}
