import { html, type Html } from './html.ts';

/** The flag beside the name. */
export function mark(): Html {
  return html`<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
    <path d="M5 21V3" />
    <path d="M5 4h13l-3.5 4.5L18 13H5" />
  </svg>`;
}
