import type { Problem, ProblemFacts } from '../domain/model/problem.ts';

/** `error: <check>: <message>` on one line, whatever the file put into the message. */
export function formatProblem({ severity, check, message }: Problem): string {
  return `${severity}: ${check}: ${message}`.replace(UNPRINTABLE, (character) => ESCAPES[character] ?? unicodeEscape(character));
}

/** The same for programs, with the place in the file on its own. */
export function problemFacts({ severity, check, message, position }: Problem, file: string): ProblemFacts {
  return { severity, check, message, file, line: position?.line ?? null, column: position?.column ?? null };
}

/** What a log record tells of it: the place only where there is one. */
export function problemAttributes(problem: Problem, file: string) {
  const { check, message, line, column } = problemFacts(problem, file);
  return { check, message, file, line: line ?? undefined, column: column ?? undefined };
}

// Control characters and the separators that some terminals and readers take for line ends.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/gu;

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
