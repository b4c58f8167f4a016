import { TrackerError } from '../../domain/model/errors.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { LabelWriter } from '../../ports/tracker.ts';
import type { Project } from './routes.ts';
import { issueRoute, readIssue, readLabelNames, trackerError, updateIssue } from './routes.ts';
import { KIND } from './settings.ts';

/**
 * The project's labels. Label names are case-sensitive at the remote, which makes a new label of one it does not know, so
 * a label is attached in the casing in which it is stored.
 */
export interface LabelCatalog {
  /** Reads the labels and remembers them. */
  read(signal: AbortSignal): Promise<readonly string[]>;
  /** What was read last; reads now where that has no such label, which may have come since. Null with a warning when that fails. */
  recall(label: string, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Reads now. Null with a warning when that fails. */
  tryRead(label: string, signal: AbortSignal): Promise<readonly string[] | null>;
}

export function createLabelCatalog(project: Project): LabelCatalog {
  let known: readonly string[] | null = null;
  const catalog: LabelCatalog = {
    read: async (signal) => (known = await readLabelNames(project, signal)),
    recall: async (label, signal) =>
      known && storedSpelling(known, label) !== undefined ? known : catalog.tryRead(label, signal),
    tryRead: async (label, signal) => {
      try {
        return await catalog.read(signal);
      } catch (error) {
        if (!(error instanceof TrackerError)) throw error;
        const facts = { tracker_kind: KIND, label, error: error.message };
        project.logger.warn('label catalogue is unavailable, the configured spelling is used', facts);
        return null;
      }
    },
  };
  return catalog;
}

/** How a label is stored: the very spelling if there is one, else its first case variant. Undefined when there is none. */
export function storedSpelling(names: readonly string[], label: string): string | undefined {
  return names.find((name) => name === label.trim()) ?? names.find((name) => sameState(name, label));
}

export function createLabelWriter(project: Project, catalog: LabelCatalog): LabelWriter {
  return {
    add: async (id, label, signal) => {
      if (!isWritable(project, id, label)) return;
      const names = (await catalog.tryRead(label.trim(), signal)) ?? [];
      await updateIssue(project, id, { add_labels: storedSpelling(names, label) ?? label.trim() }, signal);
    },
    remove: async (id, label, signal) => {
      if (!isWritable(project, id, label)) return;
      const issue = await readIssue(project, id, signal);
      const variants = (issue.labels ?? []).filter((name) => sameState(name, label));
      if (variants.length > 0) await updateIssue(project, id, { remove_labels: variants.join(',') }, signal);
    },
  };
}

// Before any request: a blank label is nothing to write, and a comma would make two labels of one.
function isWritable(project: Project, id: string, label: string): boolean {
  const route = issueRoute(project, id);
  if (label.trim() === '') {
    project.logger.warn('label is blank, nothing is written', { tracker_kind: KIND, issue_identifier: id });
    return false;
  }
  refuseComma(project, label, route);
  return true;
}

/** Label lists are comma-separated on the wire, and the remote has no label with a comma in it. */
export function refuseComma(project: Project, label: string, route: string): void {
  if (!label.includes(',')) return;
  const detail = `the label ${JSON.stringify(label)} holds a comma, which no label can have`;
  throw trackerError(project, { kind: 'tracker_payload_error', method: 'PUT', path: route, detail });
}
