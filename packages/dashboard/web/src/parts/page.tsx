// The frame of every page: its title, the question that it answers, the moment that it shows, and which of
// its sources are late or away.

import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import type { Frame } from '../../../src/api/common.ts';
import type { ViewName } from '../../../src/api/params.ts';
import type { Problem as ProblemBody } from '../../../src/api/stream.ts';
import { useAt, useSetAt } from '../nav/link.tsx';
import type { View } from '../store/hooks.ts';
import { PAGES, type PageName } from '../url/pages.ts';
import { CopyLink } from './marks.tsx';
import { EmptyState, Problem, SourceMarks } from './states.tsx';

export function Page({
  page,
  frame,
  tools,
  isFilling = false,
  children,
}: {
  readonly page: PageName;
  readonly frame: Frame | undefined;
  /** Beside the title: filters, toggles. */
  readonly tools?: ReactNode;
  /** The page is as high as the window, and scrolls inside: for canvases. */
  readonly isFilling?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const { title, question } = PAGES[page];
  return (
    <article className={isFilling ? 'page page-filling' : 'page'} aria-labelledby="page-title">
      <title>{`${title} · BigFleet`}</title>
      <header className="page-head">
        <div className="page-titles">
          <h1 id="page-title">{title}</h1>
          <p className="page-question">{question}</p>
        </div>
        <div className="page-tools">
          {tools}
          <CopyLink />
        </div>
      </header>
      {frame === undefined ? null : <SourceMarks sources={frame.sources} />}
      {children}
    </article>
  );
}

/** A page's answer in all its moods: loading, refused, and there. */
export function Answered<V extends ViewName>({
  view,
  children,
}: {
  readonly view: View<V>;
  readonly children: (answer: NonNullable<View<V>['answer']>) => ReactNode;
}): ReactNode {
  const { answer, problem } = view;
  if (answer === undefined) {
    return problem === null ? <Loading /> : <Refused problem={problem} />;
  }
  return (
    <div
      className={view.status === 'stale' ? 'answered answered-stale' : 'answered'}
      aria-busy={view.isRefreshing}
    >
      {problem === null ? null : <Refused problem={problem} />}
      {children(answer)}
    </div>
  );
}

/** A refusal, with the way out of it where there is one: a moment that cannot be shown leads back to now. */
function Refused({ problem }: { readonly problem: ProblemBody }): ReactNode {
  const setAt = useSetAt();
  if (useAt() === 0) return <Problem problem={problem} />;
  return (
    <Problem problem={problem}>
      <button type="button" onClick={() => setAt(0)}>
        Back to live
      </button>
    </Problem>
  );
}

export function Loading(): ReactNode {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">Loading</span>
      <div className="loading-bar" />
      <div className="loading-bar" />
      <div className="loading-bar" />
    </div>
  );
}

export function Card({
  title,
  aside,
  note,
  className,
  isFlush = false,
  children,
}: {
  readonly title?: ReactNode;
  /** At the right of the title. */
  readonly aside?: ReactNode;
  /** Under the title, one line. */
  readonly note?: ReactNode;
  readonly className?: string;
  /** No padding around the content: for tables and canvases. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className={['card', isFlush ? 'card-flush' : '', className ?? ''].join(' ')}>
      {title === undefined && aside === undefined ? null : (
        <header className="card-head">
          <div className="grow">
            {title === undefined ? null : <h2>{title}</h2>}
            {note === undefined ? null : <p className="card-note">{note}</p>}
          </div>
          {aside}
        </header>
      )}
      <div className="card-body">{children}</div>
    </section>
  );
}

/** Nothing matches the filters, or nothing is there yet. */
export function NothingHere({ what }: { readonly what: string }): ReactNode {
  return <EmptyState title={`No ${what}`}>Nothing matches here at this moment.</EmptyState>;
}

/**
 * The keyboard of a drawer: it takes the focus when it opens, Escape closes it wherever the focus has gone
 * since, and the element that opened it has the focus again afterwards.
 */
export function useDrawer(onClose: () => void): RefObject<HTMLElement | null> {
  const box = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const opener = document.activeElement;
    box.current?.focus();
    const onKeyDown = (event: KeyboardEvent): void => {
      const isElsewhere = (event.target as Element).closest('input, select, dialog') !== null;
      if (event.key === 'Escape' && !isElsewhere) close.current();
    };
    addEventListener('keydown', onKeyDown);
    return () => {
      removeEventListener('keydown', onKeyDown);
      // A hand that has gone elsewhere meanwhile keeps its place.
      if (document.activeElement !== document.body) return;
      const isThere = opener instanceof HTMLElement && opener.isConnected;
      const back = isThere && opener !== document.body ? opener : document.getElementById('main');
      back?.focus({ preventScroll: true });
    };
  }, []);
  return box;
}
