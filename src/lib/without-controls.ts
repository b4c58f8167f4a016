/** What an agent says is shown in terminals and posted as a comment: line breaks and tabs are all the control it gets. */
export function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
