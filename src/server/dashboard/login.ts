import { documentOf } from './document.ts';
import { html, type Html } from './html.ts';
import { mark } from './parts.ts';

interface Login {
  /** Where to go afterwards. */
  readonly next: string;
  /** Why the last try did not succeed. */
  readonly problem?: string;
}

/** Asks for the token, and for a name that stands beside what its owner does. */
export function loginPage({ next, problem }: Login): Html {
  return documentOf({
    title: 'Log in · foray',
    live: false,
    body: html`<main class="login">
      <form method="post" action="/session">
        <h1>${mark()}foray</h1>
        ${problem !== undefined && html`<p class="alert" data-tone="bad" role="alert">${problem}</p>`}
        <label>Token <input name="token" type="password" required autofocus autocomplete="current-password" /></label>
        <label
          >Your name <span class="quiet">optional, recorded with what you do</span>
          <input name="name" maxlength="60" autocomplete="username"
        /></label>
        <input type="hidden" name="next" value="${next}" />
        <button class="primary">Log in</button>
      </form>
    </main>`,
  });
}
