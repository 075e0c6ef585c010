// Links between pages. The moment that is shown goes along with every link: a reader who looks at last
// night stays in last night until they say otherwise.

import { useRouter } from '@tanstack/react-router';
import { createContext, type ReactNode, use, useCallback } from 'react';
import { PAGES, type PageName, type PageSearch } from '../url/pages.ts';
import { parseQuery, printQuery, readSearch, type SearchSpec, writeSearch } from '../url/search.ts';

/** The page that is open, and its search as the URL gives it. */
interface OpenPage {
  readonly page: PageName;
  readonly search: Readonly<Record<string, unknown>>;
}

export const OpenPageContext: React.Context<OpenPage | null> = createContext<OpenPage | null>(null);

export interface ToProps<P extends PageName> {
  readonly page: P;
  readonly search?: Partial<PageSearch<P>>;
  readonly children: ReactNode;
  readonly className?: string | undefined;
  readonly title?: string | undefined;
  readonly label?: string | undefined;
  readonly id?: string | undefined;
  readonly tabIndex?: number | undefined;
  /** The page that is open, in a navigation. */
  readonly isCurrent?: boolean | undefined;
}

/** Not the router's own Link: that one listens to the router, and a table may show hundreds of these. */
export function To<P extends PageName>(props: ToProps<P>): ReactNode {
  const { page, search, children, className, title, label, id, tabIndex, isCurrent } = props;
  const router = useRouter();
  const at = useAt();
  const before: Record<string, string> = at === 0 ? {} : { at: String(at) };
  const raw = carried(page, search ?? {}, before);
  const { path } = PAGES[page];
  return (
    <a
      href={addressOf(router, `${path}${printQuery(raw)}`)}
      className={className}
      title={title}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      id={id}
      tabIndex={tabIndex}
      onClick={(event) => {
        // A new tab or window is the browser's business.
        const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
        if (!isPlain || event.altKey || event.defaultPrevented) return;
        event.preventDefault();
        navigate(router, page, false, () => raw);
      }}
      onPointerEnter={() => {
        // Only the page's chunk: a failure shows when the page is opened.
        router.preloadRoute({ to: path }).catch(() => undefined);
      }}
    >
      {children}
    </a>
  );
}

/** Goes to a page, as a link does. */
export function useGo(): <P extends PageName>(
  page: P,
  search?: Partial<PageSearch<P>>,
  options?: { readonly replace?: boolean },
) => void {
  const router = useRouter();
  return useCallback(
    (page, search, options) => {
      navigate(router, page, options?.replace ?? false, (before) =>
        carried(page, search ?? {}, before),
      );
    },
    [router],
  );
}

/** What the open page has in its URL, with defaults filled in. */
export function useSearch<P extends PageName>(page: P): PageSearch<P> {
  const open = use(OpenPageContext);
  if (open === null || open.page !== page) {
    throw new Error(`useSearch('${page}') outside of its page`);
  }
  // SearchGate has read it by the spec of this very page.
  return open.search as PageSearch<P>;
}

/** Changes parts of the open page's URL. `replace` for what changes while a hand moves. */
export function useSetSearch<P extends PageName>(
  page: P,
): (patch: Partial<PageSearch<P>>, options?: { readonly replace?: boolean }) => void {
  const router = useRouter();
  return useCallback(
    (patch, options) => {
      navigate(router, page, options?.replace ?? false, (before) => merged(page, patch, before));
    },
    [router, page],
  );
}

type OrderedPage = {
  [P in PageName]: PageSearch<P> extends { readonly order: string; readonly down: boolean }
    ? P
    : never;
}[PageName];

/** The order of a page's table, kept in its URL: spread into the table. */
export function useOrder(page: OrderedPage): {
  readonly order: { readonly column: string; readonly isDown: boolean } | null;
  readonly onOrder: (order: { readonly column: string; readonly isDown: boolean }) => void;
} {
  const { order, down } = useSearch(page);
  const set = useSetSearch(page);
  return {
    order: order === '' ? null : { column: order, isDown: down },
    onOrder: ({ column, isDown }) => set({ order: column, down: isDown }),
  };
}

/** The moment in the URL of any page; 0 is now. */
export function useAt(): number {
  const at = use(OpenPageContext)?.search['at'];
  return typeof at === 'number' ? at : 0;
}

export function useSetAt(): (atMs: number, options?: { readonly replace?: boolean }) => void {
  const router = useRouter();
  const page = use(OpenPageContext)?.page ?? 'now';
  return useCallback(
    (atMs, options) => {
      navigate(router, page, options?.replace ?? false, (before) =>
        merged(page, { at: atMs }, before),
      );
    },
    [router, page],
  );
}

function specOf(page: PageName): SearchSpec {
  return PAGES[page].search;
}

type Router = ReturnType<typeof useRouter>;

/** As the browser must ask for it: behind `#` in the playground. */
function addressOf(router: Router, path: string): string {
  const history = router.history as { createHref(path: string): string };
  return history.createHref(path);
}

function navigate(
  router: Router,
  page: PageName,
  replace: boolean,
  search: (before: Record<string, string>) => Record<string, string>,
): void {
  const before = parseQuery(router.state.location.searchStr);
  const done = router.navigate({ to: PAGES[page].path, search: search(before), replace });
  // A navigation that the next one overtakes rejects; the next one stands.
  done.catch(() => undefined);
}

function carried(
  page: PageName,
  search: Readonly<Record<string, unknown>>,
  before: Record<string, string>,
): Record<string, string> {
  const at = before['at'];
  const raw = writeSearch(specOf(page), search);
  return at === undefined || 'at' in search ? raw : { ...raw, at };
}

function merged(
  page: PageName,
  patch: Readonly<Record<string, unknown>>,
  before: Record<string, string>,
): Record<string, string> {
  const spec = specOf(page);
  const read = readSearch(spec, before);
  const current = read.ok ? read.search : {};
  return writeSearch(spec, { ...current, ...patch });
}
