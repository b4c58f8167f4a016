import { html, type Html } from './html.ts';

interface Document {
  readonly title: string;
  readonly body: Html;
  /** The server's time, for the clocks; without one the page does not change by itself. */
  readonly live: false | { readonly now: number };
}

/** `#live` is what the script replaces piece by piece; without scripts the page reloads itself. */
export function documentOf({ title, body, live }: Document): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="/assets/dashboard.css" />
        ${live !== false && LIVE}
      </head>
      <body>
        ${
          live === false
            ? body
            : html`<div id="live" data-now="${live.now}">${body}</div>
                <p id="toast" role="status"></p>`
        }
      </body>
    </html> `;
}

const LIVE = html`<script type="module" src="/assets/dashboard.js"></script>
  <noscript><meta http-equiv="refresh" content="5" /></noscript>`;

const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%230d9488' stroke-width='2.5' stroke-linecap='round' stroke-linejoin='round'><path d='M5 21V3'/><path d='M5 4h13l-3.5 4.5L18 13H5'/></svg>";
