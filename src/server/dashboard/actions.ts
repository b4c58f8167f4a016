import { percentEncoded } from '../../lib/percent-encoded.ts';
import type { IssueRequestKind } from '../../domain/model/operator.ts';
import { html, type Html, type TemplatePart } from './html.ts';

/** What a button says, and what is asked before it ends work. */
const ACTIONS: Readonly<Record<IssueRequestKind, { readonly label: string; readonly more?: string; readonly confirm?: string }>> =
  {
    stop: { label: 'Stop', confirm: 'The session is ended and the issue is parked until somebody releases it.' },
    retry: { label: 'Retry', more: ' now' },
    unpark: { label: 'Release' },
  };

/** Buttons that act on one issue. They need scripts; reading does not. */
export function issueActions(kinds: readonly IssueRequestKind[], identifier: string, name: string = identifier): Html {
  return html`<div class="actions scripted-only" data-key="actions-${identifier}">
    ${kinds.map((kind) => {
      const { label, more = '', confirm } = ACTIONS[kind];
      return actionForm({
        action: `/api/v2/issues/${percentEncoded(identifier)}/${kind}`,
        label: more === '' ? label : html`${label}<span class="wide-only">${more}</span>`,
        spoken: `${label}${more} ${name}`,
        ...(confirm !== undefined && { confirm: `${label} ${name}? ${confirm}` }),
      });
    })}
  </div>`;
}

interface ActionForm {
  readonly action: string;
  readonly label: TemplatePart;
  /** For screen readers: which of many equal buttons this is. */
  readonly spoken: string;
  readonly confirm?: string;
  /** Asks for a reason before it is sent. */
  readonly reason?: boolean;
  readonly id?: string;
}

export function actionForm({ action, label, spoken, confirm, reason, id }: ActionForm): Html {
  return html`<form
    class="act"
    method="post"
    action="${action}"
    data-key="${action}"
    ${confirm !== undefined && html` data-confirm="${confirm}"`}${reason && html` data-reason`}
  >
    <button
      ${id !== undefined && html` id="${id}"`}
      ${spoken !== label && html` aria-label="${spoken}"`}${confirm !== undefined && html` class="ends"`}
    >
      ${label}
    </button>
  </form>`;
}
