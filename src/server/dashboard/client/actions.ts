import { patience } from './patience.ts';
import { keepPlace } from './place.ts';

/** Sends what a button asks for without leaving the page, after a question where it ends work. */
export function sendActions(onDone: () => void): void {
  const say = createToast();
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.classList.contains('act')) return;
    event.preventDefault();
    void carryOut(form, say).then(onDone);
  });
}

async function carryOut(form: HTMLFormElement, say: (outcome: Outcome) => void): Promise<void> {
  const button = form.querySelector('button');
  // Before the question: what it is about may be gone after it.
  const backToPlace = keepPlace(button);
  const question = form.dataset.confirm;
  const asksReason = 'reason' in form.dataset;
  const reason =
    question === undefined && !asksReason ? '' : await ask(question ?? PAUSE_QUESTION, asksReason, button?.textContent ?? '');
  if (reason === null || button === null) return backToPlace();
  button.disabled = true;
  say(await send(form.action, asksReason ? JSON.stringify({ reason }) : null));
  button.disabled = false;
  backToPlace();
}

/** How long the outcome stays on the page. */
const SHOWN_MS = 6000;
const PAUSE_QUESTION = 'Nothing new is dispatched until somebody resumes. Sessions that run go on.';

interface Outcome {
  readonly good: boolean;
  readonly text: string;
}

async function send(action: string, body: string | null): Promise<Outcome> {
  try {
    const response = await fetch(action, {
      method: 'POST',
      body,
      signal: patience(),
      ...(body !== null && { headers: { 'Content-Type': 'application/json' } }),
    });
    const answer = (await response.json()) as { message?: string; error?: { message: string }; queued?: boolean };
    const text = answer.error?.message ?? answer.message ?? (response.ok ? 'Requested.' : 'Refused.');
    return { good: response.ok, text };
  } catch (error) {
    return { good: false, text: isLate(error) ? LATE : 'The service did not answer.' };
  }
}

/** It may have been heard all the same. */
const LATE = 'The service has not answered. Look whether it was done before you ask again.';

function isLate(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/** A question in a dialog: the reason that was given, or null when it was left. */
function ask(question: string, asksReason: boolean, label: string): Promise<string | null> {
  const dialog = document.createElement('dialog');
  const text = document.createElement('p');
  text.textContent = question;
  text.id = 'question';
  dialog.setAttribute('aria-labelledby', 'question');
  const form = document.createElement('form');
  form.method = 'dialog';
  const input = document.createElement('input');
  input.name = 'reason';
  input.maxLength = 500;
  input.placeholder = 'Why? (optional)';
  input.setAttribute('aria-label', 'Reason');
  form.append(text, ...(asksReason ? [input] : []), cancelButton(dialog), confirmButton(label));
  dialog.append(form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes' ? input.value : null);
    });
    dialog.showModal();
  });
}

/** It submits nothing: Enter in a field takes the first button that does. */
function cancelButton(dialog: HTMLDialogElement): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Cancel';
  button.addEventListener('click', () => dialog.close('no'));
  return button;
}

function confirmButton(label: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.textContent = label;
  button.value = 'yes';
  button.className = 'primary';
  return button;
}

/** Tells what came of it, for a while, to eyes and ears. */
function createToast(): (outcome: Outcome) => void {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  return ({ good, text }) => {
    const toast = document.getElementById('toast');
    if (toast === null) return;
    toast.textContent = text;
    toast.dataset.tone = good ? 'good' : 'bad';
    toast.classList.add('shown');
    clearTimeout(hiding);
    hiding = setTimeout(() => toast.classList.remove('shown'), SHOWN_MS);
  };
}
