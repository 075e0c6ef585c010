// The pages by name, each loaded when it is opened, and what stands where no page can.

import { type ComponentType, type ReactNode, useState } from 'react';
import { createApp, type PageModules } from '../nav/router.tsx';
import { To } from '../nav/link.tsx';
import { Loading } from '../parts/page.tsx';
import { Problem } from '../parts/states.tsx';
import { PAGE_NAMES, PAGES, type PageName } from '../url/pages.ts';
import type { WrongParameter } from '../url/search.ts';

const PAGE_MODULES: PageModules = {
  now: () => import('../pages/now.tsx'),
  map: () => import('../pages/map.tsx'),
  decisions: () => import('../pages/decisions.tsx'),
  explain: () => import('../pages/explain.tsx'),
  cost: () => import('../pages/cost.tsx'),
  triage: () => import('../pages/triage.tsx'),
  lifecycle: () => import('../pages/lifecycle.tsx'),
  providers: () => import('../pages/providers.tsx'),
  clusters: () => import('../pages/clusters.tsx'),
  shards: () => import('../pages/shards.tsx'),
  coordinator: () => import('../pages/coordinator.tsx'),
  machines: () => import('../pages/machines.tsx'),
  needs: () => import('../pages/needs.tsx'),
  whatif: () => import('../pages/what-if.tsx'),
  compare: () => import('../pages/compare.tsx'),
};

export function createDashboard(options: {
  readonly history: 'path' | 'hash';
  readonly Shell: ComponentType<{ readonly page: PageName | null; readonly children: ReactNode }>;
}): ComponentType {
  return createApp({
    pages: PAGE_MODULES,
    history: options.history,
    Shell: options.Shell,
    WrongLink,
    NoSuchPage,
    Crash,
    Loading: LoadingPage,
  });
}

function LoadingPage(): ReactNode {
  return (
    <div className="page">
      <Loading />
    </div>
  );
}

function WrongLink({
  page,
  wrong,
}: {
  readonly page: PageName;
  readonly wrong: readonly WrongParameter[];
}): ReactNode {
  return (
    <article className="page" aria-labelledby="page-title">
      <title>Wrong link · BigFleet</title>
      <h1 id="page-title">This link has a mistake in it</h1>
      <p className="soft">
        The page “{PAGES[page].title}” exists, but it cannot be shown with these parameters:
      </p>
      <ul className="stack">
        {wrong.map((parameter) => (
          <li key={parameter.name} className="problem">
            <p>
              <code>
                {parameter.name}={parameter.value.slice(0, 200)}
              </code>
            </p>
            <p className="soft">{parameter.message}</p>
          </li>
        ))}
      </ul>
      <p>
        <To page={page} search={{ at: 0 }}>
          Open “{PAGES[page].title}” without parameters
        </To>
      </p>
    </article>
  );
}

function NoSuchPage({ path }: { readonly path: string }): ReactNode {
  return (
    <article className="page" aria-labelledby="page-title">
      <title>No such page · BigFleet</title>
      <h1 id="page-title">There is no page here</h1>
      <p className="soft">
        <code>{path.slice(0, 200)}</code> is not a page of the dashboard. These are:
      </p>
      <ul className="row">
        {PAGE_NAMES.map((name) => (
          <li key={name}>
            <To page={name} className="button">
              {PAGES[name].title}
            </To>
          </li>
        ))}
      </ul>
    </article>
  );
}

/** A bug of ours on one page: the others go on. */
function Crash({ error, reset }: { readonly error: Error; readonly reset: () => void }): ReactNode {
  const [isShown, setShown] = useState(false);
  return (
    <article className="page" aria-labelledby="page-title">
      <h1 id="page-title">This page has failed</h1>
      <Problem
        problem={{
          code: 'page_failed',
          message: `The page could not be drawn: ${error.message}. The other pages go on.`,
        }}
      >
        <div className="row">
          <button type="button" onClick={reset}>
            Try again
          </button>
          <button
            type="button"
            className="plain"
            onClick={() => setShown(!isShown)}
            aria-expanded={isShown}
          >
            Details
          </button>
        </div>
      </Problem>
      {isShown ? <pre className="mono crash">{error.stack}</pre> : null}
    </article>
  );
}
