// The badge of a conformance report. A provider without a report has no badge: it is not compatible by being
// dialled.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, formatFull } from '../lib/format.ts';
import { Tag, type Tone, When } from '../parts/index.ts';

type Report = Answer<'providers'>['providers'][number]['conformance'];
type Verdict = NonNullable<Report>['verdict'];

const VERDICTS: Readonly<Record<Verdict, readonly [word: string, tone: Tone]>> = {
  CERTIFIED: ['certified', 'good'],
  FAILED: ['failed', 'bad'],
  INCOMPLETE: ['incomplete', 'warn'],
};

export function ConformanceBadge({ conformance }: { readonly conformance: Report }): ReactNode {
  if (conformance === null) return <span className="faint">no report</span>;
  const { verdict, profiles, behaviours, passed, atMs } = conformance;
  const [word, tone] = VERDICTS[verdict];
  const judged = `${passed} of ${behaviours} behaviours passed`;
  return (
    <Tag tone={tone} title={`${profiles.join(', ')}: ${judged}, ${formatFull(atMs)}`}>
      {word}
    </Tag>
  );
}

export function Conformance(props: {
  readonly provider: string;
  readonly conformance: Report;
}): ReactNode {
  const { provider, conformance } = props;
  return (
    <div className="conformance">
      <h3>
        Conformance <ConformanceBadge conformance={conformance} />
      </h3>
      {conformance === null ? (
        <p className="soft">
          Start the dashboard with{' '}
          <code className="conformance-flag">--conformance {provider}=report.json</code>, as{' '}
          <code>bfconformance --out</code> writes it.
        </p>
      ) : (
        <dl className="facts">
          <dt>Claims</dt>
          <dd>{conformance.profiles.join(', ')}</dd>
          {conformance.verdict !== 'CERTIFIED' && (
            <>
              <dt>Certified</dt>
              <dd>{conformance.certifiedProfiles.join(', ') || 'none'}</dd>
            </>
          )}
          <dt>Behaviours</dt>
          <dd>{countsText(conformance)}</dd>
          {conformance.requiredFailed + conformance.requiredMissing > 0 && (
            <>
              <dt>Required</dt>
              <dd>
                {formatCount(conformance.requiredFailed)} failed,{' '}
                {formatCount(conformance.requiredMissing)} missing
              </dd>
            </>
          )}
          <dt>Judged</dt>
          <dd>
            <When atMs={conformance.atMs} absolute />, as {conformance.subject}
          </dd>
        </dl>
      )}
    </div>
  );
}

function countsText(report: NonNullable<Report>): string {
  const parts: readonly (readonly [number, string])[] = [
    [report.passed, 'passed'],
    [report.failed, 'failed'],
    [report.skipped, 'skipped'],
    [report.notRun, 'not run'],
  ];
  const told = parts.filter(([count]) => count > 0);
  return told.map(([count, word]) => `${formatCount(count)} ${word}`).join(', ');
}

/** A report under a name that nobody has would otherwise vanish: mostly the name is mistyped. */
export function Unmatched({ names }: { readonly names: readonly string[] }): ReactNode {
  if (names.length === 0) return null;
  return (
    <p className="soft" role="note">
      <code>--conformance</code> names {names.join(', ')}, and no shard knows a provider of that
      name.
    </p>
  );
}
