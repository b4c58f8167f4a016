import { examine } from '../../app/doctor/doctor.ts';
import type { Finding } from '../../app/doctor/finding.ts';
import { createKnownSecrets } from '../../app/secrets.ts';
import { readWorkflowFile } from '../../app/workflow.ts';
import { oneLine, printJson } from '../output.ts';
import { onInterrupt, toldWhileWaiting } from '../reading.ts';
import { stderrLog } from '../stderr-log.ts';

export interface DoctorSettings {
  readonly workflowPath: string;
  readonly fix: boolean;
  readonly asJson: boolean;
}

/** Checks everything a run needs. Warnings alone leave exit code 0. */
export async function showFindings({ workflowPath, fix, asJson }: DoctorSettings): Promise<number> {
  const secrets = createKnownSecrets();
  const loaded = await readWorkflowFile(workflowPath, process.env);
  secrets.add(loaded.secrets);
  // What adapters warn of while they are asked is told by the findings.
  const logger = stderrLog({ level: 'error', format: 'text', mask: secrets.mask });
  const deps = { env: { ...process.env }, version: FORAY_VERSION, clock: { now: Date.now }, logger, secrets };
  const findings = secrets.maskDeep(
    await toldWhileWaiting(
      examine(loaded, deps, { fix }, onInterrupt()),
      'still looking: the tracker, or a program, takes its time to answer',
    ),
  );
  const failed = findings.some(({ status }) => status === 'error');
  if (asJson) printJson({ ok: !failed, findings });
  else for (const finding of findings) process.stdout.write(lineOf(finding));
  return failed ? 1 : 0;
}

function lineOf({ status, check, message, remedy }: Finding): string {
  const first = `${status.padEnd(7)}  ${check}: ${oneLine(message)}\n`;
  return remedy === null ? first : `${first}         remedy: ${oneLine(remedy)}\n`;
}
