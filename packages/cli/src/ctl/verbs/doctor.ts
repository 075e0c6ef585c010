// `doctor`: looks at a whole installation and says what is wrong, worst first, with what to do.

import { CTL_EXIT } from '../output/report.ts';
import { diagnose } from '../doctor/diagnose.ts';
import type { Finding, Severity } from '../doctor/facts.ts';
import { gatherFacts } from '../doctor/gather-facts.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { cleanText } from '../output/text.ts';
import type { Style, Tone } from '../output/style.ts';

const TONES: Readonly<Record<Severity, Tone>> = {
  ok: 'good',
  info: 'dim',
  warning: 'warn',
  error: 'bad',
};
const SEVERITY_WIDTH = 8;

export const doctorVerb = defineVerb({
  name: 'doctor',
  group: 'Understand',
  summary: 'check the whole installation; findings with what to do about them',
  details: [
    'Looks at certificates, reachability, clocks, versions, heartbeats, quorum, terms, providers,',
    'paused shards, conflicts and quotas. Changes nothing.',
    'Exit code: 0 nothing is wrong, 1 warnings, 2 errors.',
  ],
  flags: {},
  examples: ['doctor', 'doctor -o json'],
  isWatchable: true,
  report: async ({ links, context }) => {
    const facts = await gatherFacts({ links, context });
    const findings = diagnose(facts);
    const looked = `${facts.replicas.length} coordinator addresses, ${facts.shards.length} shards`;
    return {
      lines: (_, style) => [
        ...findings.flatMap((each) => findingLines(each, style)),
        summaryLine(findings, looked),
      ],
      document: findings,
      problems: [],
      exitCode: exitCodeOf(findings),
    };
  },
});

function findingLines({ severity, check, subject, message, fix }: Finding, style: Style): string[] {
  const label = style.paint(severity.padEnd(SEVERITY_WIDTH), TONES[severity]);
  const indent = ' '.repeat(SEVERITY_WIDTH + 1);
  return [
    `${label} ${cleanText(`${subject}: ${message}`)} [${check}]`,
    ...(fix === '' ? [] : [`${indent}fix: ${cleanText(fix)}`]),
  ];
}

function summaryLine(findings: readonly Finding[], looked: string): string {
  const count = (severity: Severity): number =>
    findings.filter((each) => each.severity === severity).length;
  return `looked at ${looked}: ${count('error')} errors, ${count('warning')} warnings`;
}

function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ severity }) => severity === 'error')) return CTL_EXIT.errorsFound;
  return findings.some(({ severity }) => severity === 'warning') ? CTL_EXIT.failed : CTL_EXIT.ok;
}
