/** Asks for a poll and says on the button what came of it. */
export async function pollNow(button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  const response = await fetch('/api/v1/refresh', { method: 'POST' }).catch(() => null);
  button.textContent = response?.ok ? 'Requested' : 'Refused';
  setTimeout(() => {
    button.disabled = false;
    button.textContent = 'Poll now';
  }, 2000);
}
