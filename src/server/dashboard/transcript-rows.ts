import { countText, durationText, moneyText, utcText, wordsOf } from './format.ts';
import { html, type Html } from './html.ts';
import type { Call, TranscriptRow } from './transcript.ts';

/** Text of more lines or letters than these is folded. */
const LINES_SHOWN = 6;
const LETTERS_SHOWN = 600;

/** Rows of a transcript, each with its own key so that the browser can add and replace them. */
export function transcriptRows(rows: readonly TranscriptRow[], startedAt: number): readonly Html[] {
  return rows.map((row) => transcriptRow(row, startedAt));
}

function transcriptRow({ number, at, content }: TranscriptRow, startedAt: number): Html {
  const open = content.kind === 'call' && content.state === 'open';
  return html`<li
    id="row-${number}"
    data-key="row-${number}"
    data-number="${number}"
    class="${content.kind}"
    ${open && html` data-open`}
  >
    <a class="when" href="#row-${number}" title="${utcText(at)}"
      ><time datetime="${new Date(at).toISOString()}">+${durationText(at - startedAt)}</time></a
    >
    <div class="what">${contentOf(content, number)}</div>
  </li>`;
}

function contentOf(content: TranscriptRow['content'], number: number): Html {
  switch (content.kind) {
    case 'turn':
      return html`<h3>Turn ${content.turn}</h3>
        ${
          content.prompt !== '' &&
          html`<details data-key="prompt-${number}">
            <summary>Prompt, ${content.prompt.length} characters</summary>
            <pre tabindex="0"><bdi>${content.prompt}</bdi></pre>
          </details>`
        }`;
    case 'message':
      return foldedLines(content.text, number);
    case 'call':
      return callRow(content, number);
    case 'usage':
      return html`<span class="quiet"
        >${countText(content.tokens.totalTokens)} tokens so
        far${content.costUsd !== null && `, ${moneyText(content.costUsd)}`}</span
      >`;
    case 'note':
      return html`<span class="event">${wordsOf(content.type)}</span>
        ${content.text !== '' && foldedLines(content.text, number)}`;
  }
}

const CALL_STATES = { open: ['live', 'running'], ok: ['good', 'ok'], failed: ['bad', 'failed'] } as const;

function callRow({ name, input, state, durationMs, output }: Call, number: number): Html {
  const [tone, word] = CALL_STATES[state];
  return html`<details class="call" data-key="call-${number}">
    <summary>
      <span class="chip" data-tone="${tone}">${word}</span> <b><bdi>${name}</bdi></b> <code><bdi>${input}</bdi></code>
      ${durationMs !== null && html`<span class="quiet">${shortDuration(durationMs)}</span>`}
    </summary>
    ${input !== '' && html`<pre tabindex="0"><bdi>${input}</bdi></pre>`}
    ${
      output === ''
        ? html`<p class="quiet">${state === 'open' ? 'No result yet.' : 'The agent does not tell what it gave back.'}</p>`
        : html`<pre tabindex="0"><bdi>${output}</bdi></pre>`
    }
  </details>`;
}

function foldedLines(text: string, number: number): Html {
  const lines = text.split('\n');
  if (lines.length <= LINES_SHOWN && text.length <= LETTERS_SHOWN) return html`<p class="said"><bdi>${text}</bdi></p>`;
  const start = [...lines.slice(0, LINES_SHOWN).join('\n')].slice(0, LETTERS_SHOWN).join('');
  return html`<details class="said" data-key="said-${number}">
    <summary><bdi>${start}…</bdi></summary>
    <div class="rest"><bdi>${text}</bdi></div>
  </details>`;
}

function shortDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : durationText(ms);
}
