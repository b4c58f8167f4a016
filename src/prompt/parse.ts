import { MAX_DEPTH } from './limits.ts';
import { lex, type Token } from './lex.ts';
import { closeScope, declare, openScope, parsePipe, peek, take, type Parser } from './parse-pipeline.ts';
import { createErrorAt, createPositions } from './position.ts';
import { quotedText } from './spelling.ts';
import { ROOT_SLOT, type Branch, type ChoiceNode, type Node, type Pipe, type RangeNode, type Template } from './template.ts';

/**
 * Reads a prompt template: the language of Go's text/template without named templates. Throws a TemplateError that
 * names the line and column of the workflow file; `firstLine` is the line of that file on which the body starts.
 *
 * Where it is stricter than Go: a wrong number of arguments, an argument given to something that is no function and a
 * variable used outside of the block that declares it are found here, not when the line is reached.
 */
export function parseTemplate(source: string, options: { readonly firstLine?: number } = {}): Template {
  const positionOf = createPositions(source, options.firstLine ?? 1);
  const errorAt = createErrorAt(positionOf);
  const parser: Parser = {
    tokens: lex(source, errorAt),
    index: 0,
    errorAt,
    scopes: [new Map([['$', ROOT_SLOT]])],
    slots: 1,
    depth: 0,
    ranges: 0,
  };
  const nodes = parseBody(parser);
  const rest = peek(parser);
  if (rest.kind !== 'eof') throw errorAt(rest.at, `unexpected {{ ${peek(parser, 1).text} }}: no block is open here`);
  return { nodes, slots: parser.slots, positionOf };
}

/** Everything up to the `{{ end }}` or `{{ else` that closes it, or the end of the source. */
function parseBody(parser: Parser): Node[] {
  const nodes: Node[] = [];
  for (let token = peek(parser); token.kind !== 'eof' && !closesBody(parser); token = peek(parser)) {
    nodes.push(token.kind === 'text' ? parseText(parser) : parseAction(parser));
  }
  return nodes;
}

function parseText(parser: Parser): Node {
  const { at, text } = take(parser);
  return { kind: 'text', at, text };
}

function closesBody(parser: Parser): boolean {
  const word = peek(parser, 1);
  return peek(parser).kind === 'open' && word.kind === 'word' && (word.text === 'end' || word.text === 'else');
}

function parseAction(parser: Parser): Node {
  const { at } = take(parser);
  const word = peek(parser);
  switch (word.kind === 'word' ? word.text : '') {
    case 'if':
    case 'with':
      return parseChoice(parser, at);
    case 'range':
      return parseRange(parser, at);
    case 'break':
    case 'continue':
      return parseJump(parser, at);
    case 'template':
    case 'define':
    case 'block':
      throw parser.errorAt(word.at, `{{ ${word.text} }} is not supported: a prompt is one template`);
    default:
      return { kind: 'action', at, pipe: parseClosedPipe(parser, 1) };
  }
}

function parseChoice(parser: Parser, at: number): ChoiceNode {
  const keyword = take(parser);
  const kind = keyword.text === 'if' ? 'if' : 'with';
  enterBlock(parser, at);
  const branches: Branch[] = [];
  let otherwise: readonly Node[] = [];
  for (let more = true; more;) {
    branches.push({ condition: parseClosedPipe(parser, 1), body: parseScopedBody(parser) });
    if (takeCloser(parser, keyword) === 'end') break;
    more = peek(parser).text === kind && peek(parser).kind === 'word';
    if (more) take(parser);
    else otherwise = parseOtherwise(parser, keyword);
  }
  leaveBlock(parser);
  return { kind, at, branches, otherwise };
}

function parseRange(parser: Parser, at: number): RangeNode {
  const keyword = take(parser);
  enterBlock(parser, at);
  const pipe = parseClosedPipe(parser, 2);
  parser.ranges += 1;
  const body = parseScopedBody(parser);
  parser.ranges -= 1;
  // The variables stand for an element, and where the else runs there is none.
  leaveBlock(parser);
  const otherwise = takeCloser(parser, keyword) === 'end' ? [] : parseOtherwise(parser, keyword);
  return { kind: 'range', at, pipe, body, otherwise };
}

function parseJump(parser: Parser, at: number): Node {
  const word = take(parser);
  const kind = word.text === 'break' ? 'break' : 'continue';
  if (parser.ranges === 0) throw parser.errorAt(word.at, `{{ ${kind} }} outside of {{ range }}`);
  expectClose(parser);
  return { kind, at };
}

/** The part between `{{ else }}` and `{{ end }}`; the word else is already taken. */
function parseOtherwise(parser: Parser, keyword: Token): Node[] {
  expectClose(parser);
  enterBlock(parser, keyword.at);
  const nodes = parseBody(parser);
  leaveBlock(parser);
  const second = peek(parser, 1);
  if (takeCloser(parser, keyword) === 'else')
    throw parser.errorAt(second.at, `a second {{ else }} for one {{ ${keyword.text} }}`);
  return nodes;
}

/** Takes `{{ end }}` whole, or `{{ else` without what may follow it. */
function takeCloser(parser: Parser, keyword: Token): 'end' | 'else' {
  if (peek(parser).kind === 'eof') throw parser.errorAt(keyword.at, `{{ ${keyword.text} }} has no {{ end }}`);
  take(parser);
  if (take(parser).text === 'else') return 'else';
  expectClose(parser);
  return 'end';
}

function parseScopedBody(parser: Parser): Node[] {
  openScope(parser);
  const nodes = parseBody(parser);
  closeScope(parser);
  return nodes;
}

/** A pipeline that fills the rest of its action; what it declares is known from here to the end of the open scope. */
function parseClosedPipe(parser: Parser, mostVariables: 1 | 2): Pipe {
  const { pipe, declares } = parsePipe(parser, mostVariables);
  expectClose(parser);
  const sets = declares.length > 0 ? declares.map((name) => declare(parser, name)) : pipe.sets;
  return { ...pipe, sets };
}

function expectClose(parser: Parser): void {
  const token = take(parser);
  if (token.kind !== 'close') throw parser.errorAt(token.at, `unexpected ${quotedText(token.text)}, }} was expected`);
}

function enterBlock(parser: Parser, at: number): void {
  parser.depth += 1;
  if (parser.depth > MAX_DEPTH) throw parser.errorAt(at, `nested more than ${MAX_DEPTH} levels deep`);
  openScope(parser);
}

function leaveBlock(parser: Parser): void {
  parser.depth -= 1;
  closeScope(parser);
}
