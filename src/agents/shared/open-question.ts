/** What a turn says at its end that only a person can answer: a question, or a plan that waits for approval. Null for neither. */
export function openQuestion(text: string): string | null {
  const said = text.trim();
  const lastLine = said.slice(-MOST_READ).split('\n').at(-1) ?? '';
  if (QUESTION.test(lastLine) && !COURTESY.test(lastLine)) return excerpt(lastLine);
  return PLAN.test(said.slice(0, 200)) ? excerpt(said) : null;
}

const MOST_READ = 2_000;
/** A question mark at the end, in any script, before closing marks. */
const QUESTION = /[?？؟][\s*_`"'”’)\]]*$/u;
const COURTESY = /\b(?:anything|something) else\b/i;
const PLAN = /^[#*\s]*(?:here(?:'s| is) (?:my|the|a) (?:\w+ )?plan\b|(?:my |the |proposed |implementation )?plan[:\n])/i;
const LONGEST = 500;

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `…${line.slice(-LONGEST)}` : line;
}
