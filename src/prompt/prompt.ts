import type { TemplateInput } from '../domain/model/run.ts';
import { continuationPrompt, DEFAULT_PROMPT, STATUS_INSTRUCTIONS, TOOL_INSTRUCTIONS } from './default-prompt.ts';
import { parseTemplate } from './parse.ts';
import { renderTemplate } from './render.ts';
import { templateData } from './variables.ts';

/**
 * The prompt of each turn. A template that does not tell turns apart would repeat itself word for word; from the
 * second turn on such a one is replaced by a short request to go on.
 */
export function createPrompt(
  body: string,
  firstLine: number,
  options: { readonly instructions: boolean },
): (input: TemplateInput) => string {
  const template = body.trim() === '' ? parseTemplate(DEFAULT_PROMPT) : parseTemplate(body, { firstLine });
  const render = ({ issue, attempt, run, reaction }: TemplateInput): string =>
    renderTemplate(template, templateData({ issue, attempt, run, reaction })).trim();
  return (input) => {
    const { turnNumber, maxTurns } = input.run;
    const text = render(input);
    if (turnNumber === 1 && !options.instructions) return `${text}\n`;
    if (turnNumber === 1) return `${text}\n\n${input.hasTools ? TOOL_INSTRUCTIONS : STATUS_INSTRUCTIONS}\n`;
    const first = render({ ...input, run: { turnNumber: 1, maxTurns } });
    return text === '' || text === first ? continuationPrompt(input.issue.identifier, turnNumber, maxTurns) : text;
  };
}
