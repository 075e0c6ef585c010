// Around every page: navigation, search, the state of the connection, the moment that is shown.

import { memo, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Frame } from '../../../src/api/common.ts';
import { setTheme, type ThemeChoice, useTheme } from '../lib/theme.ts';
import { To, useAt, useGo } from '../nav/link.tsx';
import { Tag } from '../parts/marks.tsx';
import { Simulated } from '../parts/states.tsx';
import { useConnection, useFirstFrame, useView } from '../store/hooks.ts';
import { NAVIGATION, PAGE_NAMES, PAGES, type PageName } from '../url/pages.ts';
import { Help } from './help.tsx';
import { SearchBox } from './search-box.tsx';
import { TimeBar } from './time-bar.tsx';

export function Shell({
  page,
  children,
  isPlayground = false,
  controls,
}: {
  readonly page: PageName | null;
  readonly children: ReactNode;
  readonly isPlayground?: boolean;
  /** The playground's own controls, above the page. */
  readonly controls?: ReactNode;
}): ReactNode {
  // Every page wants the frame: whether supply is simulated, and how far back the slider reaches.
  // A page of a past moment may be there before the live answer is.
  const first = useFirstFrame();
  const frame = useView('now', {}).answer?.frame ?? first;
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(page);
  useShortcuts(setHelpOpen);
  useEffect(() => {
    setMenuOpen(false);
    main.current?.scrollTo(0, 0);
    // A link that went with its page took the focus along.
    if (shown.current !== page && document.activeElement === document.body) main.current?.focus();
    shown.current = page;
  }, [page]);

  return (
    <div className={isMenuOpen ? 'shell shell-menu-open' : 'shell'}>
      <a className="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to the page
      </a>
      <Side page={page} />
      <div className="main">
        <header className="top">
          <button
            type="button"
            className="icon plain menu-button"
            aria-label="Pages"
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" strokeWidth="1.5" />
            </svg>
          </button>
          <SearchBox />
          <div className="grow" />
          <Status frame={frame} isPlayground={isPlayground} />
          <button
            type="button"
            className="icon plain"
            aria-label="Keyboard shortcuts"
            onClick={() => setHelpOpen(true)}
          >
            ?
          </button>
        </header>
        {controls}
        <main id="main" ref={main} tabIndex={-1} className="main-scroll">
          <Simulated
            isSimulated={frame?.isSimulated ?? isPlayground}
            isTold={controls !== undefined}
          >
            {children}
          </Simulated>
        </main>
        <TimeBar frame={frame} />
      </div>
      {isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null}
    </div>
  );
}

/** Drawn again only for another page: the shell hears of every change of the fleet. */
const Side = memo(function Side({ page }: { readonly page: PageName | null }): ReactNode {
  return (
    <nav className="side" aria-label="Pages">
      <Brand />
      {NAVIGATION.map((section) => (
        <div key={section.title} className="side-section">
          <h2 className="side-title">{section.title}</h2>
          <ul>
            {section.pages.map((name) => (
              <li key={name}>
                <To
                  page={name}
                  isCurrent={name === page}
                  className={name === page ? 'side-link side-link-open' : 'side-link'}
                  title={`Press g, then ${PAGES[name].key}`}
                >
                  {PAGES[name].title}
                </To>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div className="grow" />
      <ThemeSwitch />
    </nav>
  );
});

function skipTo(event: React.MouseEvent, main: HTMLElement | null): void {
  // The playground's router owns the hash.
  event.preventDefault();
  main?.focus();
}

function Brand(): ReactNode {
  return (
    <To page="now" className="brand">
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
        <rect x="1" y="1" width="8" height="11" rx="2" fill="var(--state-configured)" />
        <rect x="11" y="1" width="8" height="5" rx="2" fill="var(--state-configuring)" />
        <rect x="11" y="8" width="8" height="11" rx="2" fill="var(--capacity-ondemand)" />
        <rect x="1" y="14" width="8" height="5" rx="2" fill="var(--state-idle)" />
      </svg>
      BigFleet
    </To>
  );
}

/** Whether what is seen is now, late, past or made up: always in sight. */
function Status({
  frame,
  isPlayground,
}: {
  readonly frame: Frame | undefined;
  readonly isPlayground: boolean;
}): ReactNode {
  const connection = useConnection();
  const at = useAt();
  const lateCount = frame?.sources.filter((source) => source.state === 'stale').length ?? 0;
  return (
    <div className="status" role="status" aria-label="State of what is shown">
      {isPlayground || frame?.isSimulated ? <Tag tone="sim">Simulated</Tag> : null}
      {at === 0 ? null : <Tag tone="accent">Past</Tag>}
      {connection.state === 'live' && lateCount === 0 && at === 0 ? (
        <Tag tone="good">
          <span className="live-dot" /> Live
        </Tag>
      ) : null}
      {connection.state === 'live' && lateCount > 0 ? (
        <Tag tone="warn">
          {lateCount} {lateCount === 1 ? 'source' : 'sources'} stale
        </Tag>
      ) : null}
      {connection.state === 'stale' ? <Tag tone="warn">Stale: reconnecting</Tag> : null}
      {connection.state === 'connecting' ? <Tag>Connecting</Tag> : null}
    </div>
  );
}

const THEMES: readonly { readonly value: ThemeChoice; readonly label: string }[] = [
  { value: 'system', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function ThemeSwitch(): ReactNode {
  const theme = useTheme();
  return (
    <label className="theme">
      <span>Theme</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = THEMES.find((item) => item.value === event.target.value);
          if (chosen !== undefined) setTheme(chosen.value);
        }}
      >
        {THEMES.map((item) => (
          <option key={item.value} value={item.value}>
            {item.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** `g` and a page's letter, `/` for search, `?` for help. Silent while somebody types. */
function useShortcuts(setHelpOpen: (isOpen: boolean) => void): void {
  const go = useGo();
  useEffect(() => {
    let isLeading = false;
    const onKeyDown = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      const isTyping = target.closest('input, select, textarea, [contenteditable]') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isLeading) {
        isLeading = false;
        const page = PAGE_NAMES.find((name) => PAGES[name].key === event.key);
        if (page !== undefined) go(page);
        return;
      }
      if (event.key === 'g') isLeading = true;
      else if (event.key === '?') setHelpOpen(true);
      else if (event.key === '/') {
        event.preventDefault();
        document.getElementById('search')?.focus();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [go, setHelpOpen]);
}
