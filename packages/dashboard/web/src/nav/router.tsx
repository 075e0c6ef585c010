// The one place that builds the router: a route per page of url/pages.ts, each in a chunk of its own. The
// playground uses the same routes behind `#`, because its files open from any folder.

import {
  createBrowserHistory,
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  RouterProvider,
  useLocation,
  useMatch,
  useMatches,
} from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useMemo } from 'react';
import { PAGES, type PageName } from '../url/pages.ts';
import {
  parseQuery,
  printQuery,
  readSearch,
  type SearchSpec,
  type WrongParameter,
} from '../url/search.ts';
import { OpenPageContext } from './link.tsx';

/** A page's module, loaded when it is opened; the page is its default export. */
export type PageModules = {
  readonly [P in PageName]: () => Promise<{ readonly default: () => ReactNode }>;
};

export interface AppRouterOptions {
  readonly pages: PageModules;
  readonly history: 'path' | 'hash';
  /** Around every page: it renders its children where the page goes. */
  readonly Shell: ComponentType<{ readonly page: PageName | null; readonly children: ReactNode }>;
  readonly WrongLink: ComponentType<{
    readonly page: PageName;
    readonly wrong: readonly WrongParameter[];
  }>;
  readonly NoSuchPage: ComponentType<{ readonly path: string }>;
  readonly Crash: ComponentType<{ readonly error: Error; readonly reset: () => void }>;
  readonly Loading: ComponentType;
}

/** Made once, outside of React: the app's component takes it as it is. */
export function createApp(options: AppRouterOptions): ComponentType {
  const { pages, Shell, WrongLink, NoSuchPage, Crash, Loading } = options;
  const byPath = new Map<string, PageName>();
  for (const name of Object.keys(PAGES) as PageName[]) byPath.set(PAGES[name].path, name);

  // From the match that is rendered, not from the location: while a page loads, the location is already the
  // next one's and the page before is still on show.
  function Root(): ReactNode {
    const path = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? '/' });
    const query = useMatches({ select: (matches) => queryOf(matches.at(-1)?.search) });
    const page = byPath.get(path) ?? null;
    const open = useMemo(() => (page === null ? null : openPage(page, query)), [page, query]);
    return (
      <OpenPageContext value={open}>
        <Shell page={page}>
          <Outlet />
        </Shell>
      </OpenPageContext>
    );
  }
  function pageRoute(name: PageName): RouteComponent {
    const Lazy = lazyRouteComponent(pages[name]);
    function PageRoute(): ReactNode {
      const query = useMatch({ strict: false, select: (match) => queryOf(match.search) });
      const open = useMemo(() => openPage(name, query), [query]);
      if (open.wrong !== null) return <WrongLink page={name} wrong={open.wrong} />;
      return (
        <OpenPageContext value={open}>
          <Lazy />
        </OpenPageContext>
      );
    }
    // The router loads a page's chunk before it shows the page.
    return Object.assign(PageRoute, { preload: () => Lazy.preload?.() });
  }
  function Missing(): ReactNode {
    return <NoSuchPage path={useLocation({ select: (location) => location.pathname })} />;
  }

  const rootRoute = createRootRoute({ component: Root, notFoundComponent: Missing });
  const routes = (Object.keys(PAGES) as PageName[]).map((name) =>
    createRoute({
      getParentRoute: () => rootRoute,
      path: PAGES[name].path,
      component: pageRoute(name),
    }),
  );
  const router = createRouter({
    routeTree: rootRoute.addChildren(routes),
    history: options.history === 'hash' ? createHashHistory() : createBrowserHistory(),
    parseSearch: (query) => parseQuery(query),
    stringifySearch: (search: Record<string, string>) => printQuery(search),
    defaultPreload: 'intent',
    defaultPendingComponent: () => <Loading />,
    defaultErrorComponent: ({ error, reset }) => <Crash error={errorOf(error)} reset={reset} />,
    trailingSlash: 'never',
    scrollRestoration: false,
  });
  return function App() {
    return <RouterProvider router={router} />;
  };
}

interface Opened {
  readonly page: PageName;
  readonly search: Readonly<Record<string, unknown>>;
  readonly wrong: readonly WrongParameter[] | null;
}

function openPage(page: PageName, query: string): Opened {
  const read = readSearch<SearchSpec>(PAGES[page].search, parseQuery(query));
  return read.ok
    ? { page, search: read.search, wrong: null }
    : { page, search: {}, wrong: read.wrong };
}

/** What `parseSearch` made of the query, as text again: equal texts, equal pages. */
function queryOf(search: unknown): string {
  return printQuery((search ?? {}) as Readonly<Record<string, string>>).slice(1);
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
