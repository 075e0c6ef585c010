// The keys, in one dialog.

import { type ReactNode, useEffect, useRef } from 'react';
import { PAGE_NAMES, PAGES } from '../url/pages.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search for a machine, a cluster or a need'],
  ['← →', 'on the time line: one step back or forward'],
  ['Home, End', 'on the time line: as far back as is kept, and back to live'],
  ['↑ ↓ Enter', 'in a table: walk the rows, open one'],
  ['← ↑ ↓ → Enter', 'on the fleet map: walk the machines, open one'],
  ['?', 'this list'],
];

export function Help({ onClose }: { readonly onClose: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="help" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keyboard</h2>
      <dl className="facts">
        {KEYS.map(([key, meaning]) => (
          <div key={key} className="help-line">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
        {PAGE_NAMES.map((name) => (
          <div key={name} className="help-line">
            <dt>
              <kbd>g</kbd> <kbd>{PAGES[name].key}</kbd>
            </dt>
            <dd>{PAGES[name].title}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" className="primary">
          Close
        </button>
      </form>
    </dialog>
  );
}
