// Wiring: a source of data, a store over it, and the app inside a shell.

import { type ComponentType, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { browserRuntime, nextFrame } from '../browser.ts';
import { startTheme } from '../lib/theme.ts';
import { StoreContext } from '../store/hooks.ts';
import type { DataSource } from '../store/source.ts';
import { Store } from '../store/store.ts';
import '../design/tokens.css';
import '../design/base.css';
import '../parts/parts.css';
import './shell.css';

export function startApp(options: {
  readonly source: DataSource;
  readonly App: ComponentType;
}): void {
  const { source, App } = options;
  startTheme();
  const store = new Store({ source, runtime: browserRuntime, nextFrame });
  // A tab that was asleep notices when it is looked at, not only when a timer gets its turn.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') store.wake();
  });
  addEventListener('online', () => store.wake());
  // A page that is left by a link may be kept whole for the way back, with its stream: six of them are all
  // the connections that a browser has for one host.
  addEventListener('pagehide', () => store.rest());
  addEventListener('pageshow', (event) => {
    if (event.persisted) store.wake();
  });
  const root = document.getElementById('root');
  if (root === null) return;
  createRoot(root).render(
    <StrictMode>
      <StoreContext value={store}>
        <App />
      </StoreContext>
    </StrictMode>,
  );
}
