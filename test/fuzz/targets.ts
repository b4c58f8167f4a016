import { TemplateError } from '../../src/domain/model/errors.ts';
import { jsonRecord, textRecord } from '../../src/lib/log.ts';
import { analyseTemplate } from '../../src/prompt/analyse.ts';
import { parseTemplate } from '../../src/prompt/parse.ts';
import { renderTemplate } from '../../src/prompt/render.ts';
import { templateData } from '../../src/prompt/variables.ts';
import { FULL_SUBJECT } from '../support/prompt-subject.ts';
import { AGENT_FILES } from './agent-files.ts';
import { AGENTS } from './agents.ts';
import { forgeTargets } from './forge-wire.ts';
import { ISSUE_FILES } from './issue-files.ts';
import { mutateText } from './mutate.ts';
import { SERVER } from './server.ts';
import type { Target } from './target.ts';
import { texts } from './texts.ts';
import { TOOLS } from './tools.ts';
import { wireTargets } from './wire.ts';
import { workflow } from './workflow.ts';

const TEMPLATE =
  'Fix {{ .issue.title | printf "%q" }}{{ if and .attempt (gt .attempt 1) }} again{{ else }} {{- /* c */ -}} {{ end }}{{ with .issue.parent }}{{ .id }}{{ end }}{{ range $i, $l := .issue.labels }}{{ $i }}:{{ $l }}{{ end }}';
const DATA = templateData(FULL_SUBJECT);

const template: Target = {
  name: 'template engine',
  make: (chance) => mutateText(TEMPLATE, chance),
  take(input) {
    try {
      const parsed = parseTemplate(input);
      analyseTemplate(parsed);
      renderTemplate(parsed, DATA);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  },
};

const TIME = '2026-01-02T03:04:05.006Z';

const logfmt: Target = {
  name: 'log writer',
  make: (chance) => mutateText('plain text, a="b" c=d', chance),
  take(input) {
    const line = textRecord('info', input, { title: input, [input]: 1 }, TIME);
    // oxlint-disable-next-line no-control-regex -- exactly these must not appear
    if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(line)) throw new Error('a control character in a record');
    if (!line.startsWith('level=INFO msg=') || !line.endsWith(` time=${TIME}`)) throw new Error('the record is not whole');
    const { msg } = JSON.parse(jsonRecord('info', input, { title: input }, TIME)) as { msg: string };
    if (msg !== input) throw new Error('the text came out as another');
  },
};

export const TARGETS: readonly Target[] = [
  workflow,
  template,
  logfmt,
  texts,
  ...AGENT_FILES,
  ...AGENTS,
  ...TOOLS,
  ...ISSUE_FILES,
  ...SERVER,
  ...wireTargets(),
  ...forgeTargets(),
];
