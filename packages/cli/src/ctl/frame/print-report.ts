// Prints one report: the answer to stdout in the asked form, what is missing from it to stderr.

import { CTL_EXIT } from '../exit-code.ts';
import { documentText } from '../output/document.ts';
import type { Report } from '../output/report.ts';
import { type Style, styleFor } from '../output/style.ts';
import type { CtlPort } from '../port.ts';
import type { OutputForm } from './global-flags.ts';
import { writeProblems } from './write-problems.ts';

export interface PrintOptions {
  readonly port: CtlPort;
  readonly output: OutputForm;
}

export function printReport(report: Report, { port, output }: PrintOptions): number {
  port.writeOutput(reportText(report, output, styleFor(port)));
  writeProblems(port, report.problems);
  return exitCodeOf(report);
}

export function reportText(report: Report, output: OutputForm, style: Style): string {
  if (output === 'json' || output === 'yaml') return documentText(report.document, output);
  const lines = report.lines(output, style);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function exitCodeOf({ exitCode, problems }: Report): number {
  return exitCode ?? (problems.length === 0 ? CTL_EXIT.ok : CTL_EXIT.partial);
}
