// What stands where data does not: nothing there, not supplied, refused, simulated.

import type { ReactNode } from 'react';
import type { Source } from '../../../src/api/common.ts';
import type { Problem as ProblemBody } from '../../../src/api/stream.ts';
import { When } from './marks.tsx';

export function EmptyState({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children === undefined ? null : <div className="empty-text">{children}</div>}
    </div>
  );
}

/** A source that this place stands on and that nobody supplies: which one, and the flag that does. */
export function Missing({
  source,
  children,
}: {
  readonly source: Pick<Source, 'kind' | 'name' | 'flag' | 'problem'>;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="missing" role="note">
      <p>
        <strong>{SOURCE_WORDS[source.kind]}</strong>{' '}
        {source.problem === '' ? 'is not set.' : source.problem}
      </p>
      {source.flag === '' ? null : (
        <p className="soft">
          Start the dashboard with <code>{source.flag}</code> to see it.
        </p>
      )}
      {children}
    </div>
  );
}

const SOURCE_WORDS: Readonly<Record<Source['kind'], string>> = {
  shard: 'Shard',
  coordinator: 'The coordinator',
  records: 'The folder of recorded decisions',
  'provider-metrics': 'The provider’s metrics',
  kubernetes: 'The Kubernetes API',
  prometheus: 'Prometheus',
};

/** A refusal: its sentence, its stable code, and what to do next. */
export function Problem({
  problem,
  children,
}: {
  readonly problem: ProblemBody;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="problem" role="alert">
      <p>{problem.message}</p>
      <p className="faint">
        code <code>{problem.code}</code>
      </p>
      {children === undefined ? null : <div className="problem-next">{children}</div>}
    </div>
  );
}

/** Around everything that shows supply which somebody simulates. */
export function Simulated({
  isSimulated,
  isTold = false,
  children,
}: {
  readonly isSimulated: boolean;
  /** The words stand right above already: only the frame is drawn. */
  readonly isTold?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  // One tree for both: a page must not begin anew when it turns out to be simulated.
  return (
    <div className={isSimulated ? 'simulated' : 'not-simulated'}>
      {isSimulated && !isTold ? (
        <div className="simulated-word">Simulated supply: no machine here is real</div>
      ) : null}
      {children}
    </div>
  );
}

/** Sources that are late or away, each on a line; nothing while all are live. */
export function SourceMarks({ sources }: { readonly sources: readonly Source[] }): ReactNode {
  const late = sources.filter(
    (source) => source.state === 'stale' || source.state === 'connecting',
  );
  const absent = sources.filter((source) => source.state === 'absent');
  if (late.length === 0 && absent.length === 0) return null;
  return (
    <ul className="source-marks">
      {late.slice(0, MAX_SOURCE_LINES).map((source) => (
        <li key={`${source.kind}/${source.name}`} className="source-late">
          <strong>
            {SOURCE_WORDS[source.kind]} {source.name}
          </strong>{' '}
          {source.state === 'stale' ? 'is stale' : 'is connecting'}
          {source.dataMs === null ? null : (
            <>
              : newest data <When atMs={source.dataMs} />
            </>
          )}
          {source.problem === '' ? null : <span className="soft"> {source.problem}</span>}
        </li>
      ))}
      {late.length > MAX_SOURCE_LINES ? (
        <li className="source-late">and {late.length - MAX_SOURCE_LINES} more sources are late</li>
      ) : null}
      {absent.map((source) => (
        <li key={`${source.kind}/${source.name}`} className="source-absent">
          <strong>
            {SOURCE_WORDS[source.kind]}
            {source.name === '' ? '' : ` ${source.name}`}
          </strong>{' '}
          is not set: <code>{source.flag}</code> supplies it.
        </li>
      ))}
    </ul>
  );
}

const MAX_SOURCE_LINES = 3;
