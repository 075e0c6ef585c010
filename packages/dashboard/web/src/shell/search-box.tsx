// One box for everything that has a name: machines and needs open their Explain page, clusters their
// decisions.

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { after } from '../browser.ts';
import { useAt, useGo } from '../nav/link.tsx';
import { Id, Mark } from '../parts/marks.tsx';
import { useView } from '../store/hooks.ts';

const TYPING_MS = 200;
const PER_KIND = 6;

interface Hit {
  readonly key: string;
  readonly kind: string;
  readonly label: ReactNode;
  readonly open: () => void;
}

export function SearchBox(): ReactNode {
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const id = useId();
  const cameFrom = useRef<HTMLElement | null>(null);
  useEffect(() => after(TYPING_MS, () => setAsked(typed.trim())), [typed]);
  const hits = useHits(isOpen ? asked : '');
  const choose = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    hit.open();
    setTyped('');
    setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(active + 1, hits.length - 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(active - 1, 0));
    else if (event.key === 'Enter') choose(hits[active]);
    else if (event.key === 'Escape') {
      setTyped('');
      setOpen(false);
      // Back to where the hand came from: a focus that is nowhere has no keys.
      const from = cameFrom.current;
      (from?.isConnected ? from : document.getElementById('main'))?.focus();
    } else return;
    event.preventDefault();
  };
  const isListed = isOpen && asked !== '';
  return (
    <div className="search">
      <svg className="search-icon" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="6" cy="6" r="4.25" fill="none" stroke="currentColor" strokeWidth="1.5" />
        <path d="m9.5 9.5 3 3" stroke="currentColor" strokeWidth="1.5" />
      </svg>
      <input
        id="search"
        type="text"
        role="combobox"
        aria-label="Search for a machine, a cluster or a need"
        aria-expanded={isListed}
        aria-controls={`${id}-list`}
        aria-activedescendant={isListed && hits.length > 0 ? `${id}-${active}` : undefined}
        placeholder="Machine, cluster or need"
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setOpen(true);
          setActive(0);
        }}
        onFocus={(event) => {
          const from = event.relatedTarget;
          cameFrom.current = from instanceof HTMLElement ? from : null;
          setOpen(true);
        }}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul
        id={`${id}-list`}
        className="search-list"
        role="listbox"
        aria-label="Found"
        hidden={!isListed}
      >
        {hits.map((hit, index) => (
          <li
            key={hit.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            // Before the input's blur closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(hit);
            }}
          >
            <span className="search-kind">{hit.kind}</span>
            <span className="cut grow">{hit.label}</span>
          </li>
        ))}
        {isListed && hits.length === 0 ? (
          <li role="option" aria-selected="false" aria-disabled="true" className="faint">
            Nothing has this in its name
          </li>
        ) : null}
      </ul>
    </div>
  );
}

function useHits(text: string): readonly Hit[] {
  const at = useAt();
  const go = useGo();
  const isAsked = text !== '';
  const machines = useView('machines', isAsked ? { at, q: text, limit: PER_KIND } : null);
  const clusters = useView('clusters', isAsked ? { at, q: text } : null);
  const needs = useView('needs', isAsked ? { at, q: text, limit: PER_KIND } : null);
  if (!isAsked) return [];
  return [
    ...(machines.answer?.machines ?? []).map((row) => ({
      key: `machine/${row.machine}`,
      kind: 'machine',
      label: (
        <>
          <Mark name={row.state} isQuiet /> <Id text={row.machine} />
        </>
      ),
      open: () => go('explain', { machine: row.machine }),
    })),
    ...(clusters.answer?.clusters ?? []).slice(0, PER_KIND).map((row) => ({
      key: `cluster/${row.cluster}`,
      kind: 'cluster',
      label: row.cluster,
      open: () => go('decisions', { cluster: row.cluster }),
    })),
    ...(needs.answer?.needs ?? []).map((row) => ({
      key: `need/${row.cluster}/${row.fingerprint}/${row.group}`,
      kind: 'need',
      label: (
        <>
          <Mark name={row.tier} isQuiet /> {row.cluster} · {row.fingerprint}
        </>
      ),
      open: () =>
        go('explain', { cluster: row.cluster, fingerprint: row.fingerprint, group: row.group }),
    })),
  ];
}
