import { shownTitle } from '../lib/short-text.ts';
import type { NotificationEntry, NotificationTarget } from '../domain/model/notification.ts';

/** What is posted, before it becomes JSON. `link` is the page to look at, or empty. */
export function bodyOf(format: NotificationTarget['format'], entry: NotificationEntry, link: string): object {
  return format === 'slack' ? slackBody(entry, link) : jsonBody(entry, link);
}

function jsonBody({ id, issue, write }: NotificationEntry, link: string): object {
  const { event, over, at, text } = write;
  const { identifier, title, url, state } = issue;
  const about = { id: issue.id, identifier, title: shownTitle(title), url, state };
  return { id, event, over, at: new Date(at).toISOString(), text, issue: issue.id === '' ? null : about, url: link };
}

/** Slack reads three characters as its own: a title must neither call a channel nor hide a link. */
function slackBody({ write }: NotificationEntry, link: string): object {
  const line = write.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const shown = slackLink(link);
  return { text: shown === '' ? line : `${line} <${shown}>` };
}

/** An address may be what somebody wrote into an issue: it neither ends its own brackets nor has a text of its own. */
function slackLink(link: string): string {
  return /^https?:\/\//i.test(link) ? link.replaceAll(/[<>|\s\p{C}]/gu, (sign) => encodeURIComponent(sign.toWellFormed())) : '';
}
